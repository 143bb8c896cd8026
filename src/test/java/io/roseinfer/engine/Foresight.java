package io.roseinfer.engine;

import io.roseinfer.base.SplitMix64;
import io.roseinfer.sampling.TokenHistory;
import io.roseinfer.scheduler.policy.Drafter;
import io.roseinfer.scheduler.policy.PolicyRequest;
import java.util.List;

/**
 * Drafts the expected completion of the request whose tag is its index, with wrong tokens in between.
 *
 * @param rate the probability that a token is right
 */
public record Foresight(List<Completion> expected, double rate, int vocabularySize) implements Drafter {
    public Foresight {
        expected = List.copyOf(expected);
    }

    @Override
    public int maxTokens() {
        return 7;
    }

    @Override
    public Drafts newDrafts(PolicyRequest request) {
        int index = (int) request.tag().orElseThrow();
        return (tokens, max, into) -> propose(index, tokens, max, into);
    }

    private int propose(int index, TokenHistory tokens, int max, int[] into) {
        int[] ids = expected.get(index).ids();
        int from = tokens.length() - tokens.promptLength();
        int count = Math.min(max, ids.length - from);
        for (int i = 0; i < count; i++) {
            boolean isRight = SplitMix64.uniform(index, from + i) < rate;
            into[i] = isRight ? ids[from + i] : (ids[from + i] + 1) % vocabularySize;
        }
        return count;
    }
}

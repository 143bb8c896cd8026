package io.roseinfer.engine;

import io.roseinfer.base.SplitMix64;
import io.roseinfer.sampling.TokenHistory;
import io.roseinfer.scheduler.Sequence;
import io.roseinfer.scheduler.SequenceProbe;
import io.roseinfer.scheduler.policy.Drafter;
import io.roseinfer.scheduler.policy.PolicyRequest;

/**
 * Drafts what the simulated device will sample, and with some probability another token.
 *
 * @param rate the probability that a draft is right
 * @param eager the probability that a row has drafts
 */
record OracleDrafter(int maxTokens, int vocabularySize, long deviceSeed, double rate, double eager) implements Drafter {
    @Override
    public Drafts newDrafts(PolicyRequest request) {
        Sequence sequence = SequenceProbe.sequence(request);
        return (tokens, max, into) -> propose(sequence, tokens, max, into);
    }

    private int propose(Sequence sequence, TokenHistory tokens, int max, int[] into) {
        long key = SplitMix64.mix(deviceSeed * 31 + sequence.id());
        if (SplitMix64.uniform(key, -1 - tokens.length()) >= eager) {
            return 0;
        }
        boolean isGreedy = sequence.sampling().params().isGreedy();
        long hash = deviceSeed + (isGreedy ? 0 : sequence.sampling().seed());
        for (int position = 0; position < tokens.length(); position++) {
            hash = next(hash, position, tokens.token(position));
        }
        for (int i = 0; i < max; i++) {
            int position = tokens.length() + i;
            int right = (int) Long.remainderUnsigned(hash, vocabularySize);
            into[i] = SplitMix64.uniform(key, position) < rate ? right : (right + 1) % vocabularySize;
            hash = next(hash, position, into[i]);
        }
        return max;
    }

    /** Returns the hash of the simulated device after one more token. */
    private static long next(long hash, int position, int token) {
        return SplitMix64.mix(hash * 31 + token + ((long) position << 32));
    }
}

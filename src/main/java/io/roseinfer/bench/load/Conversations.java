package io.roseinfer.bench.load;

import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.engine.Prompt;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Generated conversations in a closed loop: a turn is scheduled a think time after the previous answer has ended, so a slow server delays the load.
 * Numbers of turns are geometric, think times exponential.
 *
 * @param meanTurns mean requests per conversation, at least 1
 * @param thinkSeconds mean think time
 * @param prefixTokens leading tokens of prompts that only first turns keep
 * @param seed the same seed gives the same conversations
 */
public record Conversations(double meanTurns, double thinkSeconds, int prefixTokens, long seed) {
    private static final long PURPOSE = 10;
    private static final double NANOS_PER_SECOND = 1e9;

    public Conversations {
        if (!(meanTurns >= 1)) {
            throw new BadInput("--conversation-turns is " + meanTurns + "; it must be 1 or more");
        }
    }

    /**
     * Joins requests into conversations: each takes the next requests of its tenant, so their number and lengths do not change. The last
     * conversations may be cut.
     *
     * @param requests requests with prompts of token ids
     * @return the first turns
     */
    public List<OfferedRequest> of(List<OfferedRequest> requests) {
        RandomStream draws = new RandomStream(seed, PURPOSE);
        List<List<OfferedRequest>> conversations = new ArrayList<>();
        Map<Optional<String>, Integer> open = new HashMap<>();
        for (OfferedRequest request : requests) {
            Optional<String> tenant = request.traits().tenant();
            int conversation = open.computeIfAbsent(tenant, key -> {
                conversations.add(new ArrayList<>());
                return conversations.size() - 1;
            });
            List<OfferedRequest> turns = conversations.get(conversation);
            turns.add((turns.isEmpty() ? request : withoutPrefix(request))
                    .withTraits(request.traits().withTurn(conversation, turns.size())));
            if (draws.uniform() < 1 / meanTurns) {
                Integer unused = open.remove(tenant);
            }
        }
        return conversations.stream().map(turns -> joined(turns, draws)).toList();
    }

    private OfferedRequest withoutPrefix(OfferedRequest request) {
        if (!(request.prompt() instanceof Prompt.Tokens tokens)) {
            throw new BadInput("--conversation-turns needs prompts of token ids; use --dataset random");
        }
        int[] ids = tokens.ids();
        return request.withPrompt(new Prompt.Tokens(Arrays.copyOfRange(ids, prefixTokens, ids.length)));
    }

    private OfferedRequest joined(List<OfferedRequest> turns, RandomStream draws) {
        OfferedRequest joined = turns.getLast();
        for (int i = turns.size() - 2; i >= 0; i--) {
            long think = Math.round(thinkSeconds * NANOS_PER_SECOND * draws.exponential());
            joined = turns.get(i).withNext(new OfferedRequest.Turn(think, joined));
        }
        return joined;
    }
}

package io.roseinfer.bench.load;

import io.roseinfer.base.SplitMix64;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A generated trace of conversations. Each starts with one of 16 system prompts of 256 tokens; the k-th is chosen with probability
 * proportional to 1/k (Zipf). The prompt of a turn is the whole conversation so far and a new question. Conversations start by a gamma
 * process and have 4 turns on average, 8 s apart on average. The mean rate is 1 request per second.
 *
 * @param questionTokens mean tokens per question, exponentially distributed
 * @param answerTokens mean tokens per answer
 * @param burstiness burstiness of conversation starts, as in {@link Arrivals}
 * @param seed the same seed gives the same trace
 */
public record SyntheticTrace(int questionTokens, int answerTokens, double burstiness, long seed) {
    private static final int BLOCK = 16;
    private static final int SYSTEM_PROMPTS = 16;
    private static final int SYSTEM_BLOCKS = 16;
    private static final double MEAN_TURNS = 4;
    private static final double THINK_SECONDS = 8;
    private static final double NANOS_PER_SECOND = 1e9;
    private static final long PURPOSE = 7;

    /** Returns the first {@code requests} requests. */
    public Trace trace(int requests) {
        List<TraceEntry> entries = new ArrayList<>();
        // Later conversations start after the first turns of these, so none of their requests is among the first.
        long[] begins = new Arrivals(1 / MEAN_TURNS, burstiness, seed).dueNanos(requests + 1);
        for (int session = 0; session < requests + 1; session++) {
            conversation(session, begins[session], requests, entries);
        }
        Trace all = Trace.of(entries, true, 0);
        return new Trace(all.entries().subList(0, requests), true, 0);
    }

    private void conversation(int session, long beginNanos, int most, List<TraceEntry> entries) {
        RandomStream draws = new RandomStream(SplitMix64.at(seed, session), PURPOSE);
        List<Long> blocks = new ArrayList<>();
        long system = zipf(draws);
        for (int block = 0; block < SYSTEM_BLOCKS; block++) {
            blocks.add(system * SYSTEM_BLOCKS + block);
        }
        int tokens = SYSTEM_BLOCKS * BLOCK;
        double nanos = beginNanos;
        boolean more = true;
        for (int turn = 0; more && turn < most; turn++) {
            int input = tokens + length(questionTokens, draws);
            int output = length(answerTokens, draws);
            while (blocks.size() * BLOCK < input) {
                blocks.add(SplitMix64.at(SplitMix64.at(seed, session), blocks.size()));
            }
            entries.add(new TraceEntry((long) nanos, input, output, blocks, BLOCK, Optional.empty()));
            tokens = input + output;
            nanos += THINK_SECONDS * NANOS_PER_SECOND * draws.exponential();
            more = draws.uniform() < 1 - 1 / MEAN_TURNS;
        }
    }

    private static int length(int mean, RandomStream draws) {
        return 1 + (int) Math.min(20.0 * mean, draws.exponential() * (mean - 1));
    }

    private static int zipf(RandomStream draws) {
        double total = 0;
        for (int k = 1; k <= SYSTEM_PROMPTS; k++) {
            total += 1.0 / k;
        }
        double left = draws.uniform() * total;
        int k = 1;
        while (k < SYSTEM_PROMPTS && left >= 1.0 / k) {
            left -= 1.0 / k;
            k++;
        }
        return k - 1;
    }
}

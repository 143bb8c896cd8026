package io.roseinfer.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.backend.sim.SimRunner;
import io.roseinfer.bench.SchedulerBenchmark.Mode;
import io.roseinfer.engine.EngineOptions;
import io.roseinfer.engine.GenerationRequest;
import io.roseinfer.observe.Observers;
import io.roseinfer.scheduler.SchedulerOptions;
import io.roseinfer.scheduler.policy.AdmissionPolicy;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests of how {@code bench scheduler} attributes steps and tokens to prefill and decode. */
@Timeout(60)
class SchedulerPhasesTest {
    /** Duration of a step on the run's clock; nothing else takes time. */
    private static final long SECOND = 1_000_000_000;

    private static final int ROUNDS = 200;

    private final AtomicLong now = new AtomicLong();

    private SchedulerRun run(EngineOptions options, Mode mode, List<GenerationRequest> workload) {
        try (SimRunner runner = Sim.runner(options, step -> now.addAndGet(SECOND))) {
            return new SchedulerBenchmark(runner, options.scheduler(), workload, 0, now::get, Observers.NONE)
                    .run(mode, 0, 1, (phase, number, of) -> {})
                    .getFirst();
        }
    }

    private static EngineOptions options(SchedulerOptions.Builder scheduler) {
        return Sim.options(false).withScheduler(scheduler.build());
    }

    /** Four sequential requests: four prefills, and four decode steps of one token for each request. */
    @Test
    void sequential_requests_split_time_into_prefill_and_decode() {
        SchedulerRun run = run(
                options(SchedulerOptions.builder().prefixCache(false).maxActiveRequests(1)),
                Mode.ONLINE,
                Sim.workload(4, 6, 5));
        assertThat(run.prefillNanos()).isEqualTo(4 * SECOND);
        assertThat(run.decodeNanos()).isEqualTo(16 * SECOND);
        assertThat(run.decodedTokens()).isEqualTo(16);
    }

    /** Chunks of the second prompt share steps with decode rows; these steps and their tokens count as prefill. */
    @Test
    void step_with_prompt_tokens_counts_as_prefill_even_with_decode_rows() {
        SchedulerRun run = run(
                options(SchedulerOptions.builder()
                        .prefixCache(false)
                        .chunkedPrefill(true)
                        .prefillMaxTokens(3)),
                Mode.OFFLINE,
                Sim.workload(2, 4, 4));
        // Prompt tokens: 3; 1 and 2 of the next prompt; 2 with a decode row. Then 2, 2 and 1 decode rows.
        assertThat(run.prefillNanos()).isEqualTo(3 * SECOND);
        assertThat(run.decodeNanos()).isEqualTo(3 * SECOND);
        assertThat(run.decodedTokens()).isEqualTo(5);
    }

    static LongStream seeds() {
        return LongStream.range(0, ROUNDS);
    }

    @ParameterizedTest(name = "seed {0}")
    @MethodSource("seeds")
    void every_step_and_token_is_counted_exactly_once(long seed) {
        Random random = new Random(seed);
        int decodeBatch = 1 + random.nextInt(5);
        SchedulerOptions.Builder scheduler = SchedulerOptions.builder()
                .maxBatchSize(decodeBatch)
                .prefillMaxBatchSize(1 + random.nextInt(4))
                .prefillMaxTokens(random.nextBoolean() ? SchedulerOptions.UNLIMITED : 1 + random.nextInt(30))
                .maxActiveRequests(random.nextBoolean() ? SchedulerOptions.UNLIMITED : 1 + random.nextInt(4))
                .decodeFirst(random.nextBoolean())
                .chunkedPrefill(random.nextBoolean())
                .prefixCache(random.nextBoolean())
                .admission(random.nextBoolean() ? AdmissionPolicy.fifo() : AdmissionPolicy.pack(8, 0));
        int prompt = 1 + random.nextInt(16);
        int newTokens = 1 + random.nextInt(12);
        int needed = Math.ceilDiv(prompt + newTokens, Sim.BLOCK_SIZE);
        EngineOptions options = options(scheduler).withKvBlocks(needed + random.nextInt(3 * needed));
        int requests = 1 + random.nextInt(8);
        Mode mode = Mode.values()[random.nextInt(Mode.values().length)];

        SchedulerRun run = run(options, mode, Sim.workload(requests, prompt, newTokens));

        long decodeSteps = run.decodeNanos() / SECOND;
        assertThat(run.prefillNanos() + run.decodeNanos()).isEqualTo(now.get());
        assertThat(run.completionTokens()).isEqualTo((long) requests * newTokens);
        assertThat(run.decodedTokens()).isBetween(decodeSteps, decodeSteps * decodeBatch);
        assertThat(run.completionTokens() - run.decodedTokens())
                .as("each request's first token comes from a step with prompt tokens")
                .isGreaterThanOrEqualTo(requests);
    }

    @ParameterizedTest
    @EnumSource(Mode.class)
    void requests_of_one_token_each_have_no_decode_step(Mode mode) {
        SchedulerRun run = run(options(SchedulerOptions.builder().maxActiveRequests(2)), mode, Sim.workload(5, 6, 1));
        assertThat(List.of(run.decodedTokens(), run.decodeNanos())).containsOnly(0L);
    }
}

package io.roseinfer.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.backend.ModelRunner;
import io.roseinfer.backend.Precision;
import io.roseinfer.backend.cpu.CpuBackend;
import io.roseinfer.backend.cpu.CpuOptions;
import io.roseinfer.backend.cpu.KernelChoice;
import io.roseinfer.base.Clock;
import io.roseinfer.model.Activation;
import io.roseinfer.model.Gpt2Weights;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.model.RandomWeights;
import io.roseinfer.sampling.SamplingParams;
import io.roseinfer.scheduler.SchedulerOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Open streams decode in the steady state, and neither the engine's thread nor the device's allocate, by their own count. Readers
 * are platform threads: waking a virtual thread from another thread costs 32 bytes inside the JDK, each time.
 */
class DecodeAllocationTest {
    private static final int STREAMS = 4;
    private static final int WORKERS = 2;
    private static final int CONTEXT = 4_000;
    private static final int WINDOW = 100;
    private static final int MAX_WINDOWS = CONTEXT / WINDOW - 2;

    private static ModelSpec spec() {
        return new ModelSpec(
                "tiny", 61, CONTEXT, 16, 2, 2, 32, Activation.GELU_TANH, 1e-5f, true, false, true, List.of());
    }

    private static EngineOptions options() {
        return EngineOptions.defaults()
                .withScheduler(SchedulerOptions.builder()
                        .maxBatchSize(STREAMS)
                        .prefixCache(false)
                        .build())
                .withBlockSize(64)
                .withKvBlocks(STREAMS * Math.ceilDiv(CONTEXT, 64));
    }

    /** All ways to choose a token that allocate different things, if any. */
    private static final List<SamplingParams> SAMPLING = List.of(
            SamplingParams.greedy(),
            SamplingParams.random().withTopK(20).withTopP(0.9f),
            SamplingParams.random().withMinP(0.05f).withLogprobs(5),
            SamplingParams.greedy().withRepetitionPenalty(1.1f));

    private static byte[] sink = {};

    private static GenerationRequest request(int seed) {
        return GenerationRequest.ofTokens(new int[] {seed, 1, 2})
                .withMaxNewTokens(CONTEXT - 3)
                .withSampling(SAMPLING.get(seed % SAMPLING.size()))
                .withSeed(seed)
                .withIgnoreEndOfText(true);
    }

    private static Clock clock(int wasteBytes) {
        Clock system = Clock.system();
        return () -> {
            if (wasteBytes > 0) {
                sink = new byte[wasteBytes];
            }
            return system.nanos();
        };
    }

    private static Engine open(ModelRunner runner, boolean profiled, int wasteBytes) {
        if (profiled) {
            assertThat(runner.profile(Clock.system())).isPresent();
        }
        return Engine.open(runner, Optional.empty(), options(), clock(wasteBytes));
    }

    /** Bytes per window of {@link #WINDOW} steps, until there is a window without any. */
    private static List<Long> windows(KernelChoice kernels, boolean profiled, int wasteBytes, int most) {
        AllocationMeter meter = new AllocationMeter();
        List<Long> windows = new ArrayList<>();
        try (CpuBackend backend = new CpuBackend(new CpuOptions(WORKERS, Precision.FP32, kernels));
                ModelRunner runner = backend.load(
                        Gpt2Weights.bind(spec(), new RandomWeights(spec(), 1)),
                        EngineLimits.runnerLimits(options(), spec()));
                ExecutorService readers = Executors.newFixedThreadPool(STREAMS - 1);
                Engine engine = open(runner, profiled, wasteBytes)) {
            for (int i = 1; i < STREAMS; i++) {
                TokenStream stream = engine.submit(request(i));
                var unused = readers.submit(() -> stream.forEachRemaining(token -> {}));
            }
            TokenStream stream = engine.submit(request(STREAMS));
            long[] threads = meter.threads("roseinfer-engine", "rose-cpu-");
            assertThat(threads).hasSize(1 + WORKERS);
            for (int w = 0; w < most && (w == 0 || windows.getLast() > 0); w++) {
                long before = AllocationMeter.allocatedBytes(threads);
                for (int i = 0; i < WINDOW; i++) {
                    stream.next();
                }
                windows.add(AllocationMeter.allocatedBytes(threads) - before);
            }
        }
        return windows;
    }

    /** Before the compiler is through, the Vector API allocates its vectors; so it is given {@link #MAX_WINDOWS} windows. */
    @ParameterizedTest
    @CsvSource({"SCALAR, false", "SCALAR, true", "BEST, false"})
    void decoding_withOpenStreams_comesToAllocateNothing(KernelChoice kernels, boolean profiled) {
        assertThat(windows(kernels, profiled, 0, MAX_WINDOWS)).last().isEqualTo(0L);
    }

    /** That what is allocated would be seen. */
    @Test
    void decoding_withAClockThatAllocates_neverDoes() {
        assertThat(windows(KernelChoice.SCALAR, false, 16, 5)).hasSize(5).allMatch(bytes -> bytes > 32 * WINDOW);
    }
}

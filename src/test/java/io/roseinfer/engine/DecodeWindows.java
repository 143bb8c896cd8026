package io.roseinfer.engine;

import io.roseinfer.backend.ModelRunner;
import io.roseinfer.backend.Precision;
import io.roseinfer.backend.StepProfiler;
import io.roseinfer.backend.cpu.CpuBackend;
import io.roseinfer.backend.cpu.CpuOptions;
import io.roseinfer.backend.cpu.KernelChoice;
import io.roseinfer.base.Clock;
import io.roseinfer.model.Activation;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.model.SpecBuilder;
import io.roseinfer.model.TestLayout;
import io.roseinfer.sampling.SamplingParams;
import io.roseinfer.scheduler.SchedulerOptions;
import io.roseinfer.scheduler.policy.Drafter;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * Measures what the engine's and the device's threads allocate while open streams decode, in windows of
 * {@value #WINDOW} steps, until a window has no allocation. Contexts are shorter than a vector at first, then grow past
 * every number of vectors that a kernel processes at once, with heads as large as GPT-2's.
 *
 * <p>Until compilation is complete, the Vector API allocates its vectors, so there are up to {@link #MAX_WINDOWS}
 * windows. Readers are platform threads, because unparking a virtual thread from another thread allocates 32 bytes in
 * the JDK.
 */
final class DecodeWindows {
    static final int WINDOW = 100;
    private static final int STREAMS = 4;
    private static final int WORKERS = 2;
    private static final int SHORT_REQUESTS = 300;
    private static final int CONTEXT = 4_000;
    static final int MAX_WINDOWS = CONTEXT / WINDOW - 2;

    /** All ways to sample that may allocate differently. */
    private static final List<SamplingParams> SAMPLING = List.of(
            SamplingParams.greedy(),
            SamplingParams.random().withTopK(20).withTopP(0.9f),
            SamplingParams.random().withMinP(0.05f).withLogprobs(5),
            SamplingParams.greedy().withRepetitionPenalty(1.1f));

    private DecodeWindows() {}

    /**
     * Prints the bytes per window with vector kernels and the precision named by the first argument, one window per
     * line.
     */
    public static void main(String[] args) {
        CpuOptions device = new CpuOptions(WORKERS, Precision.valueOf(args[0]), KernelChoice.VECTOR);
        bytes(device, false, Clock.system(), Drafter.none(), MAX_WINDOWS).forEach(System.out::println);
    }

    /** Returns the bytes per window with fp32 weights. */
    static List<Long> bytes(KernelChoice kernels, boolean profiled, Clock clock, int most) {
        return bytes(new CpuOptions(WORKERS, Precision.FP32, kernels), profiled, clock, Drafter.none(), most);
    }

    /** Returns the bytes per window with fp32 weights and drafts. */
    static List<Long> bytes(KernelChoice kernels, Drafter drafter, int most) {
        return bytes(new CpuOptions(WORKERS, Precision.FP32, kernels), false, Clock.system(), drafter, most);
    }

    private static List<Long> bytes(CpuOptions device, boolean profiled, Clock clock, Drafter drafter, int most) {
        AllocationMeter meter = new AllocationMeter();
        List<Long> windows = new ArrayList<>();
        try (CpuBackend backend = new CpuBackend(device);
                ModelRunner runner = backend.load(
                        spec(), TestLayout.random(spec(), 1), EngineLimits.runnerLimits(options(drafter), spec()));
                ExecutorService readers = Executors.newFixedThreadPool(STREAMS - 1);
                Engine engine = open(runner, profiled, clock, drafter)) {
            if (device.kernels() == KernelChoice.VECTOR) {
                serveShort(engine);
            }
            for (int i = 1; i < STREAMS; i++) {
                TokenStream stream = engine.submit(request(i));
                var unused = readers.submit(() -> stream.forEachRemaining(token -> {}));
            }
            TokenStream stream = engine.submit(request(STREAMS));
            // The engine's thread is a worker, too.
            long[] threads = meter.threads("roseinfer-engine", "roseinfer-cpu-");
            if (threads.length != WORKERS) {
                throw new AssertionError(threads.length + " threads are measured, not " + WORKERS);
            }
            while (windows.size() < most && (windows.isEmpty() || windows.getLast() > 0)) {
                windows.add(window(stream, threads));
            }
        }
        return windows;
    }

    /** Shows the compiler only contexts that fill no vector. */
    private static void serveShort(Engine engine) {
        List<TokenStream> streams = new ArrayList<>();
        for (int i = 0; i < SHORT_REQUESTS; i++) {
            streams.add(engine.submit(request(i).withMaxNewTokens(10)));
        }
        streams.forEach(TokenStream::completion);
    }

    private static long window(TokenStream stream, long... threads) {
        long before = AllocationMeter.allocatedBytes(threads);
        for (int i = 0; i < WINDOW; i++) {
            stream.next();
        }
        return AllocationMeter.allocatedBytes(threads) - before;
    }

    private static Engine open(ModelRunner runner, boolean profiled, Clock clock, Drafter drafter) {
        if (profiled) {
            ((StepProfiler.Source) runner).profile(Clock.system());
        }
        return Engine.open(runner, Optional.empty(), options(drafter), clock);
    }

    private static ModelSpec spec() {
        return SpecBuilder.named("small")
                .vocabulary(61)
                .context(CONTEXT)
                .width(128)
                .layers(2)
                .heads(2)
                .inner(32)
                .activation(Activation.GELU_TANH)
                .build();
    }

    private static EngineOptions options(Drafter drafter) {
        return EngineOptions.defaults()
                .withScheduler(SchedulerOptions.builder()
                        .maxBatchSize(STREAMS)
                        .prefixCache(false)
                        .drafter(drafter)
                        .build())
                .withBlockSize(64)
                .withKvBlocks(STREAMS * Math.ceilDiv(CONTEXT, 64));
    }

    private static GenerationRequest request(int seed) {
        return GenerationRequest.ofTokens(new int[] {seed % 61, 1, 2})
                .withMaxNewTokens(CONTEXT - 3)
                .withSampling(SAMPLING.get(seed % SAMPLING.size()))
                .withSeed(seed)
                .withIgnoreEndOfText(true);
    }
}

package io.roseinfer.engine;

import io.roseinfer.backend.KvGeometry;
import io.roseinfer.backend.ModelRunner;
import io.roseinfer.base.Clock;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.observe.Observers;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;

/**
 * Runs synthetic requests, so that host code is compiled, kernels are loaded and clocks are up before the first real
 * request. On a fast device a step takes less time than uncompiled host code, so the first few hundred steps would be
 * several times slower.
 *
 * <p>Warm-up requests and steps do not appear in Flight Recorder recordings. They leave data only in unreferenced
 * blocks, so they do not affect results.
 */
public final class EngineWarmUp {
    private static final int MAX_ROWS = 256;
    private static final int MAX_PROMPT = 32;
    private static final int MAX_NEW_TOKENS = 100;
    /** New tokens in the first wave; each wave doubles them, so that waves on a slow device stay short at first. */
    private static final int INITIAL_NEW_TOKENS = 4;
    /** About 900 steps: the JIT fully compiles a method that is called once per step only after 600 calls. */
    private static final int WAVES = 13;

    /** A prompt token and a generated one; a model with a shorter context cannot serve requests. */
    private static final int MIN_REQUEST_TOKENS = 2;

    /** Fraction of the kernels' compile time that the engine's code is warmed up for. */
    private static final long KERNEL_TIME_DIVISOR = 8;

    private EngineWarmUp() {}

    /**
     * Returns how long to run warm-up requests after the kernels were warmed up. Engine code and kernels share the JIT
     * compiler. Kernels that compiled slowly indicate a busy machine, where the engine's code compiles slowly too. It
     * is also queued after the kernels.
     *
     * @param minNanos time the device asks for; 0 if its host code needs no warm-up
     * @param compiled whether the fastest kernels are compiled
     * @param kernelNanos time the kernels took
     * @return 0 if warming up is not worthwhile
     */
    public static long budgetNanos(long minNanos, boolean compiled, long kernelNanos) {
        return minNanos > 0 && compiled ? Math.max(minNanos, kernelNanos / KERNEL_TIME_DIVISOR) : 0;
    }

    /**
     * Runs waves of requests until the time is up, at least one wave.
     *
     * @param runner must not be used by any engine meanwhile
     * @param options options of the future engine
     * @param observers notified like for other requests
     * @param budgetNanos time after which no further wave starts
     */
    public static void run(
            ModelRunner runner, EngineOptions options, Clock clock, long budgetNanos, Observers observers) {
        if (runner.spec().contextLength() < MIN_REQUEST_TOKENS) {
            return;
        }
        long endNanos = clock.nanos() + budgetNanos;
        try (Engine engine = Engine.openUnrecorded(runner, options, clock, observers)) {
            for (int wave = 0; wave < WAVES && (wave == 0 || clock.nanos() < endNanos); wave++) {
                serve(engine, requests(runner, options, Math.min(MAX_NEW_TOKENS, INITIAL_NEW_TOKENS << wave)));
            }
        }
    }

    /** Runs the requests to completion, each read on its own thread, as a server connection would. */
    private static void serve(Engine engine, List<GenerationRequest> requests) {
        List<Future<Completion>> ends;
        try (ExecutorService readers = Executors.newVirtualThreadPerTaskExecutor()) {
            ends = requests.stream()
                    .map(engine::submit)
                    .map(stream -> readers.submit(stream::completion))
                    .toList();
        }
        for (Future<Completion> end : ends) {
            if (end.state() == Future.State.FAILED && end.exceptionNow() instanceof RuntimeException failure) {
                throw failure;
            }
        }
    }

    private static List<GenerationRequest> requests(ModelRunner runner, EngineOptions options, int longest) {
        ModelSpec spec = runner.spec();
        KvGeometry kv = EngineLimits.pool(runner, options);
        int capacity = (int) Math.min(spec.contextLength(), (long) kv.blocks() * kv.blockSize());
        int prompt = Math.max(1, Math.min(Math.min(MAX_PROMPT, longest), capacity - 1));
        int newTokens = Math.max(1, Math.min(longest, capacity - prompt));
        int rows = Math.min(Math.min(options.scheduler().maxBatchSize(), MAX_ROWS), options.maxInflightRequests());
        return IntStream.range(0, rows)
                .mapToObj(row -> IntStream.rangeClosed(row, row + row % prompt)
                        .map(id -> id % spec.vocabularySize())
                        .toArray())
                .map(ids -> GenerationRequest.ofTokens(ids)
                        .withMaxNewTokens(newTokens)
                        .withIgnoreEndOfText(true))
                .toList();
    }
}

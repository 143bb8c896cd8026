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
 * Runs synthetic requests, so that the host's code is compiled, the device's kernels are loaded and its clocks are up before the first
 * request of a user. On a fast device a step takes less time than the host's code before it is compiled, and the first hundreds of
 * steps would be several times slower than the rest.
 *
 * <p>Neither its requests nor its steps appear in a flight recording. What it leaves behind is in blocks that no request holds, so it
 * changes no result.
 */
public final class EngineWarmUp {
    private static final int MAX_ROWS = 256;
    private static final int MAX_PROMPT = 32;
    private static final int MAX_NEW_TOKENS = 100;
    /** New tokens of the first wave; each later one has twice as many, so that a slow device is through with one in little time. */
    private static final int FIRST_NEW_TOKENS = 4;
    /** Enough for some 900 steps: the compiler takes a method that is called once a step seriously after 600 calls. */
    private static final int WAVES = 13;

    /** A token of the prompt and one that follows; a model with a shorter context serves nobody. */
    private static final int MIN_REQUEST_TOKENS = 2;

    /** How many times longer kernels may take to compile than the engine's own code is warmed up for. */
    private static final long KERNEL_TIMES = 8;

    private EngineWarmUp() {}

    /**
     * How long to serve for, now that the kernels have been warmed up. The engine's code has the same compiler: kernels that it was slow
     * with show a busy machine, on which this takes longer, too; and while it is still at them it would get to the engine's code only after
     * the first requests.
     *
     * @param minNanos what the device asks for; 0 if its host's code needs no warming
     * @param compiled whether the fastest kernels are compiled
     * @param kernelNanos how long the kernels took
     * @return 0 if it is not worth while
     */
    public static long budgetNanos(long minNanos, boolean compiled, long kernelNanos) {
        return minNanos > 0 && compiled ? Math.max(minNanos, kernelNanos / KERNEL_TIMES) : 0;
    }

    /**
     * Runs a few waves of requests, one after the other, as long as there is time; one in any case.
     *
     * @param runner is used by no engine meanwhile
     * @param options those of the engine to come
     * @param observers are told of it as of any work
     * @param budgetNanos after this long no other wave begins
     */
    public static void run(
            ModelRunner runner, EngineOptions options, Clock clock, long budgetNanos, Observers observers) {
        if (runner.spec().contextLength() < MIN_REQUEST_TOKENS) {
            return;
        }
        long endNanos = clock.nanos() + budgetNanos;
        try (Engine engine = Engine.openUnrecorded(runner, options, clock, observers)) {
            for (int wave = 0; wave < WAVES && (wave == 0 || clock.nanos() < endNanos); wave++) {
                serve(engine, requests(runner, options, Math.min(MAX_NEW_TOKENS, FIRST_NEW_TOKENS << wave)));
            }
        }
    }

    /** Returns when all have ended, each read token by token on a thread of its own, as a server's connection would. */
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
        int room = (int) Math.min(spec.contextLength(), (long) kv.blocks() * kv.blockSize());
        int prompt = Math.max(1, Math.min(Math.min(MAX_PROMPT, longest), room - 1));
        int newTokens = Math.max(1, Math.min(longest, room - prompt));
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

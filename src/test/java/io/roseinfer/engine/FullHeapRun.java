package io.roseinfer.engine;

import io.roseinfer.backend.sim.SimOptions;
import io.roseinfer.backend.sim.SimRunner;
import io.roseinfer.base.Clock;
import io.roseinfer.base.RoseException.EngineStopped;
import io.roseinfer.base.RoseException.InsufficientMemory;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.model.family.ModelFiles;
import io.roseinfer.sampling.SamplingParams;
import io.roseinfer.scheduler.FinishReason;
import io.roseinfer.scheduler.SchedulerOptions;
import io.roseinfer.tokenizer.Tokenizer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiFunction;
import java.util.function.BooleanSupplier;

/**
 * A short life of an engine on its own threads, one of which finds the heap full at some allocation. That can be called from
 * another class loader: only types of the JDK are seen from outside.
 */
final class FullHeapRun implements BiFunction<String, Long[], String> {
    /** The answer if the thread never allocated so often. */
    static final String NEVER_THERE = "never there";

    /** The name of the thread that calls. */
    static final String SUBMITTER = "submitter";

    private static final long PATIENCE_NANOS = 20_000_000_000L;

    private static final GenerationRequest TEXT =
            GenerationRequest.of("Once upon a time").withMaxNewTokens(3);

    private static final List<GenerationRequest> REQUESTS = List.of(
            Models.request(3, 5, 6, 7),
            TEXT,
            Models.request(5, 5, 6, 7, 8).withSampling(SamplingParams.random().withLogprobs(3)),
            TEXT.withStop("nothing like it"),
            Models.request(8, 9),
            TEXT.withMaxNewTokens(1),
            Models.request(9, 10, 11, 12, 13, 14, 15, 16, 17, 18));

    private final ModelSpec spec;
    private final Tokenizer tokenizer;
    private final List<TokenStream> streams = new ArrayList<>();

    FullHeapRun() {
        try (ModelFiles files = ModelFiles.openBuiltin("tiny")) {
            spec = files.spec();
            tokenizer = files.tokenizer().orElseThrow();
        }
    }

    /**
     * One life.
     *
     * @param threads how the name of the thread begins that finds the heap full
     * @param fault the first allocation that fails, and how many do
     * @return what went wrong, nothing, or {@link #NEVER_THERE}
     */
    @Override
    public String apply(String threads, Long[] fault) {
        streams.clear();
        EngineOptions options = EngineOptions.defaults()
                .withBlockSize(4)
                .withKvBlocks(40)
                .withTokenizeWorkers(1)
                .withMaxInflightRequests(REQUESTS.size())
                .withStepHistory(16)
                .withScheduler(SchedulerOptions.builder().maxBatchSize(3).build());
        try (SimRunner runner = new SimRunner(
                spec,
                EngineLimits.runnerLimits(options, spec),
                SimOptions.defaults().withMaxInFlight(2))) {
            Engine engine = Engine.open(runner, Optional.of(tokenizer), options, Clock.system());
            try {
                return live(engine, threads, fault);
            } catch (AssertionError wrong) {
                return String.valueOf(wrong.getMessage());
            } catch (OutOfMemoryError full) {
                return "nobody caught what was thrown at " + List.of(full.getStackTrace());
            } finally {
                AllocationFault.disarm();
            }
        }
    }

    private String live(Engine engine, String threads, Long[] fault) {
        AllocationFault.arm(threads, fault[0], fault[1]);
        int refused = submitAll(engine);
        streams.get(streams.size() / 2).close();
        streams.getLast().close();
        boolean mustServe = !threads.startsWith("roseinfer-engine");
        boolean wasFull = threads.equals(SUBMITTER) && AllocationFault.disarm();
        awaitEndings(streams);
        if (mustServe) {
            wasFull |= AllocationFault.disarm();
            require(refused == 0 || wasFull, "a request was refused");
            int[] ids = engine.generate(Models.request(3, 1, 2)).ids();
            require(ids.length == 3, "the engine does not serve any more");
        }
        Optional<TokenStream> last = submit(engine, REQUESTS.getLast());
        close(engine);
        awaitEndings(last.stream().toList());
        wasFull |= AllocationFault.disarm();
        requireNothingLeft(engine);
        for (TokenStream stream : streams) {
            requireFullyTold(stream);
        }
        return wasFull ? "" : NEVER_THERE;
    }

    /** Returns how many were not accepted. */
    private int submitAll(Engine engine) {
        int refused = 0;
        for (GenerationRequest request : REQUESTS) {
            Optional<TokenStream> stream = submit(engine, request);
            stream.ifPresent(streams::add);
            refused += stream.isEmpty() ? 1 : 0;
        }
        // With memory again; or there would be nothing to watch.
        if (streams.isEmpty()) {
            AllocationFault.disarm();
            streams.add(engine.submit(REQUESTS.getFirst()));
        }
        return refused;
    }

    private static Optional<TokenStream> submit(Engine engine, GenerationRequest request) {
        try {
            return Optional.of(engine.submit(request));
        } catch (OutOfMemoryError | EngineStopped refused) {
            return Optional.empty();
        }
    }

    private static void awaitEndings(List<TokenStream> streams) {
        await(
                "a stream has no ending",
                () -> streams.stream().allMatch(stream -> stream.finishReason().isPresent()));
    }

    private static void close(Engine engine) {
        Thread closer = Thread.ofPlatform().daemon().start(engine::close);
        await("close() does not return", () -> !closer.isAlive());
    }

    private static void await(String otherwise, BooleanSupplier over) {
        long deadline = System.nanoTime() + PATIENCE_NANOS;
        while (!over.getAsBoolean()) {
            require(System.nanoTime() < deadline, otherwise);
            LockSupport.parkNanos(20_000);
        }
    }

    private static void requireNothingLeft(Engine engine) {
        require(engine.inflight() == 0, engine.inflight() + " in flight when all is over");
        EngineStats stats = engine.stats();
        require(
                stats.active() == 0 && stats.waiting() == 0 && stats.blocksInUse() == 0,
                "running when all is over: " + stats);
        try {
            engine.submit(Models.request(1, 1));
            require(false, "a request is accepted when all is over");
        } catch (EngineStopped expected) {
            require(!expected.getMessage().isEmpty(), "no message");
        }
    }

    /** A stream can be read to its end, and tells of a failure by what it was. */
    private static void requireFullyTold(TokenStream stream) {
        try {
            require(stream.completion().finishReason() != FinishReason.ERROR, "a failure without a reason");
        } catch (EngineStopped | InsufficientMemory told) {
            require(stream.finishReason().equals(Optional.of(FinishReason.ERROR)), "failed and is not");
        }
    }

    private static void require(boolean condition, String otherwise) {
        if (!condition) {
            throw new AssertionError(otherwise);
        }
    }
}

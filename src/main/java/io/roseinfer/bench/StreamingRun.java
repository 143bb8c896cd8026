package io.roseinfer.bench;

import io.roseinfer.base.Clock;
import io.roseinfer.base.RoseException.InsufficientMemory;
import io.roseinfer.base.RoseException.Overloaded;
import io.roseinfer.bench.load.SubmitSchedule;
import io.roseinfer.bench.load.Workload;
import io.roseinfer.engine.Completion;
import io.roseinfer.engine.Engine;
import io.roseinfer.engine.EngineStats;
import io.roseinfer.engine.GeneratedToken;
import io.roseinfer.engine.GenerationRequest;
import io.roseinfer.engine.TokenStream;
import io.roseinfer.metrics.RequestStamps;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/**
 * One run against one engine. The caller's thread submits; every stream has a virtual thread that reads it token by token, as a
 * server's connection would.
 */
final class StreamingRun {
    private static final long SETTLE_NANOS = 2_000_000_000;
    /** How long nothing happens before readers of ended streams are given up. */
    private static final int LOST_SECONDS = 10;

    private static final long SETTLE_STEP_NANOS = 1_000_000;

    private final Engine engine;
    private final List<GenerationRequest> requests;
    private final SubmitSchedule schedule;
    private final Clock clock;
    private final Pacer pacer;
    private final RunListener listener;

    private final List<Submitted> accepted = new ArrayList<>();
    private final List<Long> lagNanos = new ArrayList<>();
    private int rejected;

    /** An accepted request and the thread that reads its stream. */
    private record Submitted(
            int id, long startNanos, long endNanos, TokenStream stream, Future<Completion> completion) {}

    StreamingRun(
            Engine engine, Workload workload, SubmitSchedule schedule, Clock clock, Pacer pacer, RunListener listener) {
        this.engine = engine;
        this.requests = workload.requests();
        this.schedule = schedule;
        this.clock = clock;
        this.pacer = pacer;
        this.listener = listener;
    }

    RunResult run() {
        ExecutorService readers = Executors.newVirtualThreadPerTaskExecutor();
        long startNanos;
        long endNanos;
        try {
            startNanos = clock.nanos();
            endNanos = submitAll(startNanos, readers);
            awaitReaders(readers);
        } catch (RuntimeException | Error failure) {
            // One call that ends all streams; to go through them may take memory that is no longer there.
            engine.close();
            throw failure;
        }
        List<RequestResult> results =
                accepted.stream().map(StreamingRun::result).toList();
        EngineStats after = settled();
        return new RunResult(
                startNanos, results, rejected, endNanos - startNanos, lagNanos, after, engine.steps(), List.of());
    }

    /** Returns when the last submit call returned. */
    private long submitAll(long startNanos, ExecutorService readers) {
        long endNanos = startNanos;
        for (int i = 0; i < requests.size(); i++) {
            if (schedule.hasTargets()) {
                long targetNanos = startNanos + schedule.targetNanos(i);
                pacer.awaitUntil(targetNanos);
                long submitNanos = clock.nanos();
                endNanos = submit(i, submitNanos, readers);
                lagNanos.add(Math.max(0, submitNanos - targetNanos));
            } else {
                if (i > 0 && !schedule.isBurst()) {
                    pacer.awaitUntil(endNanos + schedule.intervalNanos());
                }
                endNanos = submit(i, clock.nanos(), readers);
            }
        }
        return endNanos;
    }

    private long submit(int id, long startNanos, ExecutorService readers) {
        TokenStream stream;
        try {
            stream = engine.submit(requests.get(id));
        } catch (Overloaded refused) {
            rejected++;
            listener.requestEnded();
            return clock.nanos();
        }
        long endNanos = clock.nanos();
        accepted.add(new Submitted(id, startNanos, endNanos, stream, readers.submit(() -> read(stream))));
        return endNanos;
    }

    private Completion read(TokenStream stream) {
        try (stream) {
            while (stream.hasNext()) {
                stream.next();
            }
            return stream.completion();
        } finally {
            listener.requestEnded();
        }
    }

    /** Waits for the readers, but not for ones that the JVM has lost, as happens to virtual threads where memory runs out. */
    private void awaitReaders(ExecutorService readers) {
        readers.shutdown();
        int reading = accepted.size();
        int quietSeconds = 0;
        while (quietSeconds < LOST_SECONDS && !endedWithinASecond(readers)) {
            int now = (int) accepted.stream()
                    .filter(request -> !request.completion().isDone())
                    .count();
            boolean quiet = now == reading
                    && accepted.stream()
                            .allMatch(request -> request.stream().finishReason().isPresent());
            quietSeconds = quiet ? quietSeconds + 1 : 0;
            reading = now;
        }
        if (quietSeconds == LOST_SECONDS) {
            throw new InsufficientMemory(reading + " of " + accepted.size() + " streams have ended and their readers do"
                    + " not run any more; give the JVM more memory (-Xmx), or submit less");
        }
    }

    private static boolean endedWithinASecond(ExecutorService readers) {
        try {
            return readers.awaitTermination(1, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CancellationException("interrupted while requests were running; they were ended");
        }
    }

    private static RequestResult result(Submitted request) {
        Completion completion = completion(request.completion());
        RequestStamps stamps = new RequestStamps(request.startNanos(), request.endNanos(), completion.timeline());
        return new RequestResult(
                request.id(),
                completion.promptIds().length,
                completion.cachedTokens(),
                stamps,
                completion.finishReason(),
                completion.tokens().stream().map(GeneratedToken::id).toList());
    }

    private static Completion completion(Future<Completion> ended) {
        if (ended.state() == Future.State.SUCCESS) {
            return ended.resultNow();
        }
        switch (ended.exceptionNow()) {
            case RuntimeException failure -> throw failure;
            case Error failure -> throw failure;
            case Throwable failure -> throw new IllegalStateException("a stream's reader failed", failure);
        }
    }

    /** The engine's counters once its last request has given its blocks back, which may be a moment after its stream ended. */
    private EngineStats settled() {
        long deadlineNanos = clock.nanos() + SETTLE_NANOS;
        EngineStats stats = engine.stats();
        while ((stats.active() > 0 || stats.waiting() > 0 || stats.blocksInUse() > 0)
                && clock.nanos() < deadlineNanos) {
            pacer.awaitUntil(clock.nanos() + SETTLE_STEP_NANOS);
            stats = engine.stats();
        }
        return stats;
    }
}

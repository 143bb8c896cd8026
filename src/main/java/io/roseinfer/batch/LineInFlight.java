package io.roseinfer.batch;

import io.roseinfer.base.RoseException;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.RoseException.Overloaded;
import io.roseinfer.base.RoseException.ReplicaStopped;
import io.roseinfer.engine.Completion;
import io.roseinfer.engine.Engine;
import io.roseinfer.engine.GenerationRequest;
import io.roseinfer.engine.TokenStream;
import io.roseinfer.server.api.ApiError;
import io.roseinfer.server.api.CompletionCall;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A line between input and output. When all its completions have ended, or it has failed, it is added to
 * {@link FinishedLines}.
 */
final class LineInFlight {
    private static final long OVERLOAD_PAUSE_NANOS = 1_000_000;

    private final long sequence;
    private final BatchLine line;
    private final FinishedLines finished;
    private final List<TokenStream> streams = new ArrayList<>();
    private final AtomicInteger running = new AtomicInteger();
    private @Nullable CompletionCall call;
    private @Nullable Throwable failure;
    private int tries;
    private boolean lostReplica;

    /** The line finished before it, while {@link FinishedLines} has both. */
    @Nullable
    LineInFlight finishedBefore;

    /**
     * Creates a line that has not started.
     *
     * @param sequence its index among all lines in flight, from 0
     * @param finished receives the line when it is finished
     */
    LineInFlight(long sequence, BatchLine line, FinishedLines finished) {
        this.sequence = sequence;
        this.line = line;
        this.finished = finished;
    }

    long sequence() {
        return sequence;
    }

    /**
     * Submits the line to the engine, if it is a request. Errors other than stack overflows are thrown: the batch
     * cannot continue.
     */
    void start(BatchModel model, Engine engine) {
        try {
            switch (line) {
                case BatchLine.Bad bad -> done(bad.error());
                case BatchLine.Request request -> {
                    call = model.call(request);
                    submit(request, model, engine);
                }
            }
        } catch (ApiError e) {
            done(e);
        } catch (RuntimeException | StackOverflowError bug) {
            done(ApiError.of(
                    500, "InternalServerError", "unexpected " + bug.getClass().getSimpleName()));
        }
    }

    /** Submits the line again. */
    void restart(BatchModel model, Engine engine) {
        submit((BatchLine.Request) line, model, engine);
    }

    private void submit(BatchLine.Request request, BatchModel model, Engine engine) {
        tries++;
        failure = null;
        streams.clear();
        try {
            CompletionCall asked = Objects.requireNonNull(call);
            for (int choice = 0; choice < asked.choices(); choice++) {
                streams.add(submit(engine, asked.request(choice)));
            }
        } catch (RoseException e) {
            streams.forEach(TokenStream::close);
            done(e instanceof BadInput bad ? model.refused(request, bad) : e);
            return;
        }
        // One more than the streams, so that it is not finished before all of them have listeners.
        running.set(streams.size() + 1);
        streams.forEach(this::listen);
        oneLess();
    }

    /** Submits a request, retrying while an engine shared with others is full; there is no notification. */
    private static TokenStream submit(Engine engine, GenerationRequest request) {
        while (true) {
            try {
                return engine.submit(request);
            } catch (Overloaded full) {
                LockSupport.parkNanos(OVERLOAD_PAUSE_NANOS);
            }
        }
    }

    private void listen(TokenStream stream) {
        AtomicBoolean counted = new AtomicBoolean();
        stream.onDelivery(() -> {
            if (stream.finishReason().isPresent() && !counted.getAndSet(true)) {
                oneLess();
            }
        });
    }

    private void oneLess() {
        if (running.decrementAndGet() == 0) {
            finished.push(this);
        }
    }

    private void done(Throwable why) {
        failure = why;
        finished.push(this);
    }

    /** Returns how often it was submitted. */
    int tries() {
        return tries;
    }

    /**
     * Returns the response to a finished line.
     *
     * @throws RoseException if the engine or the device has failed
     */
    BatchResponse response(BatchModel model) {
        Throwable why = failure;
        if (why instanceof ApiError error) {
            return BatchResponse.refusal(line, error);
        }
        if (why instanceof RuntimeException thrown) {
            throw thrown;
        }
        if (why instanceof Error thrown) {
            throw thrown;
        }
        List<Completion> done = streams.stream().map(TokenStream::completion).toList();
        return BatchResponse.of((BatchLine.Request) line, Objects.requireNonNull(call), done, model);
    }

    /** Records that a replica has stopped; returns whether it is the first that stopped during the line. */
    boolean isFirstLoss(ReplicaStopped stopped) {
        boolean isFirst = !lostReplica && !stopped.suspectsRequest();
        lostReplica = true;
        return isFirst;
    }

    /** Returns an error response. */
    BatchResponse refusal(RoseException why) {
        return BatchResponse.refusal(line, ApiError.of(why));
    }
}

package io.roseinfer.batch;

import io.roseinfer.base.RoseException;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.RoseException.Overloaded;
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
 * A line on its way from the input to the output. It is done when all its completions have ended, or when it has got no further; then,
 * and only then, {@link FinishedLines} has it.
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

    /** The one that was done before it, while {@link FinishedLines} has both. */
    @Nullable
    LineInFlight finishedBefore;

    /**
     * A line that has not been begun.
     *
     * @param sequence its place among all lines in flight, from 0
     * @param finished is told when the line is done
     */
    LineInFlight(long sequence, BatchLine line, FinishedLines finished) {
        this.sequence = sequence;
        this.line = line;
        this.finished = finished;
    }

    long sequence() {
        return sequence;
    }

    /** Hands a line to the engine, if it is a request. An error other than a stack overflow is thrown: the batch cannot go on after it. */
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

    /** Hands the line to the engine once more. */
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
        // One more than there are streams, so that it is not done before all of them are listened to.
        running.set(streams.size() + 1);
        streams.forEach(this::listen);
        oneLess();
    }

    /** An engine that others use, too, may be full for a moment, and tells nobody when it no longer is. */
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
        AtomicBoolean told = new AtomicBoolean();
        stream.onDelivery(() -> {
            if (stream.finishReason().isPresent() && !told.getAndSet(true)) {
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

    /** How often it has been handed to the engine. */
    int tries() {
        return tries;
    }

    /**
     * The answer to a line that is done.
     *
     * @throws RoseException if the engine or the device has failed
     */
    BatchResponse answer(BatchModel model) {
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

    /** The answer that says why there is no other. */
    BatchResponse refusal(RoseException why) {
        return BatchResponse.refusal(line, ApiError.of(why));
    }
}

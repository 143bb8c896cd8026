package io.roseinfer.batch;

import io.roseinfer.base.RoseException;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.RoseException.DeviceFailure;
import io.roseinfer.base.RoseException.EngineStopped;
import io.roseinfer.base.RoseException.ReplicaStopped;
import io.roseinfer.engine.Engine;
import io.roseinfer.server.api.ApiError;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Processes a batch. Feeder threads read lines and submit them to the engine; the thread that calls {@link #run} writes
 * the responses. A line occupies the {@link InFlightWindow} from reading to writing, so a slow engine or disk slows the
 * feeders, and memory does not grow with the file.
 */
public final class BatchJob {
    /** Maximum times a line is submitted if the device fails. */
    private static final int MAX_TRIES = 3;

    private static final long REST_NANOS = 200_000_000;

    private final Engine engine;
    private final BatchModel model;
    private final BatchInput input;
    private final BatchOutput output;
    private final BatchOptions options;
    private final InFlightWindow window;
    private final FinishedLines finished = new FinishedLines();
    private final SeenKeys keys;
    private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
    private final AtomicInteger feeding;
    private final AtomicLong lines = new AtomicLong();
    private final AtomicLong skipped = new AtomicLong();
    private final Retries<LineInFlight> retries;
    private volatile boolean stopping;
    private long started;

    /**
     * Creates a batch that has not started.
     *
     * @param engine serves the lines; others may use it, too
     * @param output receives the responses, and stays open
     */
    public BatchJob(Engine engine, BatchModel model, BatchInput input, BatchOutput output, BatchOptions options) {
        this.engine = engine;
        this.model = model;
        this.input = input;
        this.options = options;
        this.output = output;
        this.keys = output.keys();
        this.window = new InFlightWindow(options.inFlight());
        this.retries = new Retries<>(line -> line.restart(model, engine));
        this.feeding = new AtomicInteger(options.feeders());
    }

    /**
     * Processes the batch, until it is finished or {@link #stop} is called. May be called once.
     *
     * @param progress is called on this thread, often
     * @throws BadInput if the input cannot be read or is invalid
     * @throws RoseException.OutputFailed if the output cannot be written
     * @throws RoseException if the engine stops
     * @throws Error if reading a line throws one; lines in flight are not awaited, since that line never finishes
     */
    public BatchTotals run(Consumer<BatchTotals> progress) {
        BatchTotals totals;
        finished.claim();
        try {
            for (int i = 0; i < options.feeders(); i++) {
                Thread.ofPlatform().daemon().name("batch-feeder-" + i).start(this::feed);
            }
            totals = write(progress);
        } finally {
            window.close();
        }
        Throwable why = failure.get();
        if (why instanceof RuntimeException thrown) {
            throw thrown;
        }
        if (why instanceof Error thrown) {
            throw thrown;
        }
        return totals;
    }

    /** Stops reading; lines in flight are finished, unless the engine is closed before. May be called by any thread. */
    public void stop() {
        stopping = true;
        window.close();
        finished.wake();
    }

    /** Ends the batch early, for the first failure; after an error at once, since its line never finishes. */
    private void fail(Throwable why) {
        if (why instanceof Error) {
            failure.set(why);
        } else if (!(stopping && why instanceof EngineStopped)) {
            failure.compareAndSet(null, why);
        }
        window.close();
        finished.wake();
    }

    /** Returns the highest number of lines in flight. */
    int maxInFlight() {
        return window.peak();
    }

    // Methods of the feeders.

    private void feed() {
        try {
            for (Optional<LineInFlight> line = next(); line.isPresent(); line = next()) {
                line.get().start(model, engine);
            }
        } catch (RuntimeException | Error e) {
            fail(e);
        } catch (InterruptedException e) {
            fail(new IllegalStateException("a batch's thread was interrupted", e));
        } finally {
            if (feeding.decrementAndGet() == 0) {
                window.close();
                finished.wake();
            }
        }
    }

    /** Returns the next unanswered line after entering the window; empty if there is none or the window is closed. */
    private synchronized Optional<LineInFlight> next() throws InterruptedException {
        while (!stopping && input.next()) {
            Optional<BatchLine> line = unanswered(input.line());
            if (line.isPresent()) {
                if (!window.enter()) {
                    return Optional.empty();
                }
                lines.incrementAndGet();
                return Optional.of(new LineInFlight(started++, line.get(), finished));
            }
            requireOrder();
            lines.incrementAndGet();
            skipped.incrementAndGet();
        }
        return Optional.empty();
    }

    /** Returns the line to process; empty if the output has its response. */
    private Optional<BatchLine> unanswered(BatchLine line) {
        if (line.customId().isEmpty()) {
            return keys.isWritten(line.key()) ? Optional.empty() : Optional.of(line);
        }
        return switch (keys.read(line.key())) {
            case NEW -> Optional.of(line);
            case ANSWERED -> Optional.empty();
            case DUPLICATE -> {
                RequestKey key = input.lineKey();
                ApiError error =
                        ApiError.badField("custom_id", "custom_id is used by an earlier line; it must be unique");
                yield keys.isWritten(key)
                        ? Optional.empty()
                        : Optional.of(new BatchLine.Bad(key, input.lineNumber(), line.customId(), error));
            }
        };
    }

    private void requireOrder() {
        if (options.ordered() && started > 0) {
            throw new BadInput("--ordered: the output has a response to line " + input.lineNumber()
                    + " but not to an earlier one: it was not written in order, or the input has changed; remove"
                    + " --ordered");
        }
    }

    // Methods of the writer.

    private BatchTotals write(Consumer<BatchTotals> progress) {
        ResponseWriter writer = new ResponseWriter(output, window, options.ordered());
        while (!window.isDone() && !(failure.get() instanceof Error)) {
            List<LineInFlight> done = finished.takeAll();
            if (done.isEmpty()) {
                output.rest();
                finished.await(REST_NANOS);
            } else {
                done.forEach(line -> finish(line, writer));
                progress.accept(writer.totals(lines.get(), skipped.get()));
            }
        }
        return writer.totals(lines.get(), skipped.get());
    }

    private void finish(LineInFlight line, ResponseWriter writer) {
        BatchResponse response;
        try {
            response = line.response(model);
        } catch (EngineStopped stopped) {
            fail(stopped);
            response = BatchResponse.NONE;
        } catch (ReplicaStopped stopped) {
            if (line.isFirstLoss(stopped)) {
                line.restart(model, engine);
                return;
            }
            response = line.refusal(stopped.suspectingRequest());
        } catch (RoseException lost) {
            if (lost instanceof DeviceFailure device && device.recoverable() && line.tries() < MAX_TRIES) {
                retries.add(line);
                return;
            }
            response = line.refusal(lost);
        }
        retries.settled(line);
        writer.put(line.sequence(), response);
    }
}

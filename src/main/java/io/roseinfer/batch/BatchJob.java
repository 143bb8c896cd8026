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
 * Works a batch off. Some threads read lines and hand them to the engine, and the one that {@link #run} is called on writes their answers.
 * A line takes a place in the {@link InFlightWindow} when it is read and leaves it when it is written, so a slow engine or disk holds the readers
 * back, and memory does not grow with the file.
 */
public final class BatchJob {
    /** How often a line is handed to a device that fails. */
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
     * A batch that has not begun.
     *
     * @param engine serves the lines; others may use it, too
     * @param output is written to, and left open
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
     * Works the batch off, or as much of it as there is time for before {@link #stop}. Once.
     *
     * @param progress is told on this thread, often
     * @throws BadInput if a file cannot be read or written, or is not what it should be
     * @throws RoseException if the engine stops
     * @throws Error if reading a line throws one; lines in flight are not waited for, since that line is never done
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

    /** Reads no more lines; those in flight are finished, unless the engine is closed before. Any thread. */
    public void stop() {
        stopping = true;
        window.close();
        finished.wake();
    }

    /** The batch ends early, for the first such reason; for an error at once, as its line is never done. */
    private void fail(Throwable why) {
        if (why instanceof Error) {
            failure.set(why);
        } else if (!(stopping && why instanceof EngineStopped)) {
            failure.compareAndSet(null, why);
        }
        window.close();
        finished.wake();
    }

    /** How many lines were in flight together, at most. */
    int maxInFlight() {
        return window.peak();
    }

    // What the feeders do.

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

    /** The next line without an answer, which has a place in the window; empty if there is none or no place will be. */
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

    /** The line as it is to be answered; empty if the output has its answer. */
    private Optional<BatchLine> unanswered(BatchLine line) {
        if (line.customId().isEmpty()) {
            return keys.isWritten(line.key()) ? Optional.empty() : Optional.of(line);
        }
        return switch (keys.read(line.key())) {
            case NEW -> Optional.of(line);
            case ANSWERED -> Optional.empty();
            case DUPLICATE -> {
                RequestKey key = input.lineKey();
                ApiError error = ApiError.badField(
                        "custom_id", "custom_id is that of a line before; give each line one of its own");
                yield keys.isWritten(key)
                        ? Optional.empty()
                        : Optional.of(new BatchLine.Bad(key, line.customId(), error));
            }
        };
    }

    private void requireOrder() {
        if (options.ordered() && started > 0) {
            throw new BadInput("--ordered: the output has an answer to line " + input.lineNumber()
                    + " and none to a line before, so it was not written in order, or the input has changed; leave"
                    + " --ordered out");
        }
    }

    // What the writer does.

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
        BatchResponse answer;
        try {
            answer = line.answer(model);
        } catch (EngineStopped stopped) {
            fail(stopped);
            answer = BatchResponse.NONE;
        } catch (ReplicaStopped elsewhere) {
            line.restart(model, engine);
            return;
        } catch (RoseException lost) {
            if (lost instanceof DeviceFailure device && device.recoverable() && line.tries() < MAX_TRIES) {
                retries.add(line);
                return;
            }
            answer = line.refusal(lost);
        }
        retries.settled(line);
        writer.put(line.sequence(), answer);
    }
}

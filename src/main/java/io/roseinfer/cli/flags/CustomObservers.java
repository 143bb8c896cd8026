package io.roseinfer.cli.flags;

import io.roseinfer.base.RoseException.EngineStopped;
import io.roseinfer.metrics.StepRecord;
import io.roseinfer.observe.EngineObserver;
import io.roseinfer.observe.ObservedRequest;
import io.roseinfer.observe.Observers;
import io.roseinfer.observe.RequestEvent;
import io.roseinfer.observe.RequestObserver;
import io.roseinfer.observe.StepEvent;
import io.roseinfer.observe.StepObserver;
import io.roseinfer.scheduler.ExtensionFailure;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The observers of a user. They are closed after the engine, which then fails if one of them has thrown at any time: a thread
 * of the engine that an exception ends may have had no request to report it to.
 */
public final class CustomObservers implements AutoCloseable {
    private final List<EngineObserver> each;
    private final AtomicReference<@Nullable RuntimeException> failure = new AtomicReference<>();

    CustomObservers(List<EngineObserver> each) {
        this.each = List.copyOf(each);
    }

    /** Returns the user's objects. */
    public List<EngineObserver> all() {
        return each;
    }

    /** Returns the observers for an engine. */
    public Observers observers() {
        return each.stream().map(this::of).reduce(Observers.NONE, Observers::and);
    }

    private Observers of(EngineObserver observer) {
        Observers steps = observer instanceof StepObserver own ? Observers.ofSteps(new OfSteps(own)) : Observers.NONE;
        return observer instanceof RequestObserver own ? steps.and(Observers.ofRequests(new OfRequests(own))) : steps;
    }

    private RuntimeException failed(EngineObserver observer, Throwable thrown) {
        RuntimeException failed = ExtensionFailure.ofObserver(observer, thrown);
        failure.compareAndSet(null, failed);
        return failed;
    }

    private final class OfSteps implements StepObserver {
        private final StepObserver observer;

        OfSteps(StepObserver observer) {
            this.observer = observer;
        }

        @Override
        public void on(StepEvent event, StepRecord step) {
            try {
                observer.on(event, step);
            } catch (Throwable thrown) {
                throw failed(observer, thrown);
            }
        }
    }

    private final class OfRequests implements RequestObserver {
        private final RequestObserver observer;

        OfRequests(RequestObserver observer) {
            this.observer = observer;
        }

        @Override
        public void on(RequestEvent event) {
            try {
                observer.on(event);
            } catch (Throwable thrown) {
                throw failed(observer, thrown);
            }
        }

        @Override
        public void maskComputed(ObservedRequest request, long nanos) {
            try {
                observer.maskComputed(request, nanos);
            } catch (Throwable thrown) {
                throw failed(observer, thrown);
            }
        }
    }

    /**
     * Closes all that are {@link AutoCloseable}.
     *
     * @throws EngineStopped if one of them throws, or has thrown
     */
    @Override
    public void close() {
        for (EngineObserver observer : each) {
            if (observer instanceof AutoCloseable closeable) {
                try {
                    closeable.close();
                } catch (Throwable thrown) {
                    var unused = failed(observer, thrown);
                }
            }
        }
        RuntimeException first = failure.get();
        if (first != null) {
            // A new one, as this may be suppressed by the first.
            throw new EngineStopped(String.valueOf(first.getMessage()), first);
        }
    }
}

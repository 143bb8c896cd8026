package io.roseinfer.observe;

import io.roseinfer.metrics.StepRecord;
import io.roseinfer.scheduler.FinishReason;
import java.util.List;
import java.util.stream.Stream;

/**
 * Several observers, notified one after the other in the order in which they were named. Notifying them allocates nothing.
 */
public final class Observers implements StepObserver, RequestObserver {
    /** Nobody. */
    public static final Observers NONE = of();

    private final StepObserver[] ofSteps;
    private final RequestObserver[] ofRequests;

    private Observers(Stream<? extends StepObserver> ofSteps, Stream<? extends RequestObserver> ofRequests) {
        this.ofSteps = ofSteps.toArray(StepObserver[]::new);
        this.ofRequests = ofRequests.toArray(RequestObserver[]::new);
    }

    public static Observers of(Observer... observers) {
        List<Observer> all = List.of(observers);
        return new Observers(
                all.stream().filter(StepObserver.class::isInstance).map(StepObserver.class::cast),
                all.stream().filter(RequestObserver.class::isInstance).map(RequestObserver.class::cast));
    }

    /** These and then others. */
    public Observers and(Observers others) {
        return new Observers(
                Stream.concat(Stream.of(ofSteps), Stream.of(others.ofSteps)),
                Stream.concat(Stream.of(ofRequests), Stream.of(others.ofRequests)));
    }

    /** Those that hear of requests, and of nothing else. */
    public Observers ofRequests() {
        return new Observers(Stream.of(), Stream.of(ofRequests));
    }

    @Override
    public void turnBegins() {
        for (StepObserver observer : ofSteps) {
            observer.turnBegins();
        }
    }

    @Override
    public void turnEnds() {
        for (StepObserver observer : ofSteps) {
            observer.turnEnds();
        }
    }

    @Override
    public void planning(StepRecord step) {
        for (StepObserver observer : ofSteps) {
            observer.planning(step);
        }
    }

    @Override
    public void admitting(StepRecord step) {
        for (StepObserver observer : ofSteps) {
            observer.admitting(step);
        }
    }

    @Override
    public void admitted(StepRecord step) {
        for (StepObserver observer : ofSteps) {
            observer.admitted(step);
        }
    }

    @Override
    public void idle(StepRecord step) {
        for (StepObserver observer : ofSteps) {
            observer.idle(step);
        }
    }

    @Override
    public void planned(StepRecord step) {
        for (StepObserver observer : ofSteps) {
            observer.planned(step);
        }
    }

    @Override
    public void packed(StepRecord step) {
        for (StepObserver observer : ofSteps) {
            observer.packed(step);
        }
    }

    @Override
    public void submitted(StepRecord step) {
        for (StepObserver observer : ofSteps) {
            observer.submitted(step);
        }
    }

    @Override
    public void awaiting(StepRecord step) {
        for (StepObserver observer : ofSteps) {
            observer.awaiting(step);
        }
    }

    @Override
    public void awaited(StepRecord step) {
        for (StepObserver observer : ofSteps) {
            observer.awaited(step);
        }
    }

    @Override
    public void applied(StepRecord step) {
        for (StepObserver observer : ofSteps) {
            observer.applied(step);
        }
    }

    @Override
    public void delivering() {
        for (StepObserver observer : ofSteps) {
            observer.delivering();
        }
    }

    @Override
    public void delivered() {
        for (StepObserver observer : ofSteps) {
            observer.delivered();
        }
    }

    @Override
    public void submitting() {
        for (RequestObserver observer : ofRequests) {
            observer.submitting();
        }
    }

    @Override
    public void submitted() {
        for (RequestObserver observer : ofRequests) {
            observer.submitted();
        }
    }

    @Override
    public void accepted(ObservedRequest request) {
        for (RequestObserver observer : ofRequests) {
            observer.accepted(request);
        }
    }

    @Override
    public void withdrawn(ObservedRequest request) {
        for (RequestObserver observer : ofRequests) {
            observer.withdrawn(request);
        }
    }

    @Override
    public void tokenized(ObservedRequest request) {
        for (RequestObserver observer : ofRequests) {
            observer.tokenized(request);
        }
    }

    @Override
    public void admitted(ObservedRequest request) {
        for (RequestObserver observer : ofRequests) {
            observer.admitted(request);
        }
    }

    @Override
    public void ended(ObservedRequest request, FinishReason reason) {
        for (RequestObserver observer : ofRequests) {
            observer.ended(request, reason);
        }
    }
}

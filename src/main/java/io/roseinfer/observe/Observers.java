package io.roseinfer.observe;

import io.roseinfer.scheduler.ExtensionFailure;
import java.util.List;
import java.util.function.IntFunction;
import java.util.stream.Stream;

/** The observers of an engine's requests and of its replicas' steps, called in the order in which they were added. */
public final class Observers {
    /** No observers. */
    public static final Observers NONE = new Observers(List.of(), List.of());

    private final List<RequestObserver> ofRequests;
    private final List<IntFunction<? extends StepObserver>> ofSteps;

    private Observers(List<RequestObserver> ofRequests, List<IntFunction<? extends StepObserver>> ofSteps) {
        this.ofRequests = ofRequests;
        this.ofSteps = ofSteps;
    }

    /** Returns an observer of the steps of all replicas, of all requests, or both, as it implements. */
    public static Observers of(EngineObserver observer) {
        Observers steps = observer instanceof StepObserver ofSteps ? ofSteps(ofSteps) : NONE;
        return observer instanceof RequestObserver ofRequests ? steps.and(ofRequests(ofRequests)) : steps;
    }

    /** Returns an observer of all requests; any thread may call it. */
    public static Observers ofRequests(RequestObserver observer) {
        return new Observers(List.of(observer), List.of());
    }

    /**
     * Returns an observer of the steps of all replicas. With several replicas, several threads call it concurrently.
     */
    public static Observers ofSteps(StepObserver observer) {
        return ofStepsOfEach(replica -> observer);
    }

    /** Returns an observer for the steps of each replica, created from the replica's number. */
    public static Observers ofStepsOfEach(IntFunction<? extends StepObserver> observer) {
        return new Observers(List.of(), List.of(observer));
    }

    /** Returns these observers, followed by others. */
    public Observers and(Observers others) {
        return new Observers(
                Stream.concat(ofRequests.stream(), others.ofRequests.stream()).toList(),
                Stream.concat(ofSteps.stream(), others.ofSteps.stream()).toList());
    }

    /** Returns an observer that calls all request observers. */
    public RequestObserver requests() {
        return new OfRequests(ofRequests);
    }

    /** Creates the step observers of a replica, and returns an observer that calls them. */
    public StepObserver steps(int replica) {
        List<StepObserver> each = ofSteps.stream()
                .<StepObserver>map(observer -> observer.apply(replica))
                .toList();
        return StepObserver.all(each);
    }

    private record OfRequests(List<RequestObserver> each) implements RequestObserver {
        @Override
        public void on(RequestEvent event) {
            for (RequestObserver observer : each) {
                try {
                    observer.on(event);
                } catch (RuntimeException thrown) {
                    throw ExtensionFailure.ofObserver(observer, thrown);
                }
            }
        }

        @Override
        public void maskComputed(ObservedRequest request, long nanos) {
            // Without an iterator, which would be allocated for each mask.
            for (int i = 0; i < each.size(); i++) {
                RequestObserver observer = each.get(i);
                try {
                    observer.maskComputed(request, nanos);
                } catch (RuntimeException thrown) {
                    throw ExtensionFailure.ofObserver(observer, thrown);
                }
            }
        }
    }
}

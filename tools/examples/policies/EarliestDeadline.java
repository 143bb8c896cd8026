import io.roseinfer.scheduler.policy.AdmissionPolicy;
import io.roseinfer.scheduler.policy.QueueView;
import io.roseinfer.scheduler.policy.WaitingRequest;

/**
 * Earliest deadline first, which meets all deadlines if any order does. Liu and Layland, Scheduling Algorithms for
 * Multiprogramming in a Hard-Real-Time Environment, 1973. Requests whose deadline has passed come last, so that overload
 * does not make all requests late.
 */
public final class EarliestDeadline implements AdmissionPolicy {
    @Override
    public int lookahead() {
        return MAX_LOOKAHEAD;
    }

    @Override
    public long rank(WaitingRequest request, QueueView queue) {
        return request.deadlineNanos() < queue.nowNanos() ? Long.MAX_VALUE : request.deadlineNanos();
    }
}

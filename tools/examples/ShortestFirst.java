import io.roseinfer.scheduler.policy.AdmissionPolicy;
import io.roseinfer.scheduler.policy.QueueView;
import io.roseinfer.scheduler.policy.WaitingRequest;

/** Admits the request with the fewest tokens left first, prompt and completion together. */
public final class ShortestFirst implements AdmissionPolicy {
    @Override
    public int lookahead() {
        return 256;
    }

    @Override
    public long rank(WaitingRequest request, QueueView queue) {
        return (long) request.remainingTokens() + request.remainingNewTokens();
    }
}

import io.roseinfer.scheduler.policy.AdmissionPolicy;
import io.roseinfer.scheduler.policy.QueueView;
import io.roseinfer.scheduler.policy.WaitingRequest;

/**
 * The shortest predicted request first, with aging: a second of waiting counts as {@code agingTokens} fewer tokens. Fu et al.,
 * Efficient LLM Scheduling by Learning to Rank, NeurIPS 2024.
 */
public record ShortestPredicted(long agingTokens) implements AdmissionPolicy {
    public ShortestPredicted(String agingTokens) {
        this(Long.parseLong(agingTokens));
    }

    @Override
    public int lookahead() {
        return MAX_LOOKAHEAD;
    }

    @Override
    public long rank(WaitingRequest request, QueueView queue) {
        long waitedMillis = (queue.nowNanos() - request.arrivalNanos()) / 1_000_000;
        return request.remainingTokens() + request.predictedNewTokens() - agingTokens * waitedMillis / 1000;
    }
}

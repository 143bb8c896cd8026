import io.roseinfer.scheduler.policy.CachedBlock;
import io.roseinfer.scheduler.policy.EvictionPolicy;
import io.roseinfer.scheduler.policy.QueueView;

/**
 * Keeps the cached blocks of one tenant, such as agents whose next turn follows a short tool call, for a time to live; otherwise least recently
 * used. Li et al., Continuum: Efficient and Robust Multi-Turn LLM Agent Scheduling with KV Cache Time-to-Live, 2025. Continuum
 * learns the time from the durations of tool calls; it is given here, and blocks are evicted within it if all others are.
 */
public record TimeToLive(String tenant, long nanos) implements EvictionPolicy {
    /** Creates the policy; the argument is {@code TENANT=MILLISECONDS}. */
    public TimeToLive(String argument) {
        this(argument.split("=")[0], 1_000_000 * Long.parseLong(argument.split("=")[1]));
    }

    @Override
    public long rank(CachedBlock block, QueueView queue) {
        return queue.nowNanos() + (block.request().tenant().equals(tenant) ? nanos : 0);
    }
}

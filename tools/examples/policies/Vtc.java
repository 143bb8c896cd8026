import io.roseinfer.scheduler.policy.AdmissionPolicy;
import io.roseinfer.scheduler.policy.PolicyRequest;
import io.roseinfer.scheduler.policy.QueueView;
import io.roseinfer.scheduler.policy.RequestEvents;
import io.roseinfer.scheduler.policy.RunningRequest;
import io.roseinfer.scheduler.policy.WaitingRequest;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * Fair sharing by virtual token counters: the tenant that got the least service is served next. Sheng et al., Fairness in
 * Serving Large Language Models, OSDI 2024, algorithm 2. Service is the weighted number of prompt and generated tokens.
 *
 * <p>Under long overload most requests reach the limit of passes, and are admitted in order of arrival; {@code --max-passes none} lifts it.
 */
public final class Vtc implements AdmissionPolicy, RequestEvents {
    private static final long PROMPT_WEIGHT = 1;
    private static final long OUTPUT_WEIGHT = 2;

    private static final class Tenant {
        private long counter;
        private int waiting;

        /** Prompt tokens of its requests ranked earlier in an iteration: they are admitted first. */
        private long claimed;

        private long iteration;
    }

    private final Map<String, Tenant> tenants = new HashMap<>();
    private final Set<Long> waiting = new HashSet<>();

    /** The tenant whose request was the last to leave the queue. */
    private Tenant lastServed = new Tenant();

    @Override
    public int lookahead() {
        return MAX_LOOKAHEAD;
    }

    @Override
    public long rank(WaitingRequest request, QueueView queue) {
        Tenant tenant = tenant(request);
        if (tenant.iteration != queue.iteration()) {
            tenant.iteration = queue.iteration();
            tenant.claimed = 0;
        }
        long rank = tenant.counter + tenant.claimed;
        tenant.claimed += PROMPT_WEIGHT * request.promptLength();
        return rank;
    }

    private Tenant tenant(PolicyRequest request) {
        return tenants.computeIfAbsent(request.tenant(), name -> new Tenant());
    }

    /** A tenant that was idle gets no credit for it: the least counter of the waiting tenants is its minimum. */
    @Override
    public void arrived(PolicyRequest request) {
        Tenant tenant = tenant(request);
        if (tenant.waiting == 0) {
            long least = Long.MAX_VALUE;
            for (Tenant other : tenants.values()) {
                least = other.waiting > 0 ? Math.min(least, other.counter) : least;
            }
            tenant.counter = Math.max(tenant.counter, waiting.isEmpty() ? lastServed.counter : least);
        }
        waits(request);
    }

    @Override
    public void admitted(RunningRequest request, int cachedTokens) {
        Tenant tenant = tenant(request);
        runs(request);
        lastServed = tenant;
        if (request.preemptions() == 0) {
            tenant.counter += PROMPT_WEIGHT * request.promptLength();
        }
    }

    @Override
    public void stepped(RunningRequest request, int computedTokens, int newTokens) {
        tenant(request).counter += OUTPUT_WEIGHT * newTokens;
    }

    @Override
    public void preempted(PolicyRequest request) {
        waits(request);
    }

    @Override
    public void ended(PolicyRequest request) {
        runs(request);
    }

    private void waits(PolicyRequest request) {
        if (waiting.add(request.id())) {
            tenant(request).waiting++;
        }
    }

    private void runs(PolicyRequest request) {
        if (waiting.remove(request.id())) {
            tenant(request).waiting--;
        }
    }
}

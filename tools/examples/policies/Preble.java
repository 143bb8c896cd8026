import io.roseinfer.engine.routing.ReplicaView;
import io.roseinfer.engine.routing.RoutedRequest;
import io.roseinfer.engine.routing.RoutingPolicy;
import java.util.List;

/**
 * Exploit or explore: a request goes to the engine that has most of its prompt cached, if that is more than half of it, otherwise to
 * the one with the fewest outstanding tokens. Srivatsa et al., Preble: Efficient Distributed Prompt Scheduling for LLM Serving, ICLR
 * 2025, which also estimates loads from recent requests and moves popular prefixes off busy engines.
 */
public final class Preble implements RoutingPolicy {
    @Override
    public int choose(RoutedRequest request, List<? extends ReplicaView> engines) {
        int mostCached = 0;
        int closest = 0;
        int idlest = 0;
        for (int i = 0; i < engines.size(); i++) {
            int cached = engines.get(i).cachedTokens(request);
            if (cached > mostCached) {
                mostCached = cached;
                closest = i;
            }
            if (engines.get(i).outstandingTokens() < engines.get(idlest).outstandingTokens()) {
                idlest = i;
            }
        }
        return 2 * mostCached > request.promptTokens() ? closest : idlest;
    }

    /** Without this, prompts are not hashed and {@code cachedTokens} fails. */
    @Override
    public boolean usesPrefixes() {
        return true;
    }
}

import io.roseinfer.engine.routing.FleetView;
import io.roseinfer.engine.routing.ReplicaView;
import io.roseinfer.engine.routing.ScalePolicy;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * As many engines as keep a target of requests per engine, the rule of Kubernetes' horizontal autoscaler: deviations up to 10 % change nothing,
 * and the highest number wanted in the last minute counts, so short lulls stop no engine.
 */
public final class TargetRequests implements ScalePolicy {
    private static final double TOLERANCE = 0.1;
    private static final long WINDOW_NANOS = 60_000_000_000L;

    private record Wanted(long nanos, int engines) {}

    private final double target;
    private final Deque<Wanted> recent = new ArrayDeque<>();

    public TargetRequests(String target) {
        this.target = Double.parseDouble(target);
    }

    @Override
    public int replicas(FleetView fleet) {
        long requests = fleet.waiting();
        for (ReplicaView engine : fleet.serving()) {
            requests += engine.requests();
        }
        int now = fleet.serving().size() + fleet.starting();
        double wanted = requests / target;
        boolean isNear = Math.abs(wanted / now - 1) <= TOLERANCE;
        recent.addLast(new Wanted(fleet.nowNanos(), isNear ? now : Math.max(1, (int) Math.ceil(wanted))));
        while (recent.getFirst().nanos() < fleet.nowNanos() - WINDOW_NANOS) {
            recent.removeFirst();
        }
        return recent.stream().mapToInt(Wanted::engines).max().orElse(1);
    }
}

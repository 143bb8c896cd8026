package io.roseinfer.engine.routing;

/**
 * Chooses how many replicas serve. This is the extension point for autoscaling research: it is asked at fixed
 * intervals of simulated time, always by one thread.
 *
 * <p>The change of {@link FleetView#arrivals} or {@link FleetView#completions} between two calls, divided by the change of
 * {@link FleetView#nowNanos}, is a rate.
 *
 * <p>A further replica serves after its start-up time, with an empty prefix cache. If there are too many, those that
 * start last are cancelled first. Then serving ones drain, highest number first: they accept no requests, and are off
 * when those they have admitted end. A draining replica cannot be taken back; it can start when it is off. Replicas that
 * fail are not replaced unless the policy asks for as many as before.
 */
@FunctionalInterface
public interface ScalePolicy {
    /**
     * Chooses the number of replicas that serve or start. The first call is at time 0 and shows one idle replica; the
     * replicas that it asks for serve at once.
     *
     * @return at least 1; more than {@link FleetView#maxReplicas} count as that many
     */
    int replicas(FleetView fleet);
}

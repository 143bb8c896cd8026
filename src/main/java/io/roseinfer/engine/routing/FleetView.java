package io.roseinfer.engine.routing;

import java.util.List;

/** The replicas of an engine, as a scaling policy sees them. */
public interface FleetView {
    /** Returns the time since the start of the run. */
    long nowNanos();

    /**
     * Returns the replicas that accept requests, at least one unless those that served have failed, by number. They are as old as
     * those that the routing policy sees.
     */
    List<? extends ReplicaView> serving();

    /** Returns how many replicas start. */
    int starting();

    /** Returns how many replicas accept no requests and still have some. */
    int draining();

    /** Returns the maximum replicas that can serve: all that have not failed. */
    int maxReplicas();

    /** Returns the waiting requests that no replica has been chosen for. */
    int waiting();

    /**
     * Returns the number of requests that have arrived since the start of the run, with rejected ones. It is current, unless
     * {@link ViewAge#countsSent} is false: then it is as old as {@link #completions}.
     */
    long arrivals();

    /**
     * Returns the number of requests that have ended since the start of the run, completed, failed or rejected; as old as
     * {@link #serving}.
     */
    long completions();
}

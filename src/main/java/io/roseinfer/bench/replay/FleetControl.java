package io.roseinfer.bench.replay;

import io.roseinfer.bench.http.FleetUse;
import io.roseinfer.engine.VirtualEngine.Phase;
import io.roseinfer.engine.routing.FleetView;
import io.roseinfer.engine.routing.ReplicaView;
import io.roseinfer.scheduler.ExtensionFailure;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.PriorityQueue;

/**
 * Carries out a {@link FleetPlan}: fails engines, asks the scaling policy, and starts and drains engines. At equal times
 * engines fail first, then further engines start, then the policy is asked. Keeps the number of engines over time.
 */
final class FleetControl implements FleetView {
    private static final long NEVER = Long.MAX_VALUE;

    private final SimulatedFleet engine;
    private final int engines;
    private final Optional<FleetPlan.Scaling> scaling;
    private final PriorityQueue<FleetPlan.Death> deaths = new PriorityQueue<>(
            Comparator.comparingLong(FleetPlan.Death::nanos).thenComparingInt(FleetPlan.Death::engine));
    /** Engines that start, in the order of their times. */
    private final Deque<Start> starting = new ArrayDeque<>();

    private final List<Integer> draining = new ArrayList<>();
    private final List<FleetUse.Count> counts = new ArrayList<>();
    /** For each engine, when it was asked for, or {@link #NEVER}. */
    private final long[] sinceNanos;

    private final long[] usedNanos;
    private final long[] failedNanos;
    private final AgedCount arrivals;
    private final AgedCount completions;
    private long nextCallNanos = NEVER;
    private long nowNanos;

    private record Start(int engine, long nanos) {}

    /** Creates the control of idle engines that serve, and carries out the plan for time 0. */
    FleetControl(SimulatedFleet engine, int engines, FleetPlan plan) {
        this.engine = engine;
        this.engines = engines;
        this.scaling = plan.scaling();
        this.sinceNanos = new long[engines];
        this.usedNanos = new long[engines];
        this.failedNanos = new long[engines];
        this.arrivals = new AgedCount(plan.age().countsSent() ? 0 : plan.age().nanos());
        this.completions = new AgedCount(plan.age().nanos());
        Arrays.fill(failedNanos, NEVER);
        deaths.addAll(plan.deaths());
        scaling.ifPresent(this::begin);
        count();
    }

    private void begin(FleetPlan.Scaling asked) {
        for (int i = engines - 1; i > 0; i--) {
            engine.drain(i, 0);
            sinceNanos[i] = NEVER;
        }
        int wanted = ask(asked);
        for (int i = 1; i < wanted; i++) {
            engine.start(i, 0);
            sinceNanos[i] = 0;
        }
        nextCallNanos = asked.intervalNanos();
    }

    /** Returns the time of the next event, or {@link Long#MAX_VALUE} if there is none. */
    long nextNanos() {
        return Math.min(Math.min(nextDeathNanos(), nextStartNanos()), nextCallNanos);
    }

    private long nextDeathNanos() {
        return deaths.isEmpty() ? NEVER : deaths.element().nanos();
    }

    private long nextStartNanos() {
        return starting.isEmpty() ? NEVER : starting.getFirst().nanos;
    }

    /** Runs the next event; there must be one, and the engine must have none before it. */
    void runNext() {
        nowNanos = nextNanos();
        if (nextDeathNanos() == nowNanos) {
            fail(deaths.remove().engine());
        } else if (nextStartNanos() == nowNanos) {
            engine.start(starting.removeFirst().engine, nowNanos);
        } else {
            FleetPlan.Scaling asked = scaling.orElseThrow();
            scale(ask(asked), asked.startUpNanos());
            nextCallNanos = nowNanos + asked.intervalNanos();
        }
        count();
    }

    /** Counts a request that arrives. */
    void arrived(long nanos) {
        arrivals.add(nanos);
    }

    /** Counts a request that has ended. */
    void ended(long nanos) {
        completions.add(nanos);
    }

    /** Notices engines that have drained; called after each event of the engine. */
    void observe() {
        if (!draining.isEmpty() && draining.removeIf(this::hasDrained)) {
            count();
        }
    }

    private boolean hasDrained(int index) {
        boolean isOff = engine.phase(index) == Phase.OFF;
        if (isOff) {
            release(index, engine.nowNanos());
        }
        return isOff;
    }

    private void release(int index, long nanos) {
        usedNanos[index] += nanos - sinceNanos[index];
        sinceNanos[index] = NEVER;
    }

    private void fail(int index) {
        if (engine.phase(index) == Phase.STOPPED) {
            return;
        }
        if (sinceNanos[index] != NEVER) {
            release(index, nowNanos);
        }
        starting.removeIf(start -> start.engine == index);
        draining.removeIf(each -> each == index);
        failedNanos[index] = nowNanos;
        engine.stop(index, nowNanos);
    }

    private int ask(FleetPlan.Scaling asked) {
        try {
            int wanted = asked.policy().replicas(this);
            if (wanted < 1) {
                throw new ExtensionFailure.Misuse(
                        "asked for " + wanted + " engines; allowed are 1 to " + maxReplicas());
            }
            return Math.min(wanted, maxReplicas());
        } catch (Throwable thrown) {
            throw ExtensionFailure.ofScaling(asked.policy(), thrown);
        }
    }

    private void scale(int wanted, long startUpNanos) {
        int more = wanted - starting.size() - engine.views().size();
        for (int i = 0; i < engines && more > 0; i++) {
            if (engine.phase(i) == Phase.OFF && sinceNanos[i] == NEVER) {
                sinceNanos[i] = nowNanos;
                starting.addLast(new Start(i, nowNanos + startUpNanos));
                engine.beginStart(i, nowNanos);
                more--;
            }
        }
        for (; more < 0 && !starting.isEmpty(); more++) {
            int last = starting.removeLast().engine;
            engine.cancelStart(last, nowNanos);
            release(last, nowNanos);
        }
        for (int i = engines - 1; more < 0 && engine.views().size() > 1; i--) {
            if (engine.phase(i) == Phase.SERVING) {
                engine.drain(i, nowNanos);
                draining.add(i);
                more++;
            }
        }
        boolean unused = draining.removeIf(this::hasDrained);
    }

    /** Notes the number of engines if it has changed. */
    private void count() {
        FleetUse.Count now =
                new FleetUse.Count(nowNanos() / 1e9, engine.views().size(), starting.size(), draining.size());
        if (!counts.isEmpty() && counts.getLast().s() == now.s()) {
            counts.removeLast();
        }
        if (counts.isEmpty() || !counts.getLast().isLike(now)) {
            counts.add(now);
        }
    }

    /** Returns the numbers of engines over time. */
    List<FleetUse.Count> counts() {
        return counts;
    }

    /** Returns how long an engine was in use until the end of the run, with its starts and drains. */
    long usedNanos(int index, long endNanos) {
        return usedNanos[index] + (sinceNanos[index] == NEVER ? 0 : Math.max(0, endNanos - sinceNanos[index]));
    }

    /** Returns when an engine failed; empty if it did not. */
    OptionalLong failedNanos(int index) {
        return failedNanos[index] == NEVER ? OptionalLong.empty() : OptionalLong.of(failedNanos[index]);
    }

    @Override
    public long nowNanos() {
        return Math.max(nowNanos, engine.nowNanos());
    }

    @Override
    public List<? extends ReplicaView> serving() {
        return engine.views();
    }

    @Override
    public int starting() {
        return starting.size();
    }

    @Override
    public int draining() {
        return draining.size();
    }

    @Override
    public int maxReplicas() {
        int failed = 0;
        for (int i = 0; i < engines; i++) {
            failed += engine.phase(i) == Phase.STOPPED ? 1 : 0;
        }
        return engines - failed;
    }

    @Override
    public int waiting() {
        return engine.sharedRequests();
    }

    @Override
    public long arrivals() {
        return arrivals.at(nowNanos());
    }

    @Override
    public long completions() {
        return completions.at(nowNanos());
    }
}

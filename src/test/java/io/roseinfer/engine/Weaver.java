package io.roseinfer.engine;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Schedules threads by a seed, so that races are reproducible. {@link Weaving} makes the engine call {@link WovenCalls}
 * wherever threads can see each other's effects; at each such point another thread may run next. Only one thread runs
 * at a time, so code between two points is atomic. Waiting is also done here: if no thread can run, that is a deadlock,
 * which is detected immediately.
 */
final class Weaver {
    private static final int MAX_POINTS = 300_000;

    private static volatile @Nullable Weaver active;

    /** A thread. */
    static final class Task {
        private final String name;
        private final Thread thread;
        private BooleanSupplier ready = Weaver::always;
        private boolean isTimed;
        private boolean isOver;

        /** The permit of {@link LockSupport}. */
        boolean hasPermit;

        boolean isParked;

        Task(String name, Runnable work) {
            this.name = name;
            this.thread = Thread.ofVirtual().name(name).unstarted(work);
        }
    }

    private final Dice dice;
    private final double switchChance;
    private final List<Task> tasks = new ArrayList<>();
    private final Map<Thread, Task> byThread = new HashMap<>();
    private final IdentityHashMap<Object, WovenMonitor> monitors = new IdentityHashMap<>();
    private final CountDownLatch over = new CountDownLatch(1);
    private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
    private Runnable observer = () -> {};
    private int muted;
    private volatile @Nullable Task current;
    private int points;

    /** Creates a weaver without threads. */
    Weaver(Dice dice) {
        this.dice = dice;
        this.switchChance = dice.oneOf(0.01, 0.1, 0.4);
    }

    /** Adds a thread. */
    Task add(String name, Runnable work) {
        Task[] self = new Task[1];
        Task task = new Task(name, () -> live(self[0], work));
        self[0] = task;
        tasks.add(task);
        byThread.put(task.thread, task);
        task.thread.start();
        return task;
    }

    /** Adopts a woven thread that the engine created. */
    void adopt(Thread thread) {
        Task task = add(thread.getName(), thread);
        byThread.put(thread, task);
    }

    Optional<Task> task(@Nullable Thread thread) {
        return Optional.ofNullable(byThread.get(thread));
    }

    WovenMonitor monitor(Object object) {
        return monitors.computeIfAbsent(object, unused -> new WovenMonitor());
    }

    /** Sets an action to run at every point; the action has no points itself. */
    void observe(Runnable action) {
        observer = action;
    }

    /** Runs the threads until all have ended. */
    void run() throws InterruptedException {
        active = this;
        try {
            pass(pick());
            over.await();
        } finally {
            active = null;
        }
        Throwable cause = failure.get();
        if (cause != null) {
            throw new AssertionError(cause instanceof AssertionError ? cause.getMessage() : cause.toString(), cause);
        }
    }

    /** Returns whether a thread is parked and has not been unparked. */
    boolean isParked(String name) {
        return named(name).filter(task -> task.isParked && !task.hasPermit).isPresent();
    }

    /** Returns whether a thread has ended. */
    boolean isOver(String name) {
        return named(name).filter(task -> task.isOver).isPresent();
    }

    private Optional<Task> named(String name) {
        return tasks.stream().filter(task -> task.name.equals(name)).findFirst();
    }

    /** Returns the number of points passed so far, which serves as time. */
    int now() {
        return points;
    }

    private void live(Task self, Runnable work) {
        awaitTurn(self);
        try {
            work.run();
        } catch (Throwable e) {
            failure.compareAndSet(null, e);
        }
        self.isOver = true;
        if (failure.get() != null || tasks.stream().allMatch(task -> task.isOver)) {
            over.countDown();
        } else {
            pass(pick());
        }
    }

    private void awaitTurn(Task self) {
        while (current != self) {
            LockSupport.park(this);
        }
    }

    private static boolean always() {
        return true;
    }

    private void pass(Task next) {
        next.isTimed = false;
        next.ready = Weaver::always;
        current = next;
        LockSupport.unpark(next.thread);
    }

    /** Returns a runnable thread; sometimes, or if all others wait, a thread whose timed wait is over. */
    private Task pick() {
        List<Task> ready = ready();
        List<Task> timed = tasks.stream().filter(t -> !t.isOver && t.isTimed).toList();
        if (!timed.isEmpty() && (ready.isEmpty() || dice.chance(0.01))) {
            return timed.get(dice.below(timed.size()));
        }
        if (ready.isEmpty()) {
            giveUp("no thread can run; blocked are "
                    + tasks.stream().filter(t -> !t.isOver).map(t -> t.name).toList());
        }
        return ready.get(dice.below(ready.size()));
    }

    private List<Task> ready() {
        muted++;
        try {
            return tasks.stream()
                    .filter(t -> !t.isOver && t.ready.getAsBoolean())
                    .toList();
        } finally {
            muted--;
        }
    }

    /** Ends the run; all threads, including the caller, stay blocked. */
    private void giveUp(String message) {
        failure.compareAndSet(null, new AssertionError(message));
        over.countDown();
        while (true) {
            LockSupport.park(this);
        }
    }

    /** Marks a point at which another thread may run next. */
    void point(Task self) {
        look();
        if (dice.chance(switchChance)) {
            switchFrom(self);
        }
    }

    /** Waits for a condition; a timed wait may end without it. */
    void block(Task self, BooleanSupplier ready, boolean isTimed) {
        look();
        self.ready = ready;
        self.isTimed = isTimed;
        switchFrom(self);
    }

    private void switchFrom(Task self) {
        pass(pick());
        awaitTurn(self);
    }

    private void look() {
        if (++points > MAX_POINTS) {
            giveUp("it does not come to an end");
        }
        muted++;
        try {
            observer.run();
        } finally {
            muted--;
        }
    }

    /** Returns one of {@code count} choices, determined by the seed. */
    int choose(int count) {
        return dice.below(count);
    }

    /** Returns the active weaver. */
    static Weaver active() {
        Weaver weaver = active;
        if (weaver == null) {
            throw new IllegalStateException("no threads are woven");
        }
        return weaver;
    }

    /** Returns the calling thread, if it is woven and not only observing. */
    static Optional<Task> caller() {
        Weaver weaver = active;
        if (weaver == null || weaver.muted > 0) {
            return Optional.empty();
        }
        Task running = weaver.current;
        return running != null && running.thread.equals(Thread.currentThread())
                ? Optional.of(running)
                : Optional.empty();
    }

    /** Disables points for the calling thread, or enables them again. */
    static void mute(int more) {
        Weaver weaver = active;
        Task running = weaver == null ? null : weaver.current;
        if (weaver != null && running != null && running.thread.equals(Thread.currentThread())) {
            weaver.muted += more;
        }
    }

    /** Makes the calling thread wait for a condition. */
    static void await(BooleanSupplier condition) {
        active().block(caller().orElseThrow(), condition, false);
    }
}

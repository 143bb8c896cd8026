package io.roseinfer.engine;

import io.roseinfer.engine.Weaver.Task;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The calls that woven code makes instead of, or before, JDK calls. On a thread that is not woven they act like
 * the original, except for monitors, which such a thread must not use.
 */
public final class WovenCalls {
    private WovenCalls() {}

    /** Marks a point at which another thread may run next. */
    public static void point() {
        Weaver.caller().ifPresent(task -> Weaver.active().point(task));
    }

    /** Disables points while a class is being initialized. */
    public static void beginInitializing() {
        Weaver.mute(1);
    }

    public static void endInitializing() {
        Weaver.mute(-1);
    }

    public static void start(Thread thread) {
        if (Weaver.caller().isEmpty()) {
            thread.start();
        } else {
            point();
            Weaver.active().adopt(thread);
        }
    }

    public static void park(Object blocker) {
        Optional<Task> self = Weaver.caller();
        if (self.isEmpty()) {
            LockSupport.park(blocker);
        } else {
            park(self.get(), false);
        }
    }

    public static void parkNanos(Object blocker, long nanos) {
        Optional<Task> self = Weaver.caller();
        if (self.isEmpty()) {
            LockSupport.parkNanos(blocker, nanos);
        } else {
            park(self.get(), true);
        }
    }

    private static void park(Task self, boolean isTimed) {
        self.isParked = true;
        Weaver.active().block(self, () -> self.hasPermit, isTimed);
        self.isParked = false;
        self.hasPermit = false;
    }

    public static void unpark(@Nullable Thread thread) {
        if (Weaver.caller().isEmpty()) {
            LockSupport.unpark(thread);
        } else {
            point();
            Weaver.active().task(thread).ifPresent(task -> task.hasPermit = true);
        }
    }

    public static boolean await(CountDownLatch latch, long time, TimeUnit unit) throws InterruptedException {
        Optional<Task> self = Weaver.caller();
        if (self.isEmpty()) {
            return latch.await(time, unit);
        }
        Weaver.active().block(self.get(), () -> latch.getCount() == 0, true);
        return latch.getCount() == 0;
    }

    public static void enter(Object object) {
        point();
        Weaver.caller().ifPresent(task -> Weaver.active().monitor(object).enter(Weaver.active(), task, 1));
    }

    public static void exit(Object object) {
        Weaver.caller().ifPresent(task -> Weaver.active().monitor(object).exit(task));
        point();
    }

    @SuppressWarnings("WaitNotInLoop") // the caller has the loop
    public static void waitFor(Object object) throws InterruptedException {
        Optional<Task> self = Weaver.caller();
        if (self.isEmpty()) {
            object.wait();
        } else {
            Weaver.active().monitor(object).await(Weaver.active(), self.get());
        }
    }

    public static void notify(Object object) {
        Weaver.caller().ifPresent(task -> Weaver.active().monitor(object).notifyOne(Weaver.active()));
    }

    public static void notifyAll(Object object) {
        Weaver.caller().ifPresent(task -> Weaver.active().monitor(object).notifyAllWaiting());
    }
}

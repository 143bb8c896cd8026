package io.roseinfer.engine;

import io.roseinfer.engine.Weaver.Task;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The owner of an object's monitor, and the threads that wait for a notification. */
final class WovenMonitor {
    private @Nullable Task owner;
    private int depth;
    private final List<Task> waiting = new ArrayList<>();

    /** Enters the monitor, {@code times} times at once; waits while another thread owns it. */
    void enter(Weaver weaver, Task task, int times) {
        while (owner != null && owner != task) {
            weaver.block(task, () -> owner == null, false);
        }
        owner = task;
        depth += times;
    }

    void exit(Task task) {
        exit(task, 1);
    }

    private void exit(Task task, int times) {
        Require.that(owner == task, "a monitor is let go by who does not own it");
        depth -= times;
        if (depth == 0) {
            owner = null;
        }
    }

    /** Leaves the monitor until the thread is notified. */
    void await(Weaver weaver, Task task) {
        int times = depth;
        exit(task, times);
        waiting.add(task);
        weaver.block(task, () -> !waiting.contains(task) && owner == null, false);
        enter(weaver, task, times);
    }

    /** Notifies one waiting thread. */
    void notifyOne(Weaver weaver) {
        if (!waiting.isEmpty()) {
            waiting.remove(weaver.choose(waiting.size()));
        }
    }

    void notifyAllWaiting() {
        waiting.clear();
    }
}

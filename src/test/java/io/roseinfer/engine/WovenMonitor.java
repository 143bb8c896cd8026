package io.roseinfer.engine;

import io.roseinfer.engine.Weaver.Task;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Who is inside of an object's synchronized code, and who waits to be notified. */
final class WovenMonitor {
    private @Nullable Task owner;
    private int depth;
    private final List<Task> waiting = new ArrayList<>();

    /** Goes in, so many times at once; waits while another is. */
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

    /** Goes out until it is notified. */
    void await(Weaver weaver, Task task) {
        int times = depth;
        exit(task, times);
        waiting.add(task);
        weaver.block(task, () -> !waiting.contains(task) && owner == null, false);
        enter(weaver, task, times);
    }

    /** Notifies any one who waits. */
    void notifyOne(Weaver weaver) {
        if (!waiting.isEmpty()) {
            waiting.remove(weaver.choose(waiting.size()));
        }
    }

    void notifyAllWaiting() {
        waiting.clear();
    }
}

package io.roseinfer.spark;

import io.roseinfer.base.Quoted;
import io.roseinfer.base.RoseException.BadInput;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.TaskContext;
import org.apache.spark.TaskKilledException;
import org.apache.spark.resource.ResourceInformation;
import org.jspecify.annotations.Nullable;

/** The Spark task of this thread: its GPUs, and whether it should stop. */
final class TaskWatch {
    private static final String GPU = "gpu";

    private final TaskContext task;

    private TaskWatch(TaskContext task) {
        this.task = task;
    }

    static TaskWatch current() {
        return new TaskWatch(TaskContext.get());
    }

    /** Returns the indices of the GPUs assigned to the task; none if there are no resources. */
    List<Integer> gpus() {
        return gpus(task.resourcesJMap().get(GPU));
    }

    /** Returns the indices of GPUs from their addresses. */
    static List<Integer> gpus(@Nullable ResourceInformation resource) {
        return resource == null
                ? List.of()
                : Arrays.stream(resource.addresses()).map(TaskWatch::index).toList();
    }

    private static Integer index(String address) {
        try {
            return Integer.valueOf(address.strip());
        } catch (NumberFormatException e) {
            throw new BadInput(
                    "Spark has a GPU with the address " + Quoted.name(address)
                            + "; it must be a CUDA index, so let the discovery script print those",
                    e);
        }
    }

    /** Throws if the task was killed. */
    void check() {
        if (task.isInterrupted() || Thread.currentThread().isInterrupted()) {
            throw new TaskKilledException("killed while waiting for tokens");
        }
    }

    /** Closes the rows in flight when the task ends, and wakes its thread when it should stop. */
    void guard(InFlight<?> rows) {
        task.addTaskCompletionListener(ended -> {
            rows.close();
            return 0;
        });
        task.addTaskInterruptListener((killed, reason) -> {
            rows.wake();
            return scala.runtime.BoxedUnit.UNIT;
        });
    }
}

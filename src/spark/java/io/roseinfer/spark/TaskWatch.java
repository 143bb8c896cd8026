package io.roseinfer.spark;

import io.roseinfer.base.Quoted;
import io.roseinfer.base.RoseException.BadInput;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.TaskContext;
import org.apache.spark.TaskKilledException;
import org.apache.spark.resource.ResourceInformation;
import org.jspecify.annotations.Nullable;

/** The task that runs on this thread, as Spark knows it: its GPUs, and whether it is to stop. */
final class TaskWatch {
    private static final String GPU = "gpu";

    private final TaskContext task;

    private TaskWatch(TaskContext task) {
        this.task = task;
    }

    static TaskWatch current() {
        return new TaskWatch(TaskContext.get());
    }

    /** The indices of the GPUs that Spark gave the task; none if it gives no resources. */
    List<Integer> gpus() {
        return gpus(task.resourcesJMap().get(GPU));
    }

    /** The indices of GPUs from their addresses. */
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
                    "Spark has a GPU at the address " + Quoted.name(address)
                            + "; it must be an index as CUDA counts, so let the discovery script print those",
                    e);
        }
    }

    /** Throws if the task was killed. */
    void check() {
        if (task.isInterrupted() || Thread.currentThread().isInterrupted()) {
            throw new TaskKilledException("killed while it waited for tokens");
        }
    }

    /** Closes the rows in flight when the task ends, however it ends, and wakes its thread when it is to stop. */
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

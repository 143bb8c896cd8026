package io.roseinfer.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.base.RoseException.BadModel;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Engines that one task opens while another waits. */
@Timeout(120)
class ExecutorEnginesTest {
    private static final EngineSpec TINY =
            EngineSpec.of("builtin:tiny").withDevice("sim").withMaxBatchSize(4);

    @AfterEach
    void closeEngines() {
        RoseinferSpark.closeEngines();
    }

    /** The result of a task that requests the engine while another one fails to open it. */
    private static FutureTask<OpenEngine> besideFailing(boolean interrupted) throws InterruptedException {
        CountDownLatch opening = new CountDownLatch(1);
        CountDownLatch fail = new CountDownLatch(1);
        CompletableFuture<OpenEngine> first = CompletableFuture.supplyAsync(
                () -> ExecutorEngines.get(TINY, List.of(), settings -> {
                    opening.countDown();
                    await(fail);
                    if (interrupted) {
                        Thread.currentThread().interrupt();
                    }
                    throw new BadModel("model.safetensors: cannot be read");
                }),
                task -> Thread.ofPlatform().start(task));
        await(opening);
        FutureTask<OpenEngine> second = new FutureTask<>(() -> ExecutorEngines.get(TINY, List.of()));
        Thread waiting = Thread.ofPlatform().start(second);
        while (waiting.getState() != Thread.State.WAITING) {
            Thread.onSpinWait();
        }
        fail.countDown();
        assertThatThrownBy(first::join).isInstanceOf(CompletionException.class).hasCauseInstanceOf(BadModel.class);
        return second;
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void task_killed_while_opening_an_engine_lets_a_waiting_task_open_it() throws Exception {
        assertThat(besideFailing(true).get().hasFailed()).isFalse();
    }

    @Test
    void failed_model_load_fails_the_waiting_tasks() throws Exception {
        FutureTask<OpenEngine> second = besideFailing(false);
        assertThatThrownBy(second::get).hasCauseInstanceOf(BadModel.class);
    }
}

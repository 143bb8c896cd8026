package io.roseinfer.backend.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.backend.ModelRunner;
import io.roseinfer.backend.cuda.driver.DeviceContext;
import io.roseinfer.backend.cuda.driver.Driver;
import io.roseinfer.base.Clock;
import io.roseinfer.engine.Engine;
import io.roseinfer.engine.EngineLimits;
import io.roseinfer.engine.EngineOptions;
import io.roseinfer.engine.GenerationRequest;
import io.roseinfer.engine.OnlineScheduler;
import io.roseinfer.model.files.ModelFiles;
import io.roseinfer.sampling.SamplingParams;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;

/** A model used from virtual threads, which other parking threads force to change carriers. */
@RequiresCuda
class CudaVirtualThreadTest {
    private static final int ROUNDS = 20;

    /** Rounds after which the driver's own allocations must have settled. */
    private static final int MAX_ROUNDS = 4 * ROUNDS;

    private static final EngineOptions OPTIONS = EngineOptions.defaults().withKvBlocks(64);

    private final AtomicBoolean over = new AtomicBoolean();

    @BeforeEach
    void startNeighbours() {
        IntStream.range(0, 4 * Runtime.getRuntime().availableProcessors())
                .forEach(i -> Thread.startVirtualThread(this::parkAndWork));
    }

    @AfterEach
    void stopNeighbours() {
        over.set(true);
    }

    private void parkAndWork() {
        while (!over.get()) {
            LockSupport.parkNanos(20_000);
            for (int spin = 0; spin < 1000; spin++) {
                Thread.onSpinWait();
            }
        }
    }

    private static <T> T onVirtualThread(Callable<T> work) throws Exception {
        FutureTask<T> task = new FutureTask<>(work);
        Thread.startVirtualThread(task);
        return task.get();
    }

    private static ModelRunner load(ModelFiles files, CudaBackend backend) {
        return backend.load(files.spec(), files.weights(), EngineLimits.runnerLimits(OPTIONS, files.spec()));
    }

    private static int generate() {
        try (ModelFiles files = ModelFiles.openBuiltin("tiny");
                CudaBackend backend = CudaBackend.open(CudaOptions.defaults(), Clock.system());
                ModelRunner runner = load(files, backend);
                Engine engine = Engine.open(runner, files.tokenizer(), OPTIONS, Clock.system())) {
            return engine.generate(GenerationRequest.of("Once upon a time")
                            .withMaxNewTokens(8)
                            .withIgnoreEndOfText(true))
                    .ids()
                    .length;
        }
    }

    /**
     * The driver allocates in units of 2 MiB and may keep one more at any time. A leak takes units repeatedly: one of 100 KiB per round
     * takes the next unit after 20 rounds.
     */
    @Test
    void engine_on_a_virtual_thread_serves_and_frees_all_memory(TestReporter out) throws Exception {
        DeviceContext context = DeviceContext.open(0);
        try {
            onVirtualThread(CudaVirtualThreadTest::generate);
            List<Long> free = new ArrayList<>(List.of(Driver.freeBytes()));
            int unchanged = 0;
            while (unchanged < ROUNDS && free.size() <= MAX_ROUNDS) {
                assertThat(onVirtualThread(CudaVirtualThreadTest::generate)).isEqualTo(8);
                unchanged = Driver.freeBytes() == free.getLast() ? unchanged + 1 : 0;
                free.add(Driver.freeBytes());
            }
            out.publishEntry("free device memory by round", free.toString());
            assertThat(unchanged)
                    .as("rounds at the end without a change of the free device memory, of %s", free)
                    .isEqualTo(ROUNDS);
        } finally {
            context.close();
        }
    }

    private static int steps() {
        try (ModelFiles files = ModelFiles.openBuiltin("tiny");
                CudaBackend backend = CudaBackend.open(CudaOptions.defaults(), Clock.system());
                ModelRunner runner = load(files, backend)) {
            OnlineScheduler scheduler = new OnlineScheduler(runner, OPTIONS.scheduler());
            long id = scheduler.enqueue(new int[] {1, 2, 3}, 40, SamplingParams.greedy(), 0, true);
            while (scheduler.hasUnfinished()) {
                scheduler.step();
                LockSupport.parkNanos(1_000_000); // Gives the carrier away, as any wait of the caller's would.
            }
            return scheduler.generatedIds(id).length;
        }
    }

    @Test
    void steps_run_on_a_virtual_thread_that_parks_in_between() throws Exception {
        for (int round = 0; round < ROUNDS / 4; round++) {
            assertThat(onVirtualThread(CudaVirtualThreadTest::steps)).isEqualTo(40);
        }
    }
}

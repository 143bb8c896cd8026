package io.roseinfer.engine;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.roseinfer.backend.KvGeometry;
import io.roseinfer.backend.MemoryUse;
import io.roseinfer.backend.ModelRunner;
import io.roseinfer.backend.RunnerLimits;
import io.roseinfer.backend.StepInputs;
import io.roseinfer.backend.StepOutputs;
import io.roseinfer.base.Clock;
import io.roseinfer.kv.KvBlockPool;
import io.roseinfer.metrics.WritableStep;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.model.SpecBuilder;
import io.roseinfer.observe.JfrRecorder;
import io.roseinfer.observe.StepEvent;
import io.roseinfer.observe.StepLog;
import io.roseinfer.observe.StepObserver;
import io.roseinfer.sampling.SamplingParams;
import io.roseinfer.scheduler.Scheduler;
import io.roseinfer.scheduler.SchedulerOptions;
import io.roseinfer.scheduler.Sequence;
import java.lang.foreign.Arena;
import java.lang.management.ManagementFactory;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** In the steady state, a step allocates nothing on the scheduler's thread. */
class StepAllocationTest {
    private static final int ROWS = 256;
    private static final int BLOCK_SIZE = 16;
    private static final int WARM_STEPS = 1500;
    private static final int STRETCHES = 5;
    private static final int MEASURED_STEPS = 500;
    private static final int CONTEXT = WARM_STEPS + MEASURED_STEPS + 100;

    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static byte[] sink = {};

    private final StepObserver observer;
    private final WritableStep record = new WritableStep();
    private final Arena arena = Arena.ofConfined();
    private final Pipeline pipeline;
    private int rows;

    /** A device that samples immediately and allocates nothing. */
    private static final class Immediate implements ModelRunner {
        private static final ModelSpec SPEC = SpecBuilder.named("immediate")
                .vocabulary(1 << 16)
                .context(CONTEXT)
                .build();
        private static final RunnerLimits LIMITS = new RunnerLimits(2 * ROWS, 1 << 16, BLOCK_SIZE, 0);

        private final Arena arena;
        private final KvGeometry kv;

        Immediate(Arena arena, KvGeometry kv) {
            this.arena = arena;
            this.kv = kv;
        }

        @Override
        public ModelSpec spec() {
            return SPEC;
        }

        @Override
        public KvGeometry kv() {
            return kv;
        }

        @Override
        public RunnerLimits limits() {
            return LIMITS;
        }

        @Override
        public int maxInFlight() {
            return 1;
        }

        @Override
        public StepInputs newInputs() {
            return new StepInputs(arena, LIMITS, Math.ceilDiv(CONTEXT, BLOCK_SIZE));
        }

        @Override
        public StepOutputs newOutputs() {
            return new StepOutputs(LIMITS.maxRows());
        }

        @Override
        public void submit(StepInputs inputs, StepOutputs outputs) {
            for (int sample = 0; sample < inputs.samples(); sample++) {
                outputs.set(sample, 1, StepOutputs.Status.OK);
            }
        }

        @Override
        public void await() {}

        @Override
        public List<MemoryUse> memory() {
            return List.of();
        }

        @Override
        public void close() {}
    }

    StepAllocationTest() {
        int blocks = ROWS * Math.ceilDiv(CONTEXT, BLOCK_SIZE) + ROWS;
        KvBlockPool pool = new KvBlockPool(blocks, BLOCK_SIZE, true);
        SchedulerOptions options = SchedulerOptions.builder()
                .maxBatchSize(ROWS)
                .maxActiveRequests(ROWS)
                .build();
        Scheduler scheduler = new Scheduler(options, pool, 1 << 16);
        KvGeometry kv = new KvGeometry(BLOCK_SIZE, blocks, 1);
        observer =
                StepObserver.all(List.of(new ReplicaLoad(0, kv, scheduler, null), new StepLog(64), new JfrRecorder()));
        pipeline = new Pipeline(0, new Immediate(arena, kv), scheduler, Clock.system(), observer);
        for (int i = 0; i < 4 * ROWS; i++) {
            scheduler.add(new Sequence(i, this, new int[] {i, 1, 2}, CONTEXT, SamplingParams.greedy(), 0, new int[0]));
        }
    }

    @AfterEach
    void freeInputs() {
        arena.close();
    }

    private void step() {
        observer.on(StepEvent.ITERATION_STARTED, record);
        rows = pipeline.plan(0).plan().rows();
        pipeline.launch();
        observer.on(StepEvent.DELIVERING, record);
        observer.on(StepEvent.DELIVERED, record);
        Flight unused = pipeline.complete();
        observer.on(StepEvent.ITERATION_ENDED, record);
    }

    private void steps(int count, int wasteBytes) {
        for (int i = 0; i < count; i++) {
            step();
            if (wasteBytes > 0) {
                sink = new byte[wasteBytes];
            }
        }
    }

    /** The second row verifies that allocations would be detected. */
    @ParameterizedTest
    @CsvSource({"0, 0", "16, 32"})
    void step_of_256_rows_with_waiting_requests_does_not_allocate(int wasteBytes, long bytesPerStep) {
        steps(WARM_STEPS, wasteBytes);
        assertThat(THREADS.getCurrentThreadAllocatedBytes()).isPositive();
        // The minimum over several stretches: in one of them the JVM may link or compile something late.
        long allocated = Long.MAX_VALUE;
        for (int stretch = 0; stretch < STRETCHES; stretch++) {
            long before = THREADS.getCurrentThreadAllocatedBytes();
            steps(MEASURED_STEPS, wasteBytes);
            allocated = Math.min(allocated, THREADS.getCurrentThreadAllocatedBytes() - before);
        }
        assertThat(rows).isEqualTo(ROWS);
        assertThat(allocated).isEqualTo(MEASURED_STEPS * bytesPerStep);
        assertThat(sink).hasSize(wasteBytes);
    }
}

package io.roseinfer.engine;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.roseinfer.backend.KvGeometry;
import io.roseinfer.backend.RunnerLimits;
import io.roseinfer.backend.StepInputs;
import io.roseinfer.base.Clock;
import io.roseinfer.engine.routing.ReplicaLoad;
import io.roseinfer.kv.KvBlockPool;
import io.roseinfer.metrics.StepRecord.Fact;
import io.roseinfer.metrics.StepRecord;
import io.roseinfer.observe.JfrRecorder;
import io.roseinfer.observe.StepEvent;
import io.roseinfer.observe.StepLog;
import io.roseinfer.observe.StepObserver;
import io.roseinfer.sampling.SamplingParams;
import io.roseinfer.scheduler.Scheduler;
import io.roseinfer.scheduler.SchedulerOptions;
import io.roseinfer.scheduler.Sequence;
import io.roseinfer.scheduler.StepPlan;
import java.lang.foreign.Arena;
import java.lang.management.ManagementFactory;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** In the steady state a step of the scheduler's thread allocates nothing, by the thread's own count. */
class StepAllocationTest {
    private static final int ROWS = 256;
    private static final int BLOCK_SIZE = 16;
    private static final int WARM_STEPS = 1500;
    private static final int STRETCHES = 5;
    private static final int MEASURED_STEPS = 500;
    private static final int CONTEXT = WARM_STEPS + MEASURED_STEPS + 100;

    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final Scheduler.SampledTokens SAMPLED = sample -> sample;

    private static byte[] sink = {};

    private final Scheduler scheduler;
    private final StepObserver observer;
    private final StepRecord record = new StepRecord();
    private final StepPlan plan;
    private int rows;

    StepAllocationTest() {
        int blocks = ROWS * Math.ceilDiv(CONTEXT, BLOCK_SIZE) + ROWS;
        KvBlockPool pool = new KvBlockPool(blocks, BLOCK_SIZE, true);
        SchedulerOptions options = SchedulerOptions.builder()
                .maxBatchSize(ROWS)
                .maxActiveRequests(ROWS)
                .build();
        scheduler = new Scheduler(options, pool, 1 << 16);
        plan = scheduler.newPlan();
        observer = StepObserver.all(List.of(
                new StepTimer(0, Clock.system()),
                new ReplicaLoad(0, new KvGeometry(BLOCK_SIZE, blocks, 1), scheduler, null),
                new StepLog(64),
                new JfrRecorder()));
        for (int i = 0; i < 4 * ROWS; i++) {
            scheduler.add(new Sequence(i, this, new int[] {i, 1, 2}, CONTEXT, SamplingParams.greedy(), 0, new int[0]));
        }
    }

    private void step(StepInputs inputs) {
        observer.on(StepEvent.TURN_BEGINS, record);
        observer.on(StepEvent.PLANNING, record);
        scheduler.plan(plan);
        scheduler.record(plan, record);
        observer.on(StepEvent.PLANNED, record);
        StepPacker.pack(plan, inputs);
        observer.on(StepEvent.PACKED, record);
        observer.on(StepEvent.SUBMITTED, record);
        observer.on(StepEvent.AWAITING, record);
        observer.on(StepEvent.AWAITED, record);
        scheduler.apply(plan, SAMPLED);
        observer.on(StepEvent.APPLIED, record);
        observer.on(StepEvent.DELIVERING, record);
        observer.on(StepEvent.DELIVERED, record);
        observer.on(StepEvent.TURN_ENDS, record);
        rows = plan.rows();
    }

    private void steps(int count, StepInputs inputs, int wasteBytes) {
        for (int i = 0; i < count; i++) {
            step(inputs);
            if (wasteBytes > 0) {
                sink = new byte[wasteBytes];
            }
        }
    }

    /** The second row shows that what is allocated would be seen. */
    @ParameterizedTest
    @CsvSource({"0, 0", "16, 32"})
    void step_of256_rows_with_others_waiting_allocates_nothing(int wasteBytes, long bytesPerStep) {
        try (Arena arena = Arena.ofConfined()) {
            RunnerLimits limits = new RunnerLimits(2 * ROWS, 1 << 16, BLOCK_SIZE, 0);
            StepInputs inputs = new StepInputs(arena, limits, Math.ceilDiv(CONTEXT, BLOCK_SIZE));
            steps(WARM_STEPS, inputs, wasteBytes);
            assertThat(THREADS.getCurrentThreadAllocatedBytes()).isPositive();
            // The least of some stretches: in one of them the JVM may link or compile something late.
            long allocated = Long.MAX_VALUE;
            for (int stretch = 0; stretch < STRETCHES; stretch++) {
                long before = THREADS.getCurrentThreadAllocatedBytes();
                steps(MEASURED_STEPS, inputs, wasteBytes);
                allocated = Math.min(allocated, THREADS.getCurrentThreadAllocatedBytes() - before);
            }
            assertThat(rows).isEqualTo(ROWS);
            assertThat(allocated).isEqualTo(MEASURED_STEPS * bytesPerStep);
            assertThat(sink).hasSize(wasteBytes);
        }
    }
}

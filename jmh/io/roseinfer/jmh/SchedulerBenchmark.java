package io.roseinfer.jmh;

import com.sun.management.ThreadMXBean;
import io.roseinfer.kv.KvBlockPool;
import io.roseinfer.sampling.SamplingParams;
import io.roseinfer.scheduler.Scheduler;
import io.roseinfer.scheduler.SchedulerOptions;
import io.roseinfer.scheduler.Sequence;
import io.roseinfer.scheduler.StepPlan;
import java.lang.management.ManagementFactory;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.AuxCounters;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Question: what does the scheduler itself cost per decode step (plan and apply, no model), against the rows that run and the
 * requests that wait, while all places are taken ({@link AdmissionBenchmark} admits)? The second must not matter, and a step must allocate nothing: {@code bytesPerStep} is what the thread
 * allocated between the first and the last step of an iteration. ({@code -prof gc} counts the filling of queue and ring in.)
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 5, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 5, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Fork(value = 1, jvmArgsAppend = "-Xmx3g")
public class SchedulerBenchmark {
    private static final int BLOCK_SIZE = 16;
    /** Tokens of all running sequences together: enough that none ends within an iteration. */
    private static final int TOKENS = 1 << 25;

    @Param({"1", "8", "64", "256", "1024"})
    public int rows;

    @Param({"0", "100000"})
    public int waiting;

    private Scheduler scheduler;
    private StepPlan plan;

    /** Counts what the steps of an iteration allocate, and nothing around them. */
    @State(Scope.Thread)
    @AuxCounters(AuxCounters.Type.EVENTS)
    public static class Allocation {
        private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

        private long steps;
        private long startBytes;

        @Setup(Level.Iteration)
        public void reset() {
            steps = 0;
        }

        void beforeStep() {
            if (steps++ == 0) {
                startBytes = THREADS.getCurrentThreadAllocatedBytes();
            }
        }

        public double bytesPerStep() {
            return (double) (THREADS.getCurrentThreadAllocatedBytes() - startBytes) / Math.max(1, steps);
        }
    }

    /** A full decode ring and a full queue. */
    @Setup(Level.Iteration)
    public void fill() {
        int length = TOKENS / rows;
        KvBlockPool pool = new KvBlockPool(TOKENS / BLOCK_SIZE + rows, BLOCK_SIZE, false);
        SchedulerOptions options = SchedulerOptions.builder()
                .maxBatchSize(rows)
                .maxActiveRequests(rows)
                .prefixCache(false)
                .build();
        scheduler = new Scheduler(options, pool, 1 << 20);
        plan = scheduler.newPlan();
        for (int i = 0; i < rows; i++) {
            scheduler.add(sequence(i, length));
        }
        step();
        for (int i = 0; i < waiting; i++) {
            scheduler.add(sequence(rows + i, BLOCK_SIZE));
        }
    }

    private Sequence sequence(int id, int length) {
        return new Sequence(id, this, new int[] {1}, length, SamplingParams.greedy(), 0, new int[0]);
    }

    @Benchmark
    public int decodeStep(Allocation allocation) {
        allocation.beforeStep();
        return step();
    }

    private int step() {
        scheduler.apply(scheduler.plan(plan), sample -> 1);
        return plan.rows();
    }
}

package io.roseinfer.jmh;

import io.roseinfer.kv.KvBlockPool;
import io.roseinfer.sampling.SamplingParams;
import io.roseinfer.scheduler.Scheduler;
import io.roseinfer.scheduler.SchedulerOptions;
import io.roseinfer.scheduler.Sequence;
import io.roseinfer.scheduler.StepPlan;
import io.roseinfer.scheduler.policy.AdmissionPolicy;
import java.util.concurrent.TimeUnit;
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
 * Question: what does it cost to admit one request of many that wait? Their number must not matter. An operation queues a request
 * at the end, admits one that the policy chooses, takes in its only token and so ends it; making the queued request is in it.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 5, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 5, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Fork(value = 1, jvmArgsAppend = "-Xmx3g")
public class AdmissionBenchmark {
    private static final int BLOCK_SIZE = 16;
    private static final int PROMPT_TOKENS = 64;
    private static final int LOOKAHEAD = 64;

    @Param({"1", "1000", "100000"})
    public int waiting;

    @Param({"fifo", "pack"})
    public String policy = "";

    private KvBlockPool pool = pool();
    private Scheduler scheduler = scheduler();
    private StepPlan plan = scheduler.newPlan();
    private int next;

    private static KvBlockPool pool() {
        return new KvBlockPool(PROMPT_TOKENS, BLOCK_SIZE, false);
    }

    private Scheduler scheduler() {
        SchedulerOptions options = SchedulerOptions.builder()
                .prefillMaxBatchSize(1)
                .admission(policy.equals("pack") ? AdmissionPolicy.pack(LOOKAHEAD, 0) : AdmissionPolicy.fifo())
                .prefixCache(false)
                .build();
        return new Scheduler(options, pool, PROMPT_TOKENS);
    }

    @Setup(Level.Iteration)
    public void fill() {
        pool = pool();
        scheduler = scheduler();
        plan = scheduler.newPlan();
        for (int i = 0; i < waiting; i++) {
            queue();
        }
    }

    /** Prompts differ in length, so that a policy has a choice. */
    private void queue() {
        int[] prompt = new int[PROMPT_TOKENS - next % 48];
        scheduler.add(new Sequence(next++, this, prompt, PROMPT_TOKENS + 1, SamplingParams.greedy(), 0, new int[0]));
    }

    @Benchmark
    public int admit() {
        queue();
        scheduler.apply(scheduler.planPrefillOnly(plan, 0), sample -> 1);
        scheduler.pollFinished();
        return plan.rows();
    }
}

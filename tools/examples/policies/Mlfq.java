import io.roseinfer.scheduler.policy.PolicyRequest;
import io.roseinfer.scheduler.policy.RequestEvents;
import io.roseinfer.scheduler.policy.RunningRequest;
import io.roseinfer.scheduler.policy.StepBuilder;
import io.roseinfer.scheduler.policy.StepPolicy;
import java.util.HashMap;
import java.util.Map;

/**
 * A skip-join multi-level feedback queue: short requests overtake long ones although no length is known. Wu et al., Fast
 * Distributed Inference Serving for Large Language Models (FastServe), 2023. A request joins the level whose quantum its
 * prompt fits, and sinks a level when it has used that quantum. A step runs the highest levels; the others are paused with
 * their KV blocks, and preempted if blocks are scarce. Needs more active requests than a batch has.
 *
 * <p>Levels order output tokens only: prompts run in order of admission and are not paused. Needs chunked prefill: without
 * it, a prompt that exceeds the rest of the budget waits until no request decodes.
 */
public final class Mlfq implements StepPolicy, RequestEvents {
    private static final int LEVELS = 6;

    /** Tokens of the highest level; each further one has twice as many. */
    private static final int QUANTUM = 16;

    /** Prompt tokens that take as long as a decode step. */
    private static final int PROMPT_TOKENS_PER_STEP = 16;

    private final long maxPauseNanos;
    private final Map<Long, Job> jobs = new HashMap<>();

    private static final class Job {
        private int level;
        private int used;
        /** When the request last had a row, or when it was first seen without one; 0 before that. */
        private long lastRowNanos;
    }

    public Mlfq() {
        this("10000");
    }

    /** Creates the policy; the argument is the pause in milliseconds after which a request returns to the highest level. */
    public Mlfq(String maxPauseMillis) {
        maxPauseNanos = 1_000_000 * Long.parseLong(maxPauseMillis);
    }

    @Override
    public void plan(StepBuilder step) {
        int count = step.decoding();
        for (int i = 0; i < count; i++) {
            Job job = job(step.decoding(i));
            if (job.lastRowNanos == 0) {
                job.lastRowNanos = step.queue().nowNanos();
            }
            if (step.queue().nowNanos() - job.lastRowNanos > maxPauseNanos) {
                job.level = 0;
                job.used = 0;
            }
        }
        makeRoom(step, count);
        for (int level = 0; level < LEVELS; level++) {
            for (int i = 0; i < count; i++) {
                Job job = job(step.decoding(i));
                if (job.level == level && step.decode(step.decoding(i))) {
                    job.lastRowNanos = step.queue().nowNanos();
                }
            }
        }
        step.prefill(Math.max(1, step.prefillMaxTokens() - step.tokens()));
    }

    /** Preempts a request of the lowest levels if the pool has too few blocks for the next tokens. */
    private void makeRoom(StepBuilder step, int count) {
        for (int level = LEVELS - 1; level > 0; level--) {
            for (int i = count - 1; i >= 0 && step.queue().freeBlocks() < step.maxBatchSize(); i--) {
                if (job(step.decoding(i)).level == level) {
                    step.preempt(step.decoding(i));
                }
            }
        }
    }

    private Job job(PolicyRequest request) {
        return jobs.computeIfAbsent(request.id(), id -> new Job());
    }

    @Override
    public void admitted(RunningRequest request, int cachedTokens) {
        Job job = job(request);
        int steps = (request.length() - cachedTokens) / PROMPT_TOKENS_PER_STEP;
        while (job.level < LEVELS - 1 && (QUANTUM << job.level) < steps) {
            job.level++;
        }
    }

    @Override
    public void stepped(RunningRequest request, int computedTokens, int newTokens) {
        Job job = job(request);
        job.used += newTokens;
        if (job.used >= (QUANTUM << job.level) && job.level < LEVELS - 1) {
            job.level++;
            job.used = 0;
        }
    }

    @Override
    public void ended(PolicyRequest request) {
        jobs.remove(request.id());
    }
}

package io.roseinfer.engine;

import io.roseinfer.backend.KvGeometry;
import io.roseinfer.backend.ModelRunner;
import io.roseinfer.backend.RunnerLimits;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.scheduler.Scheduler;
import io.roseinfer.scheduler.SchedulerOptions;

/** What an engine's options ask of a runner, and what a runner's limits mean for a request. */
public final class EngineLimits {
    /** Most tokens in one step, unless one sequence can be longer: bounds scratch memory, and the time until rows decode again. */
    private static final int STEP_TOKENS = 8192;

    private EngineLimits() {}

    /** The limits a runner must be loaded with to serve with these options. */
    public static RunnerLimits runnerLimits(EngineOptions options, ModelSpec spec) {
        SchedulerOptions scheduler = options.scheduler();
        int rows = Scheduler.maxRows(scheduler);
        long wanted = Math.min(
                scheduler.maxBatchSize() + (long) scheduler.prefillMaxTokens(),
                scheduler.maxBatchSize() + (long) scheduler.prefillMaxBatchSize() * spec.contextLength());
        long tokens = Math.max(spec.contextLength() + scheduler.maxBatchSize(), Math.min(wanted, STEP_TOKENS));
        return new RunnerLimits(rows, (int) tokens, options.blockSize(), options.kvBlocks());
    }

    static void requireFit(ModelRunner runner, EngineOptions options) {
        RunnerLimits needed = runnerLimits(options, runner.spec());
        RunnerLimits given = runner.limits();
        if (given.maxRows() < needed.maxRows()
                || given.maxTokens() < needed.maxTokens()
                || given.blockSize() != needed.blockSize()) {
            throw new BadInput("the runner was loaded with " + given + ", the engine's options need " + needed
                    + "; load it with EngineLimits.runnerLimits(options, spec)");
        }
    }

    /** Refuses what could never be served, before it reaches the engine's thread. */
    static void requireServable(int[] prompt, int maxNewTokens, ModelSpec spec, KvGeometry kv) {
        if (prompt.length == 0) {
            throw new BadInput("the prompt has no tokens; a completion needs at least one to continue");
        }
        for (int id : prompt) {
            if (id < 0 || id >= spec.vocabularySize()) {
                throw new BadInput("the prompt has token id " + id + "; ids of this model are 0 to "
                        + (spec.vocabularySize() - 1));
            }
        }
        if (prompt.length >= spec.contextLength()) {
            throw new BadInput("the prompt has " + prompt.length + " tokens; the model's context is "
                    + spec.contextLength() + " and one of them must be new, so shorten the prompt");
        }
        long length = Math.min(spec.contextLength(), (long) prompt.length + maxNewTokens);
        if (kv.blocksFor((int) length) > kv.blocks()) {
            throw new BadInput("the request can grow to " + length + " tokens, " + kv.blocksFor((int) length)
                    + " KV blocks, and the pool has " + kv.blocks() + "; raise --kv-blocks or ask for fewer tokens");
        }
    }
}

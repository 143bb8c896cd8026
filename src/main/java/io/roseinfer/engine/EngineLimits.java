package io.roseinfer.engine;

import io.roseinfer.backend.KvGeometry;
import io.roseinfer.backend.ModelRunner;
import io.roseinfer.backend.RunnerLimits;
import io.roseinfer.backend.StepInputs;
import io.roseinfer.base.Remedy;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.sampling.SamplingParams;
import io.roseinfer.scheduler.Scheduler;
import io.roseinfer.scheduler.SchedulerOptions;
import io.roseinfer.scheduler.policy.Drafter;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** Limits that an engine's options require of a runner, and that a runner imposes on requests. */
public final class EngineLimits {
    /** 146 years; can be added to any clock reading without overflow. */
    static final long UNLIMITED_NANOS = Long.MAX_VALUE / 2;

    /**
     * Maximum prompt tokens per step, unless a single unsplit prompt is longer. Bounds scratch memory and the time
     * between decode steps.
     */
    private static final int STEP_TOKENS = 8192;

    /** Maximum of {@link ModelRunner#maxDraftedTokens} over all devices. */
    private static final int MAX_DRAFTED_TOKENS = 64;

    /** Samples that a runner is loaded for at least, so that log-probabilities of a prompt need few steps. */
    private static final int MIN_SAMPLES = 64;

    private EngineLimits() {}

    /**
     * Returns the limits that a runner must be loaded with to serve with these options.
     *
     * @throws BadInput if no runner supports them
     */
    public static RunnerLimits runnerLimits(EngineOptions options, ModelSpec spec) {
        return runnerLimits(options.scheduler(), options.blockSize(), options.kvBlocks(), spec);
    }

    private static RunnerLimits runnerLimits(SchedulerOptions scheduler, int blockSize, int kvBlocks, ModelSpec spec) {
        int rows = Scheduler.maxRows(scheduler);
        int tokens = Math.addExact(scheduler.maxBatchSize(), promptTokens(scheduler, spec.contextLength()));
        int drafted = draftedTokens(scheduler);
        RunnerLimits limits = new RunnerLimits(
                rows,
                scheduler.maxBatchSize(),
                Math.max(tokens, drafted),
                Math.max(Math.addExact(rows, drafted), MIN_SAMPLES),
                drafted,
                blockSize,
                kvBlocks);
        int unused = StepInputs.listedBlocks(limits, Math.ceilDiv(spec.contextLength(), blockSize));
        return limits;
    }

    /** Returns the maximum tokens of a step with drafts on any device. */
    private static int draftedTokens(SchedulerOptions scheduler) {
        return scheduler.drafter().maxTokens() == 0
                ? 0
                : (int) Math.min((long) Drafter.MAX_ROW_TOKENS * scheduler.maxBatchSize(), MAX_DRAFTED_TOKENS);
    }

    /**
     * Returns the maximum prompt tokens of a step. A prompt that may not be split must fit, up to the whole context.
     */
    private static int promptTokens(SchedulerOptions scheduler, int contextLength) {
        long wanted = Math.min(scheduler.prefillMaxTokens(), (long) scheduler.prefillMaxBatchSize() * contextLength);
        int bounded = (int) Math.min(wanted, STEP_TOKENS);
        return scheduler.chunkedPrefill() ? bounded : Math.max(bounded, contextLength);
    }

    /**
     * Returns the maximum tokens of a sequence: the prompt and the requested new tokens, limited by the model's
     * context.
     */
    static int maxLength(int promptTokens, int maxNewTokens, ModelSpec spec) {
        return (int) Math.min(spec.contextLength(), (long) promptTokens + maxNewTokens);
    }

    /**
     * Throws if a runner was loaded with other options.
     *
     * @throws BadInput if a step with these options may not fit the runner
     */
    static void requireFit(ModelRunner runner, EngineOptions options) {
        requireFit(runner, runnerLimits(options, runner.spec()));
        requireDrafts(runner, options.scheduler());
    }

    /** Checks like {@link #requireFit(ModelRunner, EngineOptions)}, with the runner's own KV blocks. */
    static void requireFit(ModelRunner runner, SchedulerOptions options) {
        RunnerLimits given = runner.limits();
        requireFit(runner, runnerLimits(options, given.blockSize(), given.kvBlocks(), runner.spec()));
        requireDrafts(runner, options);
    }

    private static void requireDrafts(ModelRunner runner, SchedulerOptions options) {
        if (options.drafter().maxTokens() > 0 && runner.maxDraftedTokens() == 0) {
            throw new BadInput(
                    "the drafter is " + options.drafter() + ", but this device does not verify drafts; use no drafter");
        }
    }

    private static void requireFit(ModelRunner runner, RunnerLimits needed) {
        RunnerLimits given = runner.limits();
        if (given.maxRows() < needed.maxRows()) {
            throw needed.decodeRows() > given.decodeRows()
                    ? BadInput.of("max_batch_size", needed.decodeRows(), loadedFor(given.decodeRows()))
                    : BadInput.of(
                            "prefill_max_batch_size",
                            needed.maxRows() - needed.decodeRows(),
                            loadedFor(given.maxRows() - given.decodeRows()));
        }
        if (given.blockSize() != needed.blockSize()) {
            throw BadInput.of("block_size", needed.blockSize(), loadedFor(given.blockSize()));
        }
        if (given.maxTokens() < needed.maxTokens()) {
            throw new BadInput("a step of these options has up to " + needed.maxTokens() + " tokens; "
                    + loadedFor(given.maxTokens()));
        }
        if (given.draftedTokens() < needed.draftedTokens()) {
            throw new BadInput("a step of these options has up to " + needed.draftedTokens() + " tokens with drafts; "
                    + loadedFor(given.draftedTokens()));
        }
        int samples = needed.maxRows() + needed.draftedTokens();
        if (given.maxSamples() < samples) {
            throw new BadInput(
                    "a step of these options has up to " + samples + " samples; " + loadedFor(given.maxSamples()));
        }
    }

    private static String loadedFor(int size) {
        return "the model was loaded for " + size + "; load it with Settings.withEngine(options), or a custom runner"
                + " with EngineLimits.runnerLimits(options, spec)";
    }

    /**
     * Returns the KV pool of an engine on a loaded runner. Options may ask for fewer blocks than the runner has, so
     * that experiments with different pool sizes can share a loaded model; 0 uses all blocks.
     *
     * @throws BadInput if the runner has fewer blocks
     */
    public static KvGeometry pool(ModelRunner runner, EngineOptions options) {
        KvGeometry loaded = runner.kv();
        if (options.kvBlocks() > loaded.blocks()) {
            throw BadInput.of(
                    "kv_blocks",
                    options.kvBlocks(),
                    "the runner was loaded with " + loaded.blocks()
                            + " KV blocks, so ask for at most as many, or load it with more");
        }
        return options.kvBlocks() == 0
                ? loaded
                : new KvGeometry(loaded.blockSize(), options.kvBlocks(), loaded.bytesPerBlock());
    }

    /**
     * Returns the maximum tokens of a sequence, prompt and completion: the model's context or the capacity of the pool.
     */
    public static int maxRequestTokens(ModelSpec spec, KvGeometry kv) {
        // The keys and values of the last token are never computed.
        return (int) Math.min(spec.contextLength(), 1 + (long) kv.blocks() * kv.blockSize());
    }

    /** Returns the parameters limited to the model's vocabulary: no more alternatives than there are tokens. */
    static SamplingParams servable(SamplingParams params, ModelSpec spec) {
        return params.logprobs() <= spec.vocabularySize() ? params : params.withLogprobs(spec.vocabularySize());
    }

    /** Returns the maximum tokens of a prompt: the context leaves room for one new token, unless none is requested. */
    public static int maxPromptTokens(int maxNewTokens, ModelSpec spec) {
        return spec.contextLength() - Math.min(1, maxNewTokens);
    }

    /** Returns the message for a prompt that leaves no room for a generated token in the context. */
    public static String promptTooLong(int promptTokens, ModelSpec spec) {
        return "the prompt has " + promptTokens + " tokens; the context of " + spec.contextLength()
                + " leaves room for at most " + (spec.contextLength() - 1);
    }

    /**
     * Throws if a request needs a tokenizer.
     *
     * @param owner what has none
     * @param remedy what to do about a text prompt
     */
    static void requireNoTokenizer(GenerationRequest request, String owner, String remedy) {
        String problem = owner + " has no tokenizer, so ";
        if (request.prompt() instanceof Prompt.Text) {
            throw new BadInput(problem + "a text prompt cannot be read; " + remedy);
        }
        if (!request.stop().isEmpty()) {
            throw new BadInput(problem + "stop strings cannot be found; leave them out");
        }
        if (!request.constraints().badWords().isEmpty()) {
            throw new BadInput(problem + "bad_words have no tokens; leave them out");
        }
        if (request.constraints().grammar().isPresent()) {
            throw noTokensForGrammar(owner);
        }
    }

    static BadInput noTokensForGrammar(String owner) {
        return new BadInput(owner + " has no tokenizer, so a grammar has no tokens; leave it out");
    }

    /** Throws if a request could never be served, before it reaches the engine's thread. */
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
        if (prompt.length > maxPromptTokens(maxNewTokens, spec)) {
            throw new BadInput(promptTooLong(prompt.length, spec));
        }
        long length = Math.min(spec.contextLength(), (long) prompt.length + maxNewTokens);
        // The keys and values of the last token are never computed.
        int blocks = kv.blocksFor(Math.max(1, (int) length - 1));
        if (blocks > kv.blocks()) {
            throw new BadInput(
                    "the request may grow to " + length + " tokens, which need " + blocks
                            + " KV blocks, and the pool has " + kv.blocks(),
                    Remedy.of("raise %s or ask for fewer tokens", "kv_blocks"));
        }
    }

    /** Returns a duration in nanoseconds, clamped to {@link #UNLIMITED_NANOS}. */
    static long nanos(Duration duration) {
        return Math.min(UNLIMITED_NANOS, TimeUnit.NANOSECONDS.convert(duration));
    }
}

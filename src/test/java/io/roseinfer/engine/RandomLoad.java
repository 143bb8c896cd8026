package io.roseinfer.engine;

import io.roseinfer.backend.ModelRunner;
import io.roseinfer.base.Clock;
import io.roseinfer.kv.KvBlockPool;
import io.roseinfer.kv.KvProbe;
import io.roseinfer.metrics.StepRecord.Fact;
import io.roseinfer.observe.Observers;
import io.roseinfer.sampling.SamplingParams;
import io.roseinfer.scheduler.FinishReason;
import io.roseinfer.scheduler.SchedulerOptions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.IntConsumer;

/**
 * Random requests and cancellations on a real device, through the real loop, run by hand. Prompts share prefixes, the
 * KV pool is too small for all running requests, and blocks are filled with NaN when they become free. The tokens of
 * each request must equal the tokens of its solo run on the same device, or a prefix of them if it was cancelled.
 */
final class RandomLoad {
    private static final int TEMPLATES = 96;
    private static final int FAMILIES = 4;
    private static final int SHARED_TOKENS = 50;

    /** A request that is submitted repeatedly, with the tokens of its solo run. */
    private record Template(GenerationRequest request, long seed, int[] solo) {
        Template withSolo(int[] ids) {
            return new Template(request, seed, ids);
        }
    }

    private record Running(LiveRequest live, Template template) {}

    /** The totals of a load. */
    record Tally(
            int requests,
            int completed,
            int cancelled,
            long tokens,
            long steps,
            long preemptions,
            long cachedTokens,
            long poisonedBlocks) {
        @Override
        public String toString() {
            return requests + " requests, " + completed + " completed, " + cancelled + " cancelled, " + tokens
                    + " tokens, " + steps + " steps, " + preemptions + " preemptions, " + cachedTokens
                    + " prompt tokens from the cache, " + poisonedBlocks + " blocks filled with NaN";
        }
    }

    private final ModelRunner runner;
    private final IntConsumer poison;
    private final Dice dice;
    private final SchedulerOptions options;
    private final List<Template> templates = new ArrayList<>();
    private final List<Running> running = new ArrayList<>();
    private final boolean[] readable;
    private LoneLoop loop;
    private KvBlockPool pool;
    private int requests;
    private int completed;
    private int cancelled;
    private long tokens;
    private long poisoned;

    /**
     * Runs every kind of request alone to learn the expected tokens.
     *
     * @param poison fills a block with NaN before the next step
     */
    RandomLoad(ModelRunner runner, SchedulerOptions options, IntConsumer poison, long seed) {
        this.runner = runner;
        this.options = options;
        this.poison = poison;
        this.dice = new Dice(seed, "load");
        this.readable = new boolean[runner.kv().blocks()];
        // Chunked like the load, because the runner may have no room for a whole prompt.
        SchedulerOptions alone = SchedulerOptions.builder()
                .maxBatchSize(1)
                .prefixCache(false)
                .chunkedPrefill(options.chunkedPrefill())
                .prefillMaxTokens(options.prefillMaxTokens())
                .build();
        open(alone);
        Dice kinds = new Dice(seed, "templates");
        for (int i = 0; i < TEMPLATES; i++) {
            Template template = template(kinds, seed);
            LiveRequest live = submit(template);
            while (!live.tokens().isEnded()) {
                loop.doWork();
            }
            templates.add(template.withSolo(ids(live)));
        }
        loop.quiesce();
        open(options);
    }

    private void open(SchedulerOptions scheduler) {
        loop = new LoneLoop(runner, EngineOptions.defaults().withScheduler(scheduler), Clock.system(), Observers.NONE);
        pool = SimulatedEngine.schedulerOf(loop.loop()).pool();
    }

    private Template template(Dice kinds, long seed) {
        int vocabulary = runner.spec().vocabularySize();
        int family = kinds.below(FAMILIES + 2);
        int shared = family < FAMILIES ? kinds.between(0, SHARED_TOKENS) : 0;
        int longest = runner.spec().contextLength() - SHARED_TOKENS - 1;
        int[] prompt = new int[shared + kinds.between(1, Math.min(longest, kinds.chance(0.2) ? 180 : 30))];
        Dice common = new Dice(seed, "family " + family);
        for (int i = 0; i < prompt.length; i++) {
            prompt[i] = (i < shared ? common : kinds).below(vocabulary);
        }
        SamplingParams sampling =
                switch (kinds.below(8)) {
                    case 0, 1 ->
                        SamplingParams.greedy()
                                .withTemperature(0.9f)
                                .withTopK(40)
                                .withTopP(0.95f);
                    case 2 -> SamplingParams.random().withMinP(0.05f);
                    case 3 ->
                        SamplingParams.greedy()
                                .withRepetitionPenalty(1.2f)
                                .withPresencePenalty(0.1f)
                                .withFrequencyPenalty(0.1f)
                                .withLogprobs(2);
                    default -> SamplingParams.greedy();
                };
        int most = kinds.chance(0.2) ? 160 : 40;
        GenerationRequest request = GenerationRequest.ofTokens(prompt)
                .withMaxNewTokens(kinds.between(1, most))
                .withSampling(sampling)
                .withIgnoreEndOfText(kinds.coin());
        return new Template(request, kinds.below(1 << 20), new int[0]);
    }

    private LiveRequest submit(Template template) {
        int[] prompt = ((Prompt.Tokens) template.request().prompt()).ids();
        LiveRequest live = new LiveRequest(
                requests++, template.request(), template.seed(), runner.spec().contextLength(), Optional.empty());
        live.tokenized(prompt.length, 0);
        loop.submit(live, prompt);
        return live;
    }

    private static int[] ids(LiveRequest live) {
        int count = 0;
        while (live.tokens().isPublished(count)) {
            count++;
        }
        int[] ids = new int[count];
        for (int i = 0; i < count; i++) {
            ids[i] = live.tokens().id(i);
        }
        return ids;
    }

    /** Submits and cancels some requests, then runs one iteration. */
    void runIteration() {
        int most = 3 * options.maxBatchSize();
        for (int i = dice.chance(0.2) ? dice.between(1, options.maxBatchSize()) : dice.below(3);
                i > 0 && running.size() < most;
                i--) {
            Template template = templates.get(dice.below(TEMPLATES));
            running.add(new Running(submit(template), template));
        }
        while (!running.isEmpty() && dice.chance(0.08)) {
            loop.cancel(running.get(dice.below(running.size())).live());
        }
        loop.doWork();
        poisonWhatIsFree();
        collect();
    }

    private void poisonWhatIsFree() {
        for (int block = 0; block < readable.length; block++) {
            boolean free = KvProbe.isFree(pool, block);
            if (free && readable[block]) {
                poison.accept(block);
                poisoned++;
            }
            readable[block] = !free;
        }
    }

    private void collect() {
        for (int i = running.size() - 1; i >= 0; i--) {
            if (running.get(i).live().tokens().isEnded()) {
                check(running.remove(i));
            }
        }
    }

    private void check(Running ended) {
        LiveRequest live = ended.live();
        int[] solo = ended.template().solo();
        int[] seen = ids(live);
        tokens += seen.length;
        FinishReason reason = live.outcome().orElseThrow().reason();
        boolean called = reason == FinishReason.CANCELLED;
        Require.that(
                called || reason == FinishReason.LENGTH || reason == FinishReason.STOP,
                "request %d ended with %s",
                live.id(),
                reason);
        int[] expected = called ? Arrays.copyOf(solo, Math.min(seen.length, solo.length)) : solo;
        Require.that(
                Arrays.equals(seen, expected),
                "request %d of %s yields %s, alone %s",
                live.id(),
                ended.template().request().sampling(),
                Arrays.toString(seen),
                Arrays.toString(expected));
        cancelled += called ? 1 : 0;
        completed += called ? 0 : 1;
    }

    /** Completes all requests, and fails unless every block and request is accounted for. */
    Tally finish() {
        while (loop.hasWork()) {
            loop.doWork();
            poisonWhatIsFree();
        }
        collect();
        loop.check();
        EngineStats stats = loop.stats();
        Require.that(running.isEmpty(), "%d requests never ended", running.size());
        Require.that(stats.blocksInUse() == 0, "%d blocks are held without a request", stats.blocksInUse());
        Require.that(stats.active() + stats.waiting() == 0, "%d requests are still known", stats.active());
        return new Tally(
                requests - TEMPLATES,
                completed,
                cancelled,
                tokens,
                stats.steps(),
                stats.total(Fact.PREEMPTIONS),
                stats.total(Fact.CACHED_TOKENS),
                poisoned);
    }
}

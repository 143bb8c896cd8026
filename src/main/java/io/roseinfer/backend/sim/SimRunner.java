package io.roseinfer.backend.sim;

import io.roseinfer.backend.KvGeometry;
import io.roseinfer.backend.MemoryUse;
import io.roseinfer.backend.ModelRunner;
import io.roseinfer.backend.RunnerLimits;
import io.roseinfer.backend.StepCheck;
import io.roseinfer.backend.StepInputs;
import io.roseinfer.backend.StepOutputs;
import io.roseinfer.base.Check;
import io.roseinfer.base.RoseException.InsufficientMemory;
import io.roseinfer.base.SplitMix64;
import io.roseinfer.base.TokenMask;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.sampling.SampleRequest;
import java.lang.foreign.Arena;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The simulated model. Its KV pool stores token ids, one int per slot; an unwritten or poisoned slot makes the row fail as NaN would. The
 * tokens so far choose the most likely token; the next ids follow it in likelihood. Masks and biases of −∞ move a choice to the next allowed
 * token; other biases change nothing.
 */
public final class SimRunner implements ModelRunner {
    /** Content of an unwritten slot. */
    public static final int POISON = Integer.MIN_VALUE;

    /** Leaves 24 bits of a hash: a float's fraction. */
    private static final int FRACTION_SHIFT = 40;

    private static final float FRACTION = 0x1p-24f;

    private static final int DEFAULT_BLOCKS = 4096;

    /** Maximum tokens of a step with drafts, as on a GPU. */
    public static final int MAX_DRAFTED_TOKENS = 64;

    private record Step(StepInputs inputs, StepOutputs outputs) {}

    private final ModelSpec spec;
    private final RunnerLimits limits;
    private final SimOptions options;
    private final KvGeometry kv;
    private final Arena arena = Arena.ofShared();
    private final int[] slots;
    private final StepCheck check;
    private static final int MAX_SLOTS = 1 << 30;

    private final ArrayDeque<Step> submitted = new ArrayDeque<>();
    private @Nullable StepOutputs previous;
    private int samplesBefore;
    /** Whether only the pass of the step submitted last has been submitted. */
    private boolean lacksSampling;

    private long steps;

    public SimRunner(ModelSpec spec, RunnerLimits limits, SimOptions options) {
        this.spec = spec;
        this.limits = limits;
        this.options = options;
        int blocks = limits.kvBlocks() == 0 ? DEFAULT_BLOCKS : limits.kvBlocks();
        this.kv = new KvGeometry(limits.blockSize(), blocks, 4L * limits.blockSize());
        this.slots = new int[options.shapesOnly() ? 0 : slots(blocks, limits.blockSize())];
        Arrays.fill(slots, POISON);
        this.check = new StepCheck(spec, kv);
    }

    private static int slots(int blocks, int blockSize) {
        long slots = (long) blocks * blockSize;
        if (slots > MAX_SLOTS) {
            throw new InsufficientMemory("kv_blocks is " + blocks + ", " + slots
                    + " tokens; the simulated device has room for " + MAX_SLOTS + " tokens, so ask for at most "
                    + MAX_SLOTS / blockSize + " blocks of " + blockSize);
        }
        return (int) slots;
    }

    @Override
    public ModelSpec spec() {
        return spec;
    }

    @Override
    public KvGeometry kv() {
        return kv;
    }

    @Override
    public RunnerLimits limits() {
        return limits;
    }

    @Override
    public int maxInFlight() {
        return options.maxInFlight();
    }

    @Override
    public int maxDraftedTokens() {
        return MAX_DRAFTED_TOKENS;
    }

    @Override
    public StepInputs newInputs() {
        return options.shapesOnly()
                ? StepInputs.ofShapes(arena, limits)
                : new StepInputs(arena, limits, kv.blocksFor(spec.contextLength()));
    }

    @Override
    public StepOutputs newOutputs() {
        return new StepOutputs(limits.maxSamples());
    }

    @Override
    public void submit(StepInputs inputs, StepOutputs outputs) {
        submitPass(inputs, outputs);
        // The pass has just checked the samples.
        lacksSampling = false;
    }

    @Override
    public void submitSampling(StepInputs inputs, StepOutputs outputs) {
        Check.that(lacksSampling, "no step lacks its sampling");
        lacksSampling = false;
        check.checkSamples(inputs);
    }

    @Override
    public void submitPass(StepInputs inputs, StepOutputs outputs) {
        Check.that(!lacksSampling, "a step was submitted before the sampling of the last one");
        Check.that(submitted.size() < options.maxInFlight(), "too many steps in flight");
        check.check(inputs, samplesBefore);
        samplesBefore = inputs.samples();
        submitted.addLast(new Step(inputs, outputs));
        lacksSampling = true;
    }

    @Override
    public void await() {
        Check.that(submitted.size() > 1 || !lacksSampling, "a step was awaited before its sampling was submitted");
        Step step = Objects.requireNonNull(submitted.pollFirst(), "no step in flight");
        try {
            options.onStep().accept(steps++);
            run(step.inputs(), step.outputs());
        } finally {
            // A step after a lost one reads whatever is there, as on a real device.
            previous = step.outputs();
        }
    }

    private void run(StepInputs in, StepOutputs out) {
        options.faults().strike(in);
        for (int token = 0; !options.shapesOnly() && token < in.tokens(); token++) {
            slots[in.slot(token)] = resolved(in.tokenId(token));
        }
        for (int sample = 0; sample < in.samples(); sample++) {
            sample(in, out, sample);
        }
    }

    /** Resolves a token that was still on the device when the step was packed, from the previous step's samples. */
    private int resolved(int id) {
        return id >= 0 ? id : Objects.requireNonNull(previous).token(~id);
    }

    private void sample(StepInputs in, StepOutputs out, int sample) {
        int row = in.sampleRow(sample);
        if (options.faults().spoils(in, row)) {
            out.set(sample, 0, StepOutputs.Status.NON_FINITE);
            return;
        }
        SampleRequest request = in.sampling(sample);
        long hash = options.seed() + (request.params().isGreedy() ? 0 : request.seed());
        int length = in.sampleLength(sample);
        for (int position = options.readBack() ? 0 : length - 1; position < length; position++) {
            int token = options.shapesOnly()
                    ? resolved(in.tokenId(in.sampleToken(sample)))
                    : slots[slot(in, row, position)];
            if (token == POISON) {
                out.set(sample, 0, StepOutputs.Status.NON_FINITE);
                return;
            }
            hash = hash(hash, token, position);
        }
        int vocabulary = spec.vocabularySize();
        int best = (int) Long.remainderUnsigned(hash, vocabulary);
        boolean reports = in.reported(sample) != StepInputs.DRAWN;
        int token = reports ? in.reported(sample) : allowed(in, sample, best);
        if (token < 0) {
            out.set(sample, 0, StepOutputs.Status.NO_ALLOWED_TOKEN);
            return;
        }
        out.set(sample, token, StepOutputs.Status.OK);
        int place = Math.floorMod(token - best, vocabulary);
        out.setRank(sample, place + 1);
        out.setLogprob(sample, logprob(hash, place));
        for (int rank = 0; rank < Math.min(vocabulary, request.params().logprobs()); rank++) {
            out.setTop(sample, rank, (best + rank) % vocabulary, logprob(hash, rank));
        }
    }

    private static long hash(long before, int token, int position) {
        return SplitMix64.mix(before * 31 + token + ((long) position << 32));
    }

    /**
     * Returns the greedy token of a device of shapes with seed 0, unless the request restricts it.
     *
     * @param last the token before it
     * @param length the number of tokens before it, including the prompt
     */
    public static int nextToken(int last, int length, int vocabulary) {
        return (int) Long.remainderUnsigned(hash(0, last, length - 1), vocabulary);
    }

    private int slot(StepInputs in, int row, int position) {
        int block = in.block(in.blockStart(row) + position / kv.blockSize());
        return block * kv.blockSize() + position % kv.blockSize();
    }

    /** Returns the first token, cyclically from {@code choice}, that the sample may take; −1 if there is none. */
    private int allowed(StepInputs in, int sample, int choice) {
        if (!in.changesLogits(sample)) {
            return choice;
        }
        int vocabulary = spec.vocabularySize();
        for (int i = 0; i < vocabulary; i++) {
            int token = (choice + i) % vocabulary;
            TokenMask mask = in.mask(sample);
            if ((mask == null || mask.allows(token)) && !isForbidden(in, sample, token)) {
                return token;
            }
        }
        return -1;
    }

    private static boolean isForbidden(StepInputs in, int sample, int token) {
        for (int i = in.biasStart(sample); i < in.biasStart(sample + 1); i++) {
            if (in.biasToken(i) == token && in.bias(i) == Float.NEGATIVE_INFINITY) {
                return true;
            }
        }
        return false;
    }

    /** Returns the log-probability of a rank's token: it differs by context and decreases with rank. */
    private static float logprob(long hash, int rank) {
        return -(rank + 1 + (hash >>> FRACTION_SHIFT) * FRACTION);
    }

    /** Makes a block's contents unreadable, as after a release. */
    public void poison(int block) {
        Arrays.fill(slots, block * kv.blockSize(), (block + 1) * kv.blockSize(), POISON);
    }

    @Override
    public List<MemoryUse> memory() {
        return List.of(new MemoryUse("KV pool", kv.bytes()));
    }

    @Override
    public void close() {
        if (arena.scope().isAlive()) {
            arena.close();
        }
    }
}

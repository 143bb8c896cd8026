package io.roseinfer.backend.cuda;

import io.roseinfer.backend.KvGeometry;
import io.roseinfer.backend.MemoryUse;
import io.roseinfer.backend.ModelRunner;
import io.roseinfer.backend.Precision;
import io.roseinfer.backend.RunnerLimits;
import io.roseinfer.backend.StepCheck;
import io.roseinfer.backend.StepInputs;
import io.roseinfer.backend.StepOutputs;
import io.roseinfer.backend.StepOutputs.Status;
import io.roseinfer.backend.cuda.ForwardPass.Choice;
import io.roseinfer.backend.cuda.ForwardPass.Step;
import io.roseinfer.backend.cuda.GraphBuckets.Captured;
import io.roseinfer.backend.cuda.driver.Driver;
import io.roseinfer.backend.cuda.driver.PlatformThreads;
import io.roseinfer.base.Check;
import io.roseinfer.base.Clock;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.sampling.Sampler;
import io.roseinfer.sampling.SamplingParams;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A model on a GPU. Two steps may be in flight: the second reads the tokens that the first leaves on the device, so the device does
 * not wait for the host in between.
 *
 * <p>Sampling runs on the device. Decode steps and single short prompts are replayed as CUDA graphs.
 */
final class CudaModelRunner implements ModelRunner {
    private static final int IN_FLIGHT = 2;

    /** Maximum tokens of a step with drafts: up to here, weights are most of what a step reads. */
    private static final int DRAFTED_TOKENS = 64;

    private final CudaRank rank;
    private final KernelChoice kernels;
    private final KvPages pages;
    private final InputPacker packer;
    private final StepCheck check;
    /** The rows of the step being launched. */
    private final KernelRows kernelRows;

    private final GraphBuckets decodeGraphs;
    private final GraphBuckets promptGraphs;
    private final StepWait wait;
    private final Arena arena = Arena.ofShared();
    private int samplesBefore;
    /** Whether only the pass of the step submitted last has been submitted. */
    private boolean lacksSampling;

    private long submitted;
    private long awaited;
    private boolean closed;

    CudaModelRunner(CudaRank rank, KernelChoice kernels, CudaOptions options, Clock clock) {
        this.rank = rank;
        this.kernels = kernels;
        this.wait = new StepWait(
                clock,
                rank.budget(),
                () -> Driver.query(rank.stream().handle()),
                (code, what) -> rank.stream().check(code, what));
        this.pages = KvPages.of(rank.kv().blockSize());
        this.packer =
                new InputPacker(spec().vocabularySize(), pages, rank.buffers().widePages() > 0);
        this.check = new StepCheck(spec(), rank.kv());
        this.kernelRows = new KernelRows(rank.limits().maxRows());
        int rows = options.graphs()
                ? Math.max(rank.limits().decodeRows(), Math.min(rank.limits().draftedTokens(), DRAFTED_TOKENS))
                : 0;
        int longestPrompt = Math.min(rank.limits().maxTokens(), spec().contextLength());
        int tokens = options.graphs() ? Math.min(options.promptGraphTokens(), longestPrompt) : 0;
        this.decodeGraphs = rank.releases().add(GraphBuckets.ofBatches(rows), GraphBuckets::close);
        this.promptGraphs = rank.releases().add(GraphBuckets.ofPrompts(tokens, kernels.plans()), GraphBuckets::close);
        try (Arena warmUp = Arena.ofConfined()) {
            StepInputs nothing = new StepInputs(warmUp, rank.limits(), maxBlocksPerRow());
            nothing.clear();
            for (Choice choice : Choice.values()) {
                for (int size : decodeGraphs.sizes()) {
                    capture(decodeGraphs, nothing, new StepLayout(size, size, size), choice);
                }
                for (int size : promptGraphs.sizes()) {
                    capture(promptGraphs, nothing, new StepLayout(size, 1, 1), choice);
                }
            }
            prepareKernels(nothing);
        }
        // Over zeroed inputs, for the same reason.
        rank.forward().draw(new Step(new StepLayout(1, 1, 1), kernels.of(1, 1, 1, 1), 1, Choice.DRAW, 0), 1);
        rank.stream().synchronize();
    }

    /** Runs the kernels of every prompt size over an empty row: the first launch raises a kernel's shared memory limit. */
    private void prepareKernels(StepInputs nothing) {
        PendingStep pending = rank.pendingSteps().getFirst();
        StepLayout layout = new StepLayout(2, 1, 1);
        for (StepKernels chosen : kernels.ofPrompts(rank.limits().maxTokens())) {
            if (chosen.tiles().usesPromptTiles()) {
                rank.forward().preparePromptTiles();
            }
            upload(pending, nothing, layout);
            rank.forward().run(new Step(layout, chosen, 0, Choice.GREEDY, pending.buffer));
            rank.stream().synchronize();
        }
    }

    /** Runs a step of padding rows once, so that its kernels are loaded, and captures it for both buffers. */
    private void capture(GraphBuckets graphs, StepInputs nothing, StepLayout layout, Choice choice) {
        int decodeRows = layout.tokens() == layout.rows() ? layout.rows() : 0;
        StepKernels chosen = kernels.of(layout.tokens(), layout.rows(), layout.samples(), decodeRows);
        for (PendingStep pending : rank.pendingSteps()) {
            Step step = new Step(layout, chosen, decodeRows, choice, pending.buffer);
            upload(pending, nothing, layout);
            rank.forward().run(step);
            graphs.capture(step, rank.stream(), rank.forward());
        }
        rank.stream().synchronize();
    }

    private void upload(PendingStep pending, StepInputs in, StepLayout layout) {
        long bytes = packer.pack(in, kernelRows, layout, pending.number, pending.staging);
        rank.stream().upload(rank.buffers().inputs()[pending.buffer], pending.staging, bytes);
    }

    private void uploadSamples(PendingStep pending, StepInputs in) {
        long bytes = packer.packSamples(in, pending.sampleStaging);
        rank.stream().upload(rank.buffers().sampleInputs()[pending.buffer], pending.sampleStaging, bytes);
    }

    @Override
    public ModelSpec spec() {
        return rank.shape().spec();
    }

    @Override
    public KvGeometry kv() {
        return rank.kv();
    }

    @Override
    public RunnerLimits limits() {
        return rank.limits();
    }

    @Override
    public int maxInFlight() {
        return IN_FLIGHT;
    }

    @Override
    public int maxDraftedTokens() {
        return DRAFTED_TOKENS;
    }

    @Override
    public StepInputs newInputs() {
        Check.that(!closed, "inputs were asked of a closed runner");
        return new StepInputs(arena, rank.limits(), maxBlocksPerRow());
    }

    private int maxBlocksPerRow() {
        return rank.kv().blocksFor(spec().contextLength());
    }

    @Override
    public StepOutputs newOutputs() {
        return new StepOutputs(rank.limits().maxSamples());
    }

    @Override
    public void submit(StepInputs inputs, StepOutputs outputs) {
        start(inputs, outputs, choice(inputs), true);
    }

    @Override
    public void submitPass(StepInputs inputs, StepOutputs outputs) {
        start(inputs, outputs, Choice.DRAW, false);
    }

    @Override
    public void submitSampling(StepInputs inputs, StepOutputs outputs) {
        Check.that(lacksSampling, "no step lacks its sampling");
        PendingStep pending = rank.pendingSteps().get((int) ((submitted - 1) % IN_FLIGHT));
        lacksSampling = false;
        long context = rank.context().enter();
        try {
            check.checkSamples(inputs);
            uploadSamples(pending, inputs);
            rank.forward().draw(Objects.requireNonNull(pending.step), inputs.samples());
        } finally {
            rank.context().leave(context);
        }
    }

    private void start(StepInputs inputs, StepOutputs outputs, Choice choice, boolean samples) {
        Check.that(!closed, "a step was submitted to a closed runner");
        Check.that(submitted - awaited < IN_FLIGHT, "a step was submitted while two are in flight");
        Check.that(!lacksSampling, "a step was submitted before the sampling of the last one");
        long context = rank.context().enter();
        try {
            rank.stream().requireUsable();
            check.check(inputs, samplesBefore);
            samplesBefore = inputs.samples();
            PendingStep pending = rank.pendingSteps().get((int) (submitted % IN_FLIGHT));
            pending.inputs = inputs;
            pending.outputs = outputs;
            pending.choice = choice;
            pending.number = (int) (submitted + 1);
            launch(pending, inputs, samples);
            submitted++;
        } finally {
            rank.context().leave(context);
        }
    }

    private void launch(PendingStep pending, StepInputs in, boolean samples) {
        kernelRows.set(in);
        Captured captured = captured(pending, in);
        Step step = captured != null ? captured.step() : step(pending, in);
        boolean draws = step.choice() == Choice.DRAW;
        pending.step = step;
        pending.expectedTokens = draws ? in.samples() : step.layout().samples();
        upload(pending, in, step.layout());
        if (draws && samples) {
            uploadSamples(pending, in);
        }
        if (captured != null) {
            captured.graph().replay(rank.stream());
        } else {
            rank.forward().run(step);
        }
        if (!draws) {
            recordEnd(pending);
        } else if (samples) {
            rank.forward().draw(step, in.samples());
        } else {
            lacksSampling = true;
        }
    }

    private void recordEnd(PendingStep pending) {
        if (!pending.completesByTokens()) {
            rank.stream().check(Driver.record(pending.end, rank.stream().handle()), "recording an event");
        }
    }

    /** Returns the graph that covers this step, or null if there is none. */
    private @Nullable Captured captured(PendingStep pending, StepInputs in) {
        if (isDecode(in)) {
            return decodeGraphs.find(in.tokens(), pending.choice, pending.buffer);
        }
        boolean prompt = in.rows() == 1 && in.samples() == 1 && !hasLongPrompts(in);
        return prompt ? promptGraphs.find(in.tokens(), pending.choice, pending.buffer) : null;
    }

    private boolean isDecode(StepInputs in) {
        return in.tokens() == kernelRows.rows() && in.samples() == in.tokens();
    }

    /** Returns the step for launches without a graph. */
    private Step step(PendingStep pending, StepInputs in) {
        StepLayout layout = new StepLayout(in.tokens(), kernelRows.rows(), in.samples());
        int decodeRows = kernelRows.decodeRows();
        StepKernels chosen = hasLongPrompts(in)
                ? kernels.ofLongPrompts(in.tokens(), kernelRows.rows(), in.samples(), decodeRows)
                : kernels.of(in.tokens(), kernelRows.rows(), in.samples(), decodeRows);
        return new Step(layout, chosen, decodeRows, pending.choice, pending.buffer);
    }

    /** Returns whether the prompts of a step have more pages than can be widened. */
    private boolean hasLongPrompts(StepInputs in) {
        int most = rank.buffers().widePages();
        return most > 0 && pages.ofPrompts(in, kernelRows) > most;
    }

    private static Choice choice(StepInputs in) {
        Choice choice = Choice.GREEDY;
        for (int sample = 0; sample < in.samples(); sample++) {
            SamplingParams params = in.sampling(sample).params();
            boolean best =
                    params.isGreedy() && !params.hasPenalties() && params.logprobs() < 0 && !in.changesLogits(sample);
            choice = best ? choice : Choice.DRAW;
        }
        return choice;
    }

    @Override
    public void await() {
        Check.that(submitted > awaited, "no step was submitted");
        PendingStep pending = rank.pendingSteps().get((int) (awaited % IN_FLIGHT));
        awaited++;
        long context = rank.context().enter();
        try {
            finish(pending);
        } finally {
            rank.context().leave(context);
        }
        pending.inputs = null;
        pending.outputs = null;
        pending.step = null;
    }

    private void finish(PendingStep pending) {
        StepInputs in = Objects.requireNonNull(pending.inputs);
        StepOutputs out = Objects.requireNonNull(pending.outputs);
        if (pending.completesByTokens()) {
            wait.forTokens(pending.tokenSlots, pending.expectedTokens, pending.number, in);
        } else {
            wait.forEvent(pending.ended, pending.number, in);
        }
        for (int sample = 0; sample < in.samples(); sample++) {
            collect(pending, sample, in.sampling(sample).params().logprobs(), out);
        }
    }

    private void collect(PendingStep pending, int sample, int logprobs, StepOutputs out) {
        int token = pending.tokenSlots.token(sample);
        boolean usable = token >= 0 && token < spec().vocabularySize();
        Status refused = token == Sampler.NO_ALLOWED_TOKEN ? Status.NO_ALLOWED_TOKEN : Status.NON_FINITE;
        out.set(sample, usable ? token : 0, usable ? Status.OK : refused);
        if (usable && logprobs >= 0) {
            pending.logprobSlots.read(sample, Math.min(logprobs, spec().vocabularySize()), out);
        }
    }

    @Override
    public Optional<Precision> precision() {
        return Optional.of(rank.shape().weights().precision());
    }

    @Override
    public List<MemoryUse> memory() {
        return rank.memory().uses();
    }

    /** Returns the runner's rank; benchmarks launch its kernels one by one. */
    CudaRank rank() {
        return rank;
    }

    KernelChoice kernels() {
        return kernels;
    }

    /** Returns the logits of a sample in the step awaited last, which ran the sampling kernel; for comparing devices. */
    float[] logits(int sample) {
        Check.that(submitted == awaited, "logits are read while a step is in flight");
        long unused = rank.context().enter();
        float[] logits = new float[spec().vocabularySize()];
        try (Arena reading = Arena.ofConfined()) {
            MemorySegment row = reading.allocate(4L * logits.length, 64);
            long stride = 4L * rank.shape().paddedVocabulary();
            rank.stream().copyToHost(row, rank.buffers().logits() + stride * sample, row.byteSize());
            rank.stream().synchronize();
            MemorySegment.copy(row, ValueLayout.JAVA_FLOAT, 0, logits, 0, logits.length);
        }
        return logits;
    }

    /** Fills a block with NaN after all submitted steps, so that a read of an unwritten slot shows in the results. */
    void poison(int block) {
        Check.index(block, rank.kv().blocks(), "block");
        long unused = rank.context().enter();
        long layerBlock = rank.shape().layerBlockBytes(rank.kv().blockSize());
        for (int layer = 0; layer < spec().layers(); layer++) {
            rank.stream()
                    .fill(
                            rank.buffers().pool()
                                    + layer * layerBlock * rank.kv().blocks()
                                    + block * layerBlock,
                            0xff,
                            layerBlock);
        }
    }

    /** Frees everything; idempotent. A failed device is left to the end of the process. */
    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        arena.close();
        PlatformThreads.call(() -> {
            release();
            return true;
        });
    }

    private void release() {
        if (rank.stream().isLost()) {
            return;
        }
        boolean worked = rank.stream().usable();
        long context = rank.context().enter();
        try {
            if ((!rank.stream().isLate() || wait.isIdleSoon()) && rank.stream().drain()) {
                rank.releases().close();
            }
        } finally {
            rank.context().leaveForGood(context);
        }
        if (worked) {
            rank.stream().requireUsable();
        }
    }
}

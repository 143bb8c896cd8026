package io.roseinfer.backend.cuda;

import io.roseinfer.backend.KvGeometry;
import io.roseinfer.backend.MemoryUse;
import io.roseinfer.backend.ModelRunner;
import io.roseinfer.backend.Precision;
import io.roseinfer.backend.RunnerLimits;
import io.roseinfer.backend.StepCheck;
import io.roseinfer.backend.StepInputs;
import io.roseinfer.backend.StepOutputs;
import io.roseinfer.backend.cuda.ForwardPass.Choice;
import io.roseinfer.backend.cuda.ForwardPass.Step;
import io.roseinfer.backend.cuda.GraphBuckets.Captured;
import io.roseinfer.backend.cuda.driver.Driver;
import io.roseinfer.backend.cuda.driver.PlatformThreads;
import io.roseinfer.base.Check;
import io.roseinfer.base.Clock;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.sampling.SamplingParams;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A model on a GPU. Two steps may be in flight: the second reads tokens that the first leaves on the device, so the device does
 * not wait for the host between them.
 *
 * <p>Every step chooses its tokens on the device. It is a graph if every row brings one token, or if it is one short prompt.
 */
final class CudaModelRunner implements ModelRunner {
    private static final int IN_FLIGHT = 2;

    private final CudaRank on;
    private final KernelChoice kernels;
    private final InputPacker packer;
    private final StepCheck check;
    private final GraphBuckets decodeGraphs;
    private final GraphBuckets promptGraphs;
    private final StepWait wait;
    private final Arena arena = Arena.ofShared();
    private int samplesBefore;
    private long submitted;
    private long awaited;
    private boolean closed;

    CudaModelRunner(CudaRank on, KernelChoice kernels, CudaOptions options, Clock clock) {
        this.on = on;
        this.kernels = kernels;
        this.wait = new StepWait(
                clock,
                on.budget(),
                () -> Driver.query(on.stream().handle()),
                (code, what) -> on.stream().check(code, what));
        this.packer =
                new InputPacker(spec().vocabularySize(), KvPages.of(on.kv().blockSize()));
        this.check = new StepCheck(spec(), on.kv());
        int rows = options.graphs() ? on.limits().decodeRows() : 0;
        int longestPrompt = Math.min(on.limits().maxTokens(), spec().contextLength());
        int tokens = options.graphs() ? Math.min(options.promptGraphTokens(), longestPrompt) : 0;
        this.decodeGraphs = on.releases().add(GraphBuckets.ofBatches(rows), GraphBuckets::close);
        this.promptGraphs = on.releases().add(GraphBuckets.ofPrompts(tokens, kernels.plans()), GraphBuckets::close);
        try (Arena warmUp = Arena.ofConfined()) {
            StepInputs nothing = new StepInputs(warmUp, on.limits(), maxBlocksPerRow());
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
        on.stream().synchronize();
    }

    /** Runs the kernels of every size of prompt over an empty row: each is granted its shared memory when it is first launched. */
    private void prepareKernels(StepInputs nothing) {
        PendingStep place = on.places().getFirst();
        StepLayout layout = new StepLayout(1, 1, 1);
        for (StepKernels chosen : kernels.ofPrompts(on.limits().maxTokens())) {
            upload(place, nothing, layout);
            on.forward().run(new Step(layout, chosen, false, Choice.GREEDY, place.turn));
            on.stream().synchronize();
        }
    }

    /** Runs a step of empty rows once, so that its kernels are loaded, and captures it for both turns. */
    private void capture(GraphBuckets graphs, StepInputs nothing, StepLayout layout, Choice choice) {
        boolean decode = layout.tokens() == layout.rows();
        StepKernels chosen = kernels.of(layout.tokens(), layout.rows(), layout.samples(), decode ? layout.rows() : 0);
        for (PendingStep place : on.places()) {
            Step step = new Step(layout, chosen, decode, choice, place.turn);
            upload(place, nothing, layout);
            on.forward().run(step);
            graphs.capture(step, on.stream(), on.forward());
        }
        on.stream().synchronize();
    }

    private void upload(PendingStep place, StepInputs in, StepLayout layout) {
        long bytes = packer.pack(in, layout, place.number, place.staging);
        on.stream().upload(on.buffers().inputs()[place.turn], place.staging, bytes);
    }

    @Override
    public ModelSpec spec() {
        return on.shape().spec();
    }

    @Override
    public KvGeometry kv() {
        return on.kv();
    }

    @Override
    public RunnerLimits limits() {
        return on.limits();
    }

    @Override
    public int maxInFlight() {
        return IN_FLIGHT;
    }

    @Override
    public StepInputs newInputs() {
        Check.that(!closed, "inputs were asked of a closed runner");
        return new StepInputs(arena, on.limits(), maxBlocksPerRow());
    }

    private int maxBlocksPerRow() {
        return on.kv().blocksFor(spec().contextLength());
    }

    @Override
    public StepOutputs newOutputs() {
        return new StepOutputs(on.limits().maxRows());
    }

    @Override
    public void submit(StepInputs inputs, StepOutputs outputs) {
        Check.that(!closed, "a step was submitted to a closed runner");
        Check.that(submitted - awaited < IN_FLIGHT, "a step was submitted while two are in flight");
        long context = on.context().enter();
        try {
            start(inputs, outputs);
        } finally {
            on.context().leave(context);
        }
    }

    private void start(StepInputs inputs, StepOutputs outputs) {
        on.stream().requireUsable();
        check.check(inputs, samplesBefore);
        samplesBefore = inputs.samples();
        PendingStep place = on.places().get((int) (submitted % IN_FLIGHT));
        place.inputs = inputs;
        place.outputs = outputs;
        place.choice = choice(inputs);
        place.number = (int) (submitted + 1);
        launch(place, inputs);
        submitted++;
    }

    private void launch(PendingStep place, StepInputs in) {
        Captured captured = captured(place, in);
        Step step = captured != null ? captured.step() : step(place, in);
        place.mails = step.layout().samples();
        upload(place, in, step.layout());
        if (captured != null) {
            captured.graph().replay(on.stream());
        } else {
            on.forward().run(step);
        }
        if (!place.tellsByMail()) {
            on.stream().check(Driver.record(place.end, on.stream().handle()), "recording an event");
        }
    }

    /** The graph that this step is a replay of, or null if there is none. */
    private @Nullable Captured captured(PendingStep place, StepInputs in) {
        if (isDecode(in)) {
            return decodeGraphs.find(in.rows(), place.choice, place.turn);
        }
        boolean prompt = in.rows() == 1 && in.samples() == 1;
        return prompt ? promptGraphs.find(in.tokens(), place.choice, place.turn) : null;
    }

    private static boolean isDecode(StepInputs in) {
        return in.tokens() == in.rows() && in.samples() == in.rows();
    }

    /** A step as it is launched one kernel after the other. */
    private Step step(PendingStep place, StepInputs in) {
        StepLayout layout = new StepLayout(in.tokens(), in.rows(), in.samples());
        StepKernels chosen = kernels.of(in.tokens(), in.rows(), in.samples(), decodeRows(in));
        return new Step(layout, chosen, isDecode(in), place.choice, place.turn);
    }

    private static int decodeRows(StepInputs in) {
        int decodeRows = 0;
        for (int row = 0; row < in.rows(); row++) {
            decodeRows += in.rowStart(row + 1) - in.rowStart(row) == 1 ? 1 : 0;
        }
        return decodeRows;
    }

    private static Choice choice(StepInputs in) {
        Choice choice = Choice.GREEDY;
        for (int sample = 0; sample < in.samples(); sample++) {
            SamplingParams params = in.sampling(sample).params();
            boolean best = params.isGreedy() && !params.hasPenalties() && params.logprobs() < 0;
            choice = best ? choice : Choice.DRAW;
        }
        return choice;
    }

    @Override
    public void await() {
        Check.that(submitted > awaited, "no step was submitted");
        PendingStep place = on.places().get((int) (awaited % IN_FLIGHT));
        awaited++;
        long context = on.context().enter();
        try {
            finish(place);
        } finally {
            on.context().leave(context);
        }
        place.inputs = null;
        place.outputs = null;
    }

    private void finish(PendingStep place) {
        StepInputs in = Objects.requireNonNull(place.inputs);
        StepOutputs out = Objects.requireNonNull(place.outputs);
        if (place.tellsByMail()) {
            wait.forMail(place.mailbox, place.mails, place.number, in);
        } else {
            wait.forEvent(place.ended, place.number, in);
        }
        for (int sample = 0; sample < in.samples(); sample++) {
            collect(place, sample, in.sampling(sample).params().logprobs(), out);
        }
    }

    private void collect(PendingStep place, int sample, int logprobs, StepOutputs out) {
        int token = place.mailbox.token(sample);
        boolean usable = token >= 0 && token < spec().vocabularySize();
        out.set(sample, usable ? token : 0, usable ? StepOutputs.Status.OK : StepOutputs.Status.NON_FINITE);
        if (usable && logprobs >= 0) {
            place.reports.read(sample, Math.min(logprobs, spec().vocabularySize()), out);
        }
    }

    @Override
    public Optional<Precision> precision() {
        return Optional.of(on.shape().weights().precision());
    }

    @Override
    public List<MemoryUse> memory() {
        return on.memory().uses();
    }

    /** The runner's share of the device; benchmarks launch its kernels one by one. */
    CudaRank rank() {
        return on;
    }

    KernelChoice kernels() {
        return kernels;
    }

    /** The logits of a sample of the step awaited last, in which somebody drew or asked for a report. For holding devices together. */
    float[] logits(int sample) {
        Check.that(submitted == awaited, "logits are read while a step is in flight");
        long unused = on.context().enter();
        float[] logits = new float[spec().vocabularySize()];
        try (Arena reading = Arena.ofConfined()) {
            MemorySegment row = reading.allocate(4L * logits.length, 64);
            long stride = 4L * on.shape().paddedVocabulary();
            on.stream().copyToHost(row, on.buffers().logits() + stride * sample, row.byteSize());
            on.stream().synchronize();
            MemorySegment.copy(row, ValueLayout.JAVA_FLOAT, 0, logits, 0, logits.length);
        }
        return logits;
    }

    /**
     * Fills a block with NaN once all steps submitted so far are done with it: whatever reads a slot that no token wrote then
     * shows in its results.
     */
    void poison(int block) {
        Check.index(block, on.kv().blocks(), "block");
        long unused = on.context().enter();
        long layerBlock = on.shape().layerBlockBytes(on.kv().blockSize());
        for (int layer = 0; layer < spec().layers(); layer++) {
            on.stream()
                    .fill(
                            on.buffers().pool() + layer * layerBlock * on.kv().blocks() + block * layerBlock,
                            0xff,
                            layerBlock);
        }
    }

    /** Frees everything; does nothing the second time. A device that has failed is left to the end of the process. */
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
        if (on.stream().isLost()) {
            return;
        }
        boolean worked = on.stream().usable();
        long context = on.context().enter();
        try {
            if ((!on.stream().isLate() || wait.isIdleSoon()) && on.stream().drain()) {
                on.releases().close();
            }
        } finally {
            on.context().leaveForGood(context);
        }
        if (worked) {
            on.stream().requireUsable();
        }
    }
}

package io.roseinfer.engine;

import io.roseinfer.backend.KvGeometry;
import io.roseinfer.backend.MemoryUse;
import io.roseinfer.backend.ModelRunner;
import io.roseinfer.backend.RunnerLimits;
import io.roseinfer.backend.StepInputs;
import io.roseinfer.backend.StepOutputs;
import io.roseinfer.backend.sim.SimOptions;
import io.roseinfer.backend.sim.SimRunner;
import io.roseinfer.base.RoseException.DeviceFailure;
import io.roseinfer.base.SplitMix64;
import io.roseinfer.engine.Trace.Event;
import io.roseinfer.kv.KvBlockPool;
import io.roseinfer.kv.KvProbe;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.sampling.TokenHistory;
import io.roseinfer.scheduler.Sequence;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

/**
 * The simulated device under observation. It audits each step, tracks the token in every slot, fails according to the
 * settings, and makes the contents of free blocks unreadable.
 */
class WatchedRunner implements ModelRunner {
    /** The content before a sequence's first token. */
    static final long ROOT = 1;

    private static final long UNREADABLE = 0;

    private record Step(StepInputs inputs, StepOutputs outputs) {}

    private final SimRunner device;
    private final SimulationSettings settings;
    private final Dice dice;
    private final Trace trace;
    private final StepAudit audit;
    private final long[] contents;
    private final boolean[] dirty;
    private final ArrayDeque<Step> inFlight = new ArrayDeque<>();
    private final Set<TokenHistory> spoiled = Collections.newSetFromMap(new IdentityHashMap<>());
    private Runnable meanwhile = () -> {};
    private Consumer<StepInputs> onLaunch = inputs -> {};
    private Optional<KvBlockPool> pool = Optional.empty();
    private Optional<StepOutputs> completed = Optional.empty();
    private int samplesBefore;
    private boolean faultless;
    private int lost;

    WatchedRunner(SimulationSettings settings, Trace trace) {
        this.settings = settings;
        this.trace = trace;
        this.dice = new Dice(settings.seed(), "device");
        SimOptions options = SimOptions.defaults()
                .withSeed(settings.seed())
                .withMaxInFlight(settings.maxInFlight())
                .withOnStep(this::failPerhaps);
        this.device = new SimRunner(settings.spec(), settings.limits(), options);
        this.audit = new StepAudit(settings);
        this.contents = new long[device.kv().blocks() * device.kv().blockSize()];
        this.dirty = new boolean[device.kv().blocks()];
        Arrays.fill(contents, UNREADABLE);
    }

    /**
     * Sets the pool whose blocks the steps use.
     *
     * @param launched inspects each step when it is launched
     * @param elsewhere what other threads do while the loop takes commands or waits for the device
     */
    void watch(KvBlockPool watched, Consumer<StepInputs> launched, Runnable elsewhere) {
        pool = Optional.of(watched);
        onLaunch = launched;
        meanwhile = elsewhere;
    }

    void stopFaults() {
        faultless = true;
    }

    /** Returns the number of steps lost so far. */
    int lost() {
        return lost;
    }

    /** Returns whether the device itself made a request's logits unusable. */
    boolean hasSpoiled(Sequence sequence) {
        return spoiled.contains(sequence);
    }

    private void failPerhaps(long step) {
        if (faultless) {
            return;
        }
        if (step >= settings.faults().deviceLostAtStep()) {
            trace.add(Event.DEVICE_LOST, step, 0);
            throw new DeviceFailure("the simulated device is lost", false);
        }
        if (dice.chance(settings.faults().stepLost())) {
            throw new DeviceFailure("the simulated device lost a step", true);
        }
    }

    @Override
    public void submit(StepInputs inputs, StepOutputs outputs) {
        watch(inputs, outputs);
        device.submit(inputs, outputs);
    }

    @Override
    public void submitPass(StepInputs inputs, StepOutputs outputs) {
        watch(inputs, outputs);
        device.submitPass(inputs, outputs);
    }

    @Override
    public void submitSampling(StepInputs inputs, StepOutputs outputs) {
        device.submitSampling(inputs, outputs);
    }

    private void watch(StepInputs inputs, StepOutputs outputs) {
        Require.that(inFlight.size() < settings.maxInFlight(), "more than %d steps in flight", settings.maxInFlight());
        audit.check(inputs, samplesBefore, pool.orElseThrow());
        samplesBefore = inputs.samples();
        onLaunch.accept(inputs);
        trace.add(Event.LAUNCH, inputs.rows(), inputs.tokens());
        for (int row = 0; row < inputs.rows(); row++) {
            trace.add(Event.ROW, inputs.contextLength(row), inputs.slot(inputs.rowStart(row)));
        }
        inFlight.addLast(new Step(inputs, outputs));
    }

    @Override
    public void await() {
        meanwhile.run();
        Step step = inFlight.removeFirst();
        try {
            device.await();
            write(step.inputs());
            for (int sample = 0; sample < step.inputs().samples(); sample++) {
                checkContext(step.inputs(), sample);
                trace.add(Event.SAMPLE, sample, step.outputs().token(sample));
            }
            spoilPerhaps(step);
            trace.add(Event.COMPLETE, step.inputs().rows(), step.inputs().tokens());
        } catch (DeviceFailure failure) {
            lost++;
            trace.add(Event.STEP_LOST, step.inputs().rows(), step.inputs().tokens());
            throw failure;
        } finally {
            completed = Optional.of(step.outputs());
        }
    }

    private void write(StepInputs in) {
        int blockSize = kv().blockSize();
        for (int row = 0; row < in.rows(); row++) {
            for (int token = in.rowStart(row); token < in.rowStart(row + 1); token++) {
                int id = in.tokenId(token);
                int known = id >= 0 ? id : completed.orElseThrow().token(~id);
                long before = in.position(token) == 0 ? ROOT : contents[slot(in, row, in.position(token) - 1)];
                contents[in.slot(token)] = before == UNREADABLE ? UNREADABLE : after(before, known);
                dirty[in.slot(token) / blockSize] = true;
            }
        }
    }

    private int slot(StepInputs in, int row, int position) {
        int blockSize = kv().blockSize();
        return in.block(in.blockStart(row) + position / blockSize) * blockSize + position % blockSize;
    }

    /**
     * Returns the content of a token's slot, given the previous token's content: like real keys and values, it depends on
     * all tokens up to it.
     */
    static long after(long before, int token) {
        return SplitMix64.mix(before * 31 + token) | 1;
    }

    /** Checks that a row attends to the tokens of its request, regardless of who wrote them. */
    private void checkContext(StepInputs in, int sample) {
        Sequence sequence = (Sequence) in.sampling(sample).history();
        if (sequence.finishReason().isPresent()) {
            return;
        }
        int row = in.sampleRow(sample);
        int known = Math.min(in.contextLength(row), sequence.length());
        long expected = ROOT;
        for (int position = 0; position < known; position++) {
            expected = after(expected, sequence.token(position));
            Require.that(
                    contents[slot(in, row, position)] == expected,
                    "request %d reads at position %d, in slot %d, %s",
                    sequence.id(),
                    position,
                    slot(in, row, position),
                    contents[slot(in, row, position)] == UNREADABLE
                            ? "what was never written, or was free since"
                            : "what is not its own");
        }
    }

    private void spoilPerhaps(Step step) {
        if (faultless || step.inputs().samples() == 0) {
            return;
        }
        int victim = dice.below(step.inputs().samples());
        if (dice.chance(settings.faults().notFinite())) {
            trace.add(Event.NAN_ROW, victim, 0);
            step.outputs().set(victim, 0, StepOutputs.Status.NON_FINITE);
            spoiled.add(step.inputs().sampling(victim).history());
        } else if (dice.chance(settings.faults().badId())) {
            int id = dice.coin() ? settings.vocabularySize() + dice.below(3) : -1 - dice.below(3);
            trace.add(Event.BAD_ID, victim, id);
            step.outputs().set(victim, id, StepOutputs.Status.OK);
            spoiled.add(step.inputs().sampling(victim).history());
        }
    }

    /** Checks after an iteration that steps in flight hold their blocks, and makes free blocks unreadable. */
    void endIteration() {
        KvBlockPool blocks = pool.orElseThrow();
        for (Step step : inFlight) {
            StepInputs in = step.inputs();
            for (int i = 0; i < in.blockStart(in.rows()); i++) {
                Require.that(
                        blocks.references(in.block(i)) > 0, "block %d of a step in flight is not held", in.block(i));
            }
        }
        for (int block = 0; block < dirty.length; block++) {
            if (dirty[block] && KvProbe.isFree(blocks, block)) {
                device.poison(block);
                Arrays.fill(contents, block * kv().blockSize(), (block + 1) * kv().blockSize(), UNREADABLE);
                dirty[block] = false;
            }
        }
    }

    /** Returns the content of a slot, computed by {@link #after} from {@link #ROOT}. */
    long content(int slot) {
        return contents[slot];
    }

    @Override
    public ModelSpec spec() {
        meanwhile.run();
        return device.spec();
    }

    @Override
    public KvGeometry kv() {
        return device.kv();
    }

    @Override
    public RunnerLimits limits() {
        return device.limits();
    }

    @Override
    public int maxInFlight() {
        return device.maxInFlight();
    }

    @Override
    public int maxDraftedTokens() {
        return device.maxDraftedTokens();
    }

    @Override
    public StepInputs newInputs() {
        return device.newInputs();
    }

    @Override
    public StepOutputs newOutputs() {
        return device.newOutputs();
    }

    @Override
    public List<MemoryUse> memory() {
        return device.memory();
    }

    @Override
    public void close() {
        device.close();
    }
}

package io.roseinfer.scheduler;

import io.roseinfer.kv.BlockTable;
import io.roseinfer.sampling.SampleRequest;
import io.roseinfer.sampling.SamplingParams;
import io.roseinfer.sampling.TokenHistory;
import io.roseinfer.scheduler.policy.AdmissionPolicy;
import io.roseinfer.scheduler.policy.RunningRequest;
import io.roseinfer.scheduler.policy.WaitingRequest;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * One request's tokens and how far their keys and values have been computed.
 *
 * <pre>
 *   0 …… confirmed …… computed …… length − pending …… length …… maxLength
 *   applied steps   steps in flight   known tokens   being sampled
 * </pre>
 *
 * <p>The scheduler's thread owns it once it has been added; {@code confirmed ≤ computed ≤ length ≤ maxLength} always.
 */
public final class Sequence implements TokenHistory, WaitingRequest, RunningRequest {
    enum State {
        WAITING,
        ACTIVE,
        FINISHED
    }

    /** New tokens that there is room for at first. */
    private static final int FIRST_TOKENS = 128;

    private final long id;
    private final Object owner;
    private final int promptLength;
    private final int maxLength;
    private final int[] endOfText;
    private final SampleRequest sampling;
    private final BlockTable table;

    State state = State.WAITING;
    int computed;
    int confirmed;
    /** The most tokens it has ever had computed; more than {@link #computed} after a preemption. */
    int reached;

    int inFlight;
    int cachedTokens;
    int preemptions;
    int timesPassedOver;
    /** Left out of a step because another sequence of that step computes a block they share. */
    boolean deferred;
    /** Which sample of the step in flight yields the pending token. */
    int pendingSample;

    /** The last step it is part of. */
    long plannedStep = -1;

    long arrival;
    long arrivalStep;

    @Nullable
    Sequence previous;

    @Nullable
    Sequence next;

    @Nullable
    SequenceList list;

    private volatile int scheduler = WaitingRoom.ANY;

    /** The ids, with room for more: it grows with the sequence, up to {@link #maxLength}. */
    private int[] tokens;

    private int length;
    private int pending;
    private int priority;
    private Optional<Object> tag = Optional.empty();
    private @Nullable FinishReason finishReason;

    /**
     * A sequence that waits to be added.
     *
     * @param id the caller's name for it
     * @param owner what the caller wants to find again when the sequence comes back in a plan; never looked into
     * @param prompt the prompt's ids, within the vocabulary
     * @param maxLength tokens at which the completion ends, the prompt's included
     * @param params how tokens are chosen
     * @param seed the random stream
     * @param endOfText ids that end the completion; empty to generate on
     */
    public Sequence(
            long id, Object owner, int[] prompt, int maxLength, SamplingParams params, long seed, int[] endOfText) {
        this.id = id;
        this.owner = owner;
        this.promptLength = prompt.length;
        this.maxLength = maxLength;
        this.tokens = Arrays.copyOf(prompt, Math.min(maxLength, prompt.length + FIRST_TOKENS));
        this.length = prompt.length;
        this.endOfText = endOfText.clone();
        this.sampling = new SampleRequest(params, seed, this);
        this.table = new BlockTable(maxLength);
    }

    @Override
    public long id() {
        return id;
    }

    /** Gives it the caller's priority and tag, for policies to look at; before it is added. Returns this sequence. */
    public Sequence marked(int callersPriority, Optional<Object> callersTag) {
        priority = callersPriority;
        tag = callersTag;
        return this;
    }

    /** Returns a sequence that has computed nothing, for a scheduler other than the one that admitted this one; it keeps its arrival. */
    public Sequence again() {
        Sequence again = new Sequence(id, owner, promptIds(), maxLength, sampling.params(), sampling.seed(), endOfText)
                .marked(priority, tag);
        again.arrive(arrival, arrivalStep);
        again.timesPassedOver = timesPassedOver;
        return again;
    }

    void bind(int to) {
        scheduler = to;
    }

    /** The scheduler that it is bound to or that has admitted it, by its number in the room; {@link WaitingRoom#ANY} if there is none. */
    public int scheduler() {
        return scheduler;
    }

    void arrive(long number, long step) {
        arrival = number;
        arrivalStep = step;
    }

    @Override
    public long arrival() {
        return arrival;
    }

    @Override
    public long arrivalStep() {
        return arrivalStep;
    }

    @Override
    public int priority() {
        return priority;
    }

    @Override
    public Optional<Object> tag() {
        return tag;
    }

    @Override
    public int cachedLength() {
        return table.reusable(tokens, length);
    }

    @Override
    public int heldBlocks() {
        return table.size();
    }

    @Override
    public int remainingTokens() {
        return remaining();
    }

    @Override
    public int remainingNewTokens() {
        return maxLength - length();
    }

    @Override
    public int timesPassedOver() {
        return timesPassedOver;
    }

    @Override
    public boolean isRestart() {
        return preemptions > 0;
    }

    /** Whether it is offered before all others and keeps those after it waiting until it is admitted. */
    boolean mustBeNext() {
        return isRestart() || timesPassedOver >= AdmissionPolicy.MAX_PASSES;
    }

    /** Whether it has been skipped as often as a sequence may be. */
    boolean isAtBound() {
        return !isRestart() && timesPassedOver >= AdmissionPolicy.MAX_PASSES;
    }

    public Object owner() {
        return owner;
    }

    @Override
    public int promptLength() {
        return promptLength;
    }

    /** The prompt's ids, a copy; any thread, since nothing changes them. */
    public int[] promptIds() {
        return Arrays.copyOf(tokens, promptLength);
    }

    /** Tokens whose ids are known: the prompt and what has been generated. */
    @Override
    public int length() {
        return length - pending;
    }

    @Override
    public int token(int index) {
        return tokens[index];
    }

    /** Most tokens it will ever have. */
    public int maxLength() {
        return maxLength;
    }

    /** Most tokens whose keys and values it will ever hold: those of the last token are never computed. */
    public int maxComputed() {
        return maxLength - 1;
    }

    public SampleRequest sampling() {
        return sampling;
    }

    public BlockTable table() {
        return table;
    }

    /** Prompt tokens that were found in the prefix cache when it was admitted first. */
    public int cachedTokens() {
        return cachedTokens;
    }

    /** How often it had to give its blocks back and start over. */
    @Override
    public int preemptions() {
        return preemptions;
    }

    /** Whether it ended, and why. */
    public Optional<FinishReason> finishReason() {
        return Optional.ofNullable(finishReason);
    }

    /** Whether it is waiting for its first or next admission. */
    public boolean isWaiting() {
        return state == State.WAITING;
    }

    int plannedLength() {
        return length;
    }

    /** Tokens still to be computed before the next one can be sampled. */
    int remaining() {
        return length - computed;
    }

    /** Whether the last token is being sampled by a step in flight, so that only the device knows it. */
    boolean hasPending() {
        return pending > 0;
    }

    /** Moves the marks over its row of a step. */
    void advance(long step, int count, int sample) {
        computed += count;
        reached = Math.max(reached, computed);
        inFlight++;
        plannedStep = step;
        if (sample != StepPlan.NO_SAMPLE) {
            length++;
            pending++;
            pendingSample = sample;
        }
    }

    /** The oldest pending token has become known. */
    void resolve(int token) {
        int index = length - pending;
        if (index == tokens.length) {
            int[] larger = Arrays.copyOf(tokens, (int) Math.min(maxLength, 2L * index));
            // Other threads may read the prompt's ids: they see this array only with its contents.
            VarHandle.releaseFence();
            tokens = larger;
        }
        tokens[index] = token;
        pending--;
    }

    boolean endsWith(int token) {
        for (int end : endOfText) {
            if (end == token) {
                return true;
            }
        }
        return false;
    }

    void finish(FinishReason reason) {
        state = State.FINISHED;
        finishReason = reason;
    }

    void publish() {
        table.publish(tokens, confirmed);
    }

    /**
     * Whether another sequence, one of a step in the making, is about to compute the block that comes next after what this one
     * has taken from the cache; it can be taken from there too before long.
     */
    boolean nextBlockIsComputedBy(Sequence other, int blockSize) {
        int from = table.size() * blockSize;
        int to = from + blockSize;
        return to < length
                && to <= other.length()
                && other.confirmed < to
                && table.continuesLike(other.table)
                && Arrays.equals(tokens, from, to, other.tokens, from, to);
    }

    int reuse() {
        return table.reuse(tokens, length);
    }
}

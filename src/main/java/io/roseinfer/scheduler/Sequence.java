package io.roseinfer.scheduler;

import io.roseinfer.kv.BlockTable;
import io.roseinfer.sampling.LogitConstraints;
import io.roseinfer.sampling.MaskSource;
import io.roseinfer.sampling.SampleRequest;
import io.roseinfer.sampling.SamplingParams;
import io.roseinfer.sampling.TokenHistory;
import io.roseinfer.scheduler.policy.Drafter;
import io.roseinfer.scheduler.policy.Drafter.Drafts;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The tokens of one request, and how many of them have their keys and values computed.
 *
 * <pre>
 *   0 …… confirmed …… computed …… length − pending …… length …… maxLength
 *   applied steps   steps in flight   known tokens   being sampled
 * </pre>
 *
 * <p>Owned by the scheduler's thread once it has been added. Always {@code confirmed ≤ computed ≤ length ≤ maxLength}.
 */
public final class Sequence implements TokenHistory {
    enum State {
        WAITING,
        ACTIVE,
        FINISHED
    }

    /** Initial capacity for generated tokens. */
    private static final int INITIAL_TOKENS = 128;

    /** Prompt tokens per token of initial room after the prompt. */
    private static final int PROMPT_TO_INITIAL = 8;

    private final long id;
    private final Object owner;
    private final int promptLength;
    private final int maxLength;
    private final int[] endOfText;
    private final SampleRequest sampling;
    private final BlockTable table;

    /** This sequence as policies see it while it waits. */
    final RequestView.Waiting waiting = new RequestView.Waiting(this);

    /** This sequence as policies see it while it holds KV blocks. */
    final RequestView.Running running = new RequestView.Running(this);

    State state = State.WAITING;
    int computed;
    int confirmed;
    /** The maximum of {@link #computed} so far; larger than it after a preemption. */
    int peakComputed;

    int inFlight;
    int cachedTokens;
    int preemptions;
    /** Preemptions that a policy wanted, not for lack of blocks. */
    int chosenPreemptions;
    /** Whether it was last preempted for lack of blocks, so that it is admitted before all others. */
    boolean restartsFirst;

    int timesPassedOver;
    /** Prompt tokens whose keys and values come with it when it is first admitted; 0 from then on. */
    int computedElsewhere;
    /** Whether it was left out of a step because another sequence of that step computes a block they share. */
    boolean deferred;
    /** The sample of the step in flight that will be the pending token. */
    int pendingSample;
    /** Drafts in its row in flight; until they are verified it has no other row. */
    int drafts;

    @Nullable
    Drafting drafting;

    /** Its index in the {@link SequenceView} that it was last in. */
    int viewIndex;

    /** The last step that includes this sequence. */
    long plannedStep = -1;

    long arrival;
    long arrivalStep;
    /** When the step of its last token had been applied; 0 before its first token. */
    long lastTokenNanos;

    @Nullable
    Sequence previous;

    @Nullable
    Sequence next;

    @Nullable
    SequenceList list;

    private volatile int scheduler = WaitingQueue.ANY;

    /** Token ids; grows up to {@link #maxLength}. */
    private int[] tokens;

    private int length;
    private int pending;
    /** Whether a step skipped its draw because its mask was not ready. */
    private boolean isLate;
    /** The next prompt token whose log-probability is to be reported; the prompt's length if there is none. */
    private int nextReport;

    private @Nullable SampleRequest reporting;
    private RequestTraits traits = RequestTraits.NONE;
    private LogitConstraints constraints = LogitConstraints.NONE;
    private MaskSource masks = MaskSource.NONE;
    private @Nullable FinishReason finishReason;

    /**
     * Creates a sequence to be added to a scheduler.
     *
     * @param id the caller's identifier
     * @param owner an object of the caller that {@link #owner} returns
     * @param prompt the prompt's token ids, all within the vocabulary
     * @param maxLength maximum tokens, including the prompt
     * @param params sampling parameters
     * @param seed seed of the random stream
     * @param endOfText ids that end the completion; empty to ignore end-of-text
     */
    public Sequence(
            long id, Object owner, int[] prompt, int maxLength, SamplingParams params, long seed, int[] endOfText) {
        this.id = id;
        this.owner = owner;
        this.promptLength = prompt.length;
        this.maxLength = maxLength;
        // A long prompt is copied again only for a long completion.
        int initial = prompt.length + Math.max(INITIAL_TOKENS, prompt.length / PROMPT_TO_INITIAL);
        this.tokens = Arrays.copyOf(prompt, Math.min(maxLength, initial));
        this.length = prompt.length;
        this.nextReport = prompt.length;
        this.endOfText = endOfText.clone();
        this.sampling = new SampleRequest(params, seed, this);
        this.table = new BlockTable(maxLength, this);
    }

    public long id() {
        return id;
    }

    /** Sets what policies see of the caller's statements; must be called before it is added. Returns this sequence. */
    public Sequence setTraits(RequestTraits callersTraits) {
        traits = callersTraits;
        return this;
    }

    /** Sets the constraints of its samples; must be called before it is added. Returns this sequence. */
    public Sequence setConstraints(LogitConstraints callersConstraints) {
        constraints = callersConstraints;
        return this;
    }

    public LogitConstraints constraints() {
        return constraints;
    }

    /** Sets the masks of its samples; must be called before it is added. */
    public void setMasks(MaskSource source) {
        masks = source;
    }

    public MaskSource masks() {
        return masks;
    }

    /**
     * Reports the log-probability of each prompt token but the first; must be called before it is added. Such a sequence
     * takes from the prefix cache only what has been reported. Returns this sequence.
     *
     * @param tops number of most likely tokens to report for each
     */
    public Sequence setPromptLogprobs(int tops) {
        nextReport = 1;
        reporting = new SampleRequest(SamplingParams.greedy().withLogprobs(tops), 0, TokenHistory.NONE);
        return this;
    }

    /**
     * Adds the first generated token to a sequence whose prompt another scheduler has computed; must be called before it is
     * added. At its first admission it gets blocks with the prompt's keys and values, and decodes. After a preemption it
     * computes them itself. Returns this sequence.
     */
    public Sequence setComputedPrompt(int firstToken) {
        set(length++, firstToken);
        computedElsewhere = promptLength;
        return this;
    }

    /** Returns whether it waits for its first admission with a prompt that another scheduler has computed. */
    public boolean isPromptComputed() {
        return computedElsewhere > 0;
    }

    /** Returns the inputs of samples that report; only for sequences with {@link #setPromptLogprobs}. */
    public SampleRequest reporting() {
        return Objects.requireNonNull(reporting);
    }

    /**
     * Returns a copy with nothing computed, for another scheduler than the one that admitted this sequence. It keeps
     * its arrival and its number of passes; the caller sets new masks.
     */
    public Sequence newAttempt() {
        Sequence again = new Sequence(id, owner, promptIds(), maxLength, sampling.params(), sampling.seed(), endOfText)
                .setTraits(traits)
                .setConstraints(constraints);
        if (reporting != null) {
            again.setPromptLogprobs(reporting.params().logprobs());
        }
        again.setArrival(arrival, arrivalStep);
        again.timesPassedOver = timesPassedOver;
        again.bind(scheduler);
        return again;
    }

    void bind(int to) {
        scheduler = to;
    }

    /** Returns the number of the scheduler that it is bound to or admitted by, or {@link WaitingQueue#ANY}. */
    public int scheduler() {
        return scheduler;
    }

    void setArrival(long number, long step) {
        arrival = number;
        arrivalStep = step;
    }

    RequestTraits traits() {
        return traits;
    }

    /** Returns this sequence as policies see it in its state. */
    RequestView view() {
        return isWaiting() ? waiting : running;
    }

    int predictedNewTokens() {
        return traits.predictedNewTokens().orElse(maxLength - promptLength);
    }

    /** Returns the predicted length of prompt and completion; at most the maximum. */
    public long predictedLength() {
        return Math.min(maxLength, (long) promptLength + predictedNewTokens());
    }

    /** Returns the number of leading tokens in the prefix cache. */
    int cachedLength() {
        return table.reusable(tokens, reusableLength());
    }

    /** Returns whether it ran before and was preempted. */
    public boolean isRestart() {
        return preemptions > 0;
    }

    /** Returns the number of preemptions for lack of blocks. */
    int forcedPreemptions() {
        return preemptions - chosenPreemptions;
    }

    /** Returns whether it is offered before all others and blocks the queue until it is admitted. */
    boolean mustBeNext(int maxPasses) {
        return restartsFirst || timesPassedOver >= maxPasses;
    }

    /** Returns whether it must be next because of its passes, not of a preemption. */
    boolean reachedMaxPasses(int maxPasses) {
        return !restartsFirst && timesPassedOver >= maxPasses;
    }

    public Object owner() {
        return owner;
    }

    @Override
    public int promptLength() {
        return promptLength;
    }

    /** Returns a copy of the prompt's ids. Safe from any thread, because they never change. */
    public int[] promptIds() {
        return Arrays.copyOf(tokens, promptLength);
    }

    /** Returns the number of known tokens: the prompt and the tokens generated so far. */
    @Override
    public int length() {
        return length - pending;
    }

    @Override
    public int token(int index) {
        return tokens[index];
    }

    /** Returns the maximum number of tokens. */
    public int maxLength() {
        return maxLength;
    }

    /**
     * Returns the maximum number of tokens whose keys and values are computed: all but the last token, and at least one.
     */
    public int maxComputed() {
        return Math.max(1, maxLength - 1);
    }

    public SampleRequest sampling() {
        return sampling;
    }

    public BlockTable table() {
        return table;
    }

    /** Returns the number of prompt tokens found in the prefix cache at its first admission. */
    public int cachedTokens() {
        return cachedTokens;
    }

    /** Returns how often it was preempted. */
    public int preemptions() {
        return preemptions;
    }

    /** Returns why it ended, or empty if it has not. */
    public Optional<FinishReason> finishReason() {
        return Optional.ofNullable(finishReason);
    }

    /** Returns whether it waits for its first or next admission. */
    public boolean isWaiting() {
        return state == State.WAITING;
    }

    int plannedLength() {
        return length;
    }

    /** Returns the number of tokens to compute before the next one can be drawn, or before it ends without drawing any. */
    int goal() {
        return Math.min(length, maxComputed());
    }

    /** Returns the number of tokens that are missing for {@link #goal}. */
    int remaining() {
        return goal() - computed;
    }

    int nextReport() {
        return nextReport;
    }

    /** Returns whether prompt tokens are still to be reported. */
    boolean hasReports() {
        return nextReport < promptLength;
    }

    /** Returns the number of reports of a row of the next {@code count} tokens. */
    int reportsIn(int count) {
        return Math.max(0, Math.min(computed + count, promptLength - 1) - nextReport + 1);
    }

    /**
     * Returns how many tokens a row of the next {@code count} tokens draws: one after the last known token, and one after
     * each draft beyond it.
     */
    int drawsIn(int count) {
        return length < maxLength ? Math.max(0, computed + count - length + 1) : 0;
    }

    /** Returns the maximum number of tokens of its next row, at least one, for {@code samples}, which is positive. */
    int tokensFor(int samples) {
        return samples > promptLength - nextReport ? remaining() : nextReport - 1 + samples - computed;
    }

    /** Returns the number of tokens before which cached ones can be reused: a token is computed if a report follows it. */
    private int reusableLength() {
        return hasReports() ? nextReport : goal();
    }

    /** Returns whether the last token is being sampled by a step in flight, so that only the device knows it. */
    boolean hasPending() {
        return pending > 0;
    }

    /** Returns whether its next row draws by a token that only the device knows, or a mask that is not ready. */
    boolean awaitsSampleInputs() {
        return hasPending() ? constraints.needsTokens() || masks.needsTokens() : !masks.isReady();
    }

    /** Returns whether it must be left out of a step: drafts are being verified, or a mask is late. */
    boolean mustWait() {
        return hasPending() ? drafts > 0 : isLate && !masks.isReady();
    }

    /** Takes back the draw of its row in flight; its last token is computed again by the row that draws. */
    void skipDraw() {
        length--;
        pending--;
        computed--;
        peakComputed = computed;
        isLate = true;
    }

    /**
     * Returns whether it may have drafts in a step, if its last token is known then; if masks depend on its tokens, whether it will have.
     *
     * @param scratch overwritten
     */
    boolean mayDraftAt(long step, int[] scratch) {
        boolean isDue = length + 1 < maxLength && (drafting == null || drafting.isDue(step));
        return isDue && (!masks.needsTokens() || masks.likelyTokens(pending + 1, scratch) > pending);
    }

    /** Returns the drafts of a drafter; if masks depend on its tokens, those that the masks make likely. */
    Drafts newDrafts(Drafter drafter) {
        return masks.needsTokens() ? (tokens, max, into) -> masks.likelyTokens(max, into) : drafter.newDrafts(running);
    }

    /** Sets the tokens after its last one, to be verified by its next row. */
    void setDrafts(int[] ids, int count) {
        for (int i = 0; i < count; i++) {
            set(length + i, ids[i]);
        }
    }

    /** Advances past the tokens of its row in a step. */
    void advance(long step, int count, int reports, int draws, int firstDraw) {
        computed += count;
        nextReport += reports;
        peakComputed = Math.max(peakComputed, computed);
        inFlight++;
        plannedStep = step;
        isLate = false;
        if (draws > 0) {
            length += draws;
            pending += draws;
            pendingSample = firstDraw;
            drafts = draws - 1;
        }
    }

    /** Sets the oldest pending token; returns whether it is the draft in its place, if there is one. */
    boolean resolve(int token) {
        int index = length - pending;
        boolean isDraft = index < tokens.length && tokens[index] == token;
        set(index, token);
        pending--;
        return isDraft;
    }

    private void set(int index, int token) {
        if (index == tokens.length) {
            int[] larger = Arrays.copyOf(tokens, (int) Math.min(maxLength, 2L * index));
            // Other threads may read the prompt's ids: publish the array only with its contents.
            VarHandle.releaseFence();
            tokens = larger;
        }
        tokens[index] = token;
    }

    /**
     * Rolls back the last {@code rejected} positions of its row, whose tokens were drafts that are not its tokens, and
     * releases their blocks.
     */
    void rollBack(int rejected) {
        length -= rejected;
        pending -= rejected;
        computed -= rejected;
        peakComputed = computed;
        table.shrink(computed);
    }

    boolean isEndOfText(int token) {
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
        // The caller may keep the sequence; an index of a long text is large.
        drafting = null;
    }

    void publish() {
        table.publish(tokens, confirmed);
    }

    /**
     * Returns whether {@code other}, which is part of the step being planned, is about to compute the block that
     * follows this sequence's cached prefix. After that step the block can be taken from the cache.
     */
    boolean nextBlockIsComputedBy(Sequence other, int blockSize) {
        int from = table.size() * blockSize;
        int to = from + blockSize;
        return to < reusableLength()
                && to <= other.length()
                && other.confirmed < to
                && table.matchesPublishedPrefixOf(other.table)
                && Arrays.equals(tokens, from, to, other.tokens, from, to);
    }

    int reuse() {
        return table.reuse(tokens, reusableLength());
    }
}

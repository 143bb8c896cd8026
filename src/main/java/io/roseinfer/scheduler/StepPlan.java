package io.roseinfer.scheduler;

import io.roseinfer.base.Check;
import io.roseinfer.metrics.StepRecord;
import io.roseinfer.metrics.StepRecord.Fact;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What one step computes: for each row a sequence, a run of its tokens, and whether the run's last token is sampled from. After
 * {@link Scheduler#apply} it also tells what each row yielded. Its owner may have it filled anew for another step.
 */
public final class StepPlan {
    /** {@link #pendingSample} of a row whose tokens are all known. */
    public static final int KNOWN = -1;

    /** {@link #sample} of a row from which no token is sampled. */
    public static final int NO_SAMPLE = -1;

    private final @Nullable Sequence[] sequences;
    private final int[] starts;
    private final int[] counts;
    private final int[] pendingSamples;
    private final int[] samples;
    private final int[] yielded;
    private final boolean[] hasYielded;
    private final int maxTokens;

    private long step;
    private int rows;
    private int tokens;
    private int sampleCount;
    private int prefillTokens;
    private int decodeRows;
    private long attended;
    private long fromCache;
    private long recomputed;
    private int forcedAdmissions;

    StepPlan(int maxRows, int maxTokens) {
        sequences = new Sequence[maxRows];
        starts = new int[maxRows];
        counts = new int[maxRows];
        pendingSamples = new int[maxRows];
        samples = new int[maxRows];
        yielded = new int[maxRows];
        hasYielded = new boolean[maxRows];
        this.maxTokens = maxTokens;
    }

    /** Starts anew. */
    void clear(long stepNumber) {
        step = stepNumber;
        rows = 0;
        tokens = 0;
        sampleCount = 0;
        prefillTokens = 0;
        decodeRows = 0;
        attended = 0;
        fromCache = 0;
        recomputed = 0;
        forcedAdmissions = 0;
    }

    /**
     * Adds the next {@code count} tokens of a sequence and moves its marks over them.
     *
     * @param admits whether the sequence waited until now
     */
    void addRow(Sequence sequence, int count, boolean admits) {
        Check.that(
                rows < sequences.length && tokens + count <= maxTokens,
                "a plan exceeds %d rows or %d tokens",
                sequences.length,
                maxTokens);
        int row = rows++;
        sequences[row] = sequence;
        starts[row] = sequence.computed;
        counts[row] = count;
        pendingSamples[row] = sequence.hasPending() ? sequence.pendingSample : KNOWN;
        samples[row] = sequence.remaining() == count ? sampleCount++ : NO_SAMPLE;
        hasYielded[row] = false;
        tokens += count;
        prefillTokens += Math.max(0, Math.min(count, sequence.promptLength() - sequence.computed));
        if (admits && !sequence.isRestart()) {
            fromCache += sequence.computed;
            sequence.cachedTokens = sequence.computed;
        }
        recomputed += Math.clamp(sequence.reached - sequence.computed, 0, count);
        forcedAdmissions += admits && sequence.isAtBound() ? 1 : 0;
        decodeRows += count == 1 && sequence.computed >= sequence.promptLength() ? 1 : 0;
        attended += (long) count * sequence.computed + (long) count * (count + 1) / 2;
        sequence.advance(step, count, samples[row]);
    }

    /** Whether a sequence has a row. */
    boolean has(Sequence sequence) {
        return sequence.plannedStep == step;
    }

    /** Adds what its rows come to. */
    void addTo(StepRecord totals) {
        totals.add(Fact.ROWS, rows);
        totals.add(Fact.TOKENS, tokens);
        totals.add(Fact.PREFILL_TOKENS, prefillTokens);
        totals.add(Fact.DECODE_ROWS, decodeRows);
        totals.add(Fact.ATTENDED, attended);
        totals.add(Fact.CACHED_TOKENS, fromCache);
        totals.add(Fact.RECOMPUTED_TOKENS, recomputed);
        totals.add(Fact.FORCED_ADMISSIONS, forcedAdmissions);
    }

    void setYielded(int row, int token) {
        yielded[row] = token;
        hasYielded[row] = true;
    }

    /** The step's number, counted from zero. */
    public long step() {
        return step;
    }

    public boolean isEmpty() {
        return rows == 0;
    }

    public int rows() {
        return rows;
    }

    /** Tokens of all rows. */
    public int tokens() {
        return tokens;
    }

    public Sequence sequence(int row) {
        return Objects.requireNonNull(sequences[row]);
    }

    /** Index in the sequence of the row's first token. */
    public int start(int row) {
        return starts[row];
    }

    public int count(int row) {
        return counts[row];
    }

    /** Which of the step's samples is taken from the row's last token, or {@link #NO_SAMPLE}. Samples are numbered in row order. */
    public int sample(int row) {
        return samples[row];
    }

    /** The sample of the step before that yields the row's last token, or {@link #KNOWN}. */
    public int pendingSample(int row) {
        return pendingSamples[row];
    }

    /** After the step was applied: whether the row's sequence got a token. */
    public boolean hasYielded(int row) {
        return hasYielded[row];
    }

    /** The token the row's sequence got, of a row that {@link #hasYielded} one. */
    public int yielded(int row) {
        return yielded[row];
    }
}

package io.roseinfer.scheduler;

import io.roseinfer.base.Check;
import io.roseinfer.metrics.StepRecord;
import io.roseinfer.metrics.StepRecord.Fact;
import io.roseinfer.metrics.WritableStep;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The input of one step: for each row a sequence, a range of its tokens, and its samples. After {@link Scheduler#apply}
 * it also has the sampled tokens. A plan can be filled again for a later step.
 *
 * <p>The samples of row r are {@code firstSample(r) … firstSample(r) + samples(r) - 1}. Their targets are consecutive
 * tokens of the sequence, from {@link #firstTarget}; each sample follows the token before its target. Samples of prompt
 * tokens report log-probabilities; the others draw. A row of several draws ends with drafts, one before each draw but the
 * first; a draw counts if all drafts before it were drawn, too.
 */
public final class StepPlan {
    /** {@link #pendingSample} of a row whose tokens are all known. */
    public static final int KNOWN = -1;

    /** {@link #failedSample} of a row whose samples are usable. */
    public static final int NO_SAMPLE = -1;

    private final @Nullable Sequence[] sequences;
    private final int[] starts;
    private final int[] counts;
    private final int[] pendingSamples;
    /** The first sample of each row, and the end of the last row's. */
    private final int[] firstSamples;

    private final int[] firstTargets;
    private final boolean[] skipsDraw;
    /** Results: samples of each row that were applied, and the sample that failed. */
    private final int[] appliedSamples;

    private final int[] failedSamples;
    /** Results: the token of each draw that was applied. */
    private final int[] sampledTokens;

    private final int maxTokens;
    private final int maxSamples;
    private final int maxPasses;

    private long step;
    private int rows;
    private int tokens;
    private int sampleCount;
    private boolean samplesLater;
    private int prefillTokens;
    private int decodeRows;
    private long attended;
    private long decodeAttended;
    private int longest;
    private long fromCache;
    private long recomputed;
    private int forcedAdmissions;
    private int draftRows;
    private int draftTokens;
    private int acceptedTokens;
    /** Results: rows that accepted the draft at each position. */
    private final int[] acceptedAt = new int[StepRecord.DRAFT_POSITIONS];

    StepPlan(int maxRows, int maxTokens, int maxSamples, int maxPasses) {
        this.maxPasses = maxPasses;
        sequences = new Sequence[maxRows];
        starts = new int[maxRows];
        counts = new int[maxRows];
        pendingSamples = new int[maxRows];
        firstSamples = new int[maxRows + 1];
        firstTargets = new int[maxRows];
        skipsDraw = new boolean[maxRows];
        appliedSamples = new int[maxRows];
        failedSamples = new int[maxRows];
        sampledTokens = new int[maxSamples];
        this.maxTokens = maxTokens;
        this.maxSamples = maxSamples;
    }

    /** Resets the plan for another step. */
    void clear(long stepNumber) {
        step = stepNumber;
        rows = 0;
        tokens = 0;
        sampleCount = 0;
        samplesLater = false;
        prefillTokens = 0;
        decodeRows = 0;
        attended = 0;
        decodeAttended = 0;
        longest = 0;
        fromCache = 0;
        recomputed = 0;
        forcedAdmissions = 0;
        draftRows = 0;
        draftTokens = 0;
        acceptedTokens = 0;
        Arrays.fill(acceptedAt, 0);
    }

    /**
     * Adds the next {@code count} tokens of a sequence and advances the sequence past them. Those beyond its length are
     * drafts.
     *
     * @param admits whether the sequence was waiting until now
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
        int reports = sequence.reportsIn(count);
        int draws = sequence.drawsIn(count);
        firstTargets[row] = reports > 0 ? sequence.nextReport() : sequence.plannedLength();
        appliedSamples[row] = 0;
        failedSamples[row] = NO_SAMPLE;
        int firstDraw = sampleCount + reports;
        sampleCount = firstDraw + draws;
        firstSamples[rows] = sampleCount;
        samplesLater |= draws > 0 && sequence.awaitsSampleInputs();
        skipsDraw[row] = false;
        Check.that(sampleCount <= maxSamples, "a plan has %d samples, more than %d", sampleCount, maxSamples);
        tokens += count;
        prefillTokens += Math.max(0, Math.min(count, sequence.promptLength() - sequence.computed));
        if (admits && !sequence.isRestart()) {
            fromCache += sequence.computed;
            sequence.cachedTokens = sequence.computed;
        }
        recomputed += Math.clamp(sequence.peakComputed - sequence.computed, 0, count);
        forcedAdmissions += admits && sequence.reachedMaxPasses(maxPasses) ? 1 : 0;
        int drafts = Math.max(0, draws - 1);
        draftRows += drafts > 0 ? 1 : 0;
        draftTokens += drafts;
        long positions = (long) count * sequence.computed + (long) count * (count + 1) / 2;
        if (count - drafts == 1 && sequence.computed >= sequence.promptLength()) {
            decodeRows++;
            decodeAttended += positions;
            longest = Math.max(longest, sequence.computed + count);
        }
        attended += positions;
        sequence.advance(step, count, reports, draws, firstDraw);
    }

    /** Returns whether a sequence has a row. */
    boolean contains(Sequence sequence) {
        return sequence.plannedStep == step;
    }

    /** Returns the positions that the longest decode row attends to; 0 without decode rows. */
    int longest() {
        return longest;
    }

    /** Adds the counts of its rows. */
    void addTo(WritableStep totals) {
        totals.add(Fact.ROWS, rows);
        totals.add(Fact.TOKENS, tokens);
        totals.add(Fact.PREFILL_TOKENS, prefillTokens);
        totals.add(Fact.DECODE_ROWS, decodeRows);
        totals.add(Fact.ATTENDED, attended);
        totals.add(Fact.DECODE_ATTENDED, decodeAttended);
        totals.add(Fact.CACHED_TOKENS, fromCache);
        totals.add(Fact.RECOMPUTED_TOKENS, recomputed);
        totals.add(Fact.FORCED_ADMISSIONS, forcedAdmissions);
        totals.add(Fact.DRAFTS, draftRows);
        totals.add(Fact.DRAFT_TOKENS, draftTokens);
    }

    /** Takes back the only draw of a row. */
    void skipDraw(int row) {
        skipsDraw[row] = true;
    }

    /** Returns whether the draw of a row was taken back. */
    boolean skipsDraw(int row) {
        return skipsDraw[row];
    }

    void setFailedSample(int row, int sample) {
        failedSamples[row] = sample;
    }

    void setSampledToken(int sample, int token) {
        sampledTokens[sample] = token;
    }

    /** Sets how many of a row's samples were applied. */
    void setApplied(int row, int count) {
        appliedSamples[row] = count;
    }

    /** Counts the drafts of a row that were accepted, its first {@code count}. */
    void addAccepted(int count) {
        acceptedTokens += count;
        for (int position = 0; position < count; position++) {
            acceptedAt[position]++;
        }
    }

    /** Fills in the counts of accepted drafts. */
    void recordAccepted(WritableStep step) {
        step.set(Fact.ACCEPTED_TOKENS, acceptedTokens);
        if (acceptedTokens == 0) {
            step.clearAcceptedAt();
            return;
        }
        for (int position = 0; position < acceptedAt.length; position++) {
            step.setAcceptedAt(position, acceptedAt[position]);
        }
    }

    /** Returns the number of rows with drafts. */
    int draftRows() {
        return draftRows;
    }

    /** Returns the number of drafts of all rows that were accepted when the step was applied. */
    public int acceptedTokens() {
        return acceptedTokens;
    }

    /** Drops the sampled tokens of a row after the first {@code count}, because a stop string ends the text there. */
    public void keepSampledTokens(int row, int count) {
        appliedSamples[row] = reports(row) + count;
    }

    /** Returns the step's number, counted from zero. */
    public long step() {
        return step;
    }

    public boolean isEmpty() {
        return rows == 0;
    }

    public int rows() {
        return rows;
    }

    /** Returns the number of tokens of all rows. */
    public int tokens() {
        return tokens;
    }

    public Sequence sequence(int row) {
        return Objects.requireNonNull(sequences[row]);
    }

    /** Returns the index of the row's first token in its sequence. */
    public int start(int row) {
        return starts[row];
    }

    public int count(int row) {
        return counts[row];
    }

    /** Returns whether a draw's masks or biases depend on tokens that were not known when the step was planned. */
    public boolean samplesLater() {
        return samplesLater;
    }

    /** Returns whether a row draws. */
    public boolean draws(int row) {
        return samples(row) > reports(row);
    }

    /** Returns the number of samples of all rows. */
    public int samples() {
        return sampleCount;
    }

    /** Returns how many samples can still be added. */
    int remainingSamples() {
        return maxSamples - sampleCount;
    }

    /** Returns the index of the row's first sample. Samples are numbered in row order. */
    public int firstSample(int row) {
        return firstSamples[row];
    }

    /** Returns the number of the row's samples. */
    public int samples(int row) {
        return firstSamples[row + 1] - firstSamples[row];
    }

    /** Returns the index in its sequence of the token that the row's first sample reports or draws. */
    public int firstTarget(int row) {
        return firstTargets[row];
    }

    /** Returns how many of the row's samples report the log-probability of a prompt token; they come first. */
    public int reports(int row) {
        return Math.clamp(sequence(row).promptLength() - firstTargets[row], 0, samples(row));
    }

    /** Returns the index of the row's first sample that draws, if there is one. */
    public int firstDraw(int row) {
        return firstSamples[row] + reports(row);
    }

    /** Returns whether the row's reports were applied; false for rows without reports. */
    public boolean hasReports(int row) {
        return reports(row) > 0 && appliedSamples[row] >= reports(row);
    }

    /** Returns the sample for which the row's sequence failed when the step was applied, or {@link #NO_SAMPLE}. */
    public int failedSample(int row) {
        return failedSamples[row];
    }

    /** Returns the sample of the previous step that is the row's last token, or {@link #KNOWN}. */
    public int pendingSample(int row) {
        return pendingSamples[row];
    }

    /** Returns how many tokens the row's sequence got when the step was applied. */
    public int sampledTokens(int row) {
        return Math.max(0, appliedSamples[row] - reports(row));
    }

    /** Returns a token of a row, {@code 0 <= index < sampledTokens(row)}; its sample is {@code firstDraw(row) + index}. */
    public int sampledToken(int row, int index) {
        return sampledTokens[firstDraw(row) + index];
    }
}

package io.roseinfer.scheduler;

import io.roseinfer.base.Check;
import io.roseinfer.metrics.StepRecord;
import io.roseinfer.metrics.StepRecord.Fact;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The input of one step: for each row a sequence, a range of its tokens, and its samples. After {@link Scheduler#apply}
 * it also has the sampled tokens. A plan can be filled again for a later step.
 *
 * <p>The samples of row r are {@code firstSample(r) … firstSample(r) + samples(r) - 1}. The first {@code reports(r)} of
 * them report log-probabilities of known prompt tokens, {@link #firstReported} and those after it, each after the token
 * before. The last one may draw the row's next token: see {@link #sample}.
 */
public final class StepPlan {
    /** {@link #pendingSample} of a row whose tokens are all known. */
    public static final int KNOWN = -1;

    /** {@link #sample} of a row that draws no token, and {@link #failedSample} of a row whose samples are usable. */
    public static final int NO_SAMPLE = -1;

    private final @Nullable Sequence[] sequences;
    private final int[] starts;
    private final int[] counts;
    private final int[] pendingSamples;
    private final int[] firstSamples;
    private final int[] reports;
    private final int[] firstReported;
    private final int[] samples;
    private final int[] failedSamples;
    private final boolean[] hasReports;
    private final int[] sampledTokens;
    private final boolean[] hasSampledToken;
    private final int maxTokens;
    private final int maxSamples;

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

    StepPlan(int maxRows, int maxTokens, int maxSamples) {
        sequences = new Sequence[maxRows];
        starts = new int[maxRows];
        counts = new int[maxRows];
        pendingSamples = new int[maxRows];
        firstSamples = new int[maxRows];
        reports = new int[maxRows];
        firstReported = new int[maxRows];
        samples = new int[maxRows];
        failedSamples = new int[maxRows];
        hasReports = new boolean[maxRows];
        sampledTokens = new int[maxRows];
        hasSampledToken = new boolean[maxRows];
        this.maxTokens = maxTokens;
        this.maxSamples = maxSamples;
    }

    /** Resets the plan for another step. */
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
     * Adds the next {@code count} tokens of a sequence and advances the sequence past them.
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
        firstSamples[row] = sampleCount;
        firstReported[row] = sequence.nextReport();
        reports[row] = sequence.reportsIn(count);
        sampleCount += reports[row];
        samples[row] = sequence.drawsAfter(count) ? sampleCount++ : NO_SAMPLE;
        Check.that(sampleCount <= maxSamples, "a plan has %d samples, more than %d", sampleCount, maxSamples);
        hasReports[row] = false;
        hasSampledToken[row] = false;
        failedSamples[row] = NO_SAMPLE;
        tokens += count;
        prefillTokens += Math.max(0, Math.min(count, sequence.promptLength() - sequence.computed));
        if (admits && !sequence.isRestart()) {
            fromCache += sequence.computed;
            sequence.cachedTokens = sequence.computed;
        }
        recomputed += Math.clamp(sequence.peakComputed - sequence.computed, 0, count);
        forcedAdmissions += admits && sequence.reachedMaxSkips() ? 1 : 0;
        decodeRows += count == 1 && sequence.computed >= sequence.promptLength() ? 1 : 0;
        attended += (long) count * sequence.computed + (long) count * (count + 1) / 2;
        sequence.advance(step, count, reports[row], samples[row]);
    }

    /** Returns whether a sequence has a row. */
    boolean contains(Sequence sequence) {
        return sequence.plannedStep == step;
    }

    /** Adds the counts of its rows. */
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

    void setHasReports(int row) {
        hasReports[row] = true;
    }

    void setFailedSample(int row, int sample) {
        failedSamples[row] = sample;
    }

    void setSampledToken(int row, int token) {
        sampledTokens[row] = token;
        hasSampledToken[row] = true;
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
        return reports[row] + (samples[row] == NO_SAMPLE ? 0 : 1);
    }

    /** Returns how many of the row's samples report the log-probability of a prompt token; they come first. */
    public int reports(int row) {
        return reports[row];
    }

    /** Returns the index in its sequence of the row's first token with a report, whose sample follows the token before. */
    public int firstReported(int row) {
        return firstReported[row];
    }

    /** Returns whether the row's reports were applied; false for rows without reports. */
    public boolean hasReports(int row) {
        return hasReports[row];
    }

    /** Returns the sample for which the row's sequence failed when the step was applied, or {@link #NO_SAMPLE}. */
    public int failedSample(int row) {
        return failedSamples[row];
    }

    /**
     * Returns the index of the sample that draws the row's next token, after its last one, or {@link #NO_SAMPLE}.
     */
    public int sample(int row) {
        return samples[row];
    }

    /** Returns the sample of the previous step that is the row's last token, or {@link #KNOWN}. */
    public int pendingSample(int row) {
        return pendingSamples[row];
    }

    /** Returns whether the row's sequence got a token when the step was applied. */
    public boolean hasSampledToken(int row) {
        return hasSampledToken[row];
    }

    /** Returns the token of a row for which {@link #hasSampledToken} returns true. */
    public int sampledToken(int row) {
        return sampledTokens[row];
    }
}

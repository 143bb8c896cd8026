package io.roseinfer.engine;

import io.roseinfer.backend.StepInputs;
import io.roseinfer.backend.sim.SimRunner;
import io.roseinfer.kv.KvBlockPool;
import io.roseinfer.sampling.TokenHistory;
import io.roseinfer.scheduler.SchedulerOptions;
import java.util.Arrays;

/** Checks every step before it runs, as a device would read it, and fails if it cannot be correct for any requests. */
final class StepAudit {
    private final SimulationSettings settings;
    private final int blockSize;
    private final long[] lastWritten;
    private long audits;

    StepAudit(SimulationSettings settings) {
        this.settings = settings;
        this.blockSize = settings.engine().blockSize();
        this.lastWritten = new long[settings.engine().kvBlocks() * blockSize];
        Arrays.fill(lastWritten, -1);
    }

    /**
     * Fails if a step is invalid.
     *
     * @param samplesBefore samples of the previous step, which rows may refer to
     */
    void check(StepInputs in, int samplesBefore, KvBlockPool pool) {
        audits++;
        checkBudget(in);
        for (int row = 0; row < in.rows(); row++) {
            checkRow(in, row, samplesBefore, pool);
        }
        checkRequests(in);
    }

    @SuppressWarnings("ReferenceEquality") // a request has one history object for its whole life
    private static void checkRequests(StepInputs in) {
        for (int a = 0; a < in.samples(); a++) {
            TokenHistory history = in.sampling(a).history();
            for (int b = 0; b < a; b++) {
                Require.that(
                        in.sampleRow(a) == in.sampleRow(b) || in.sampling(b).history() != history,
                        "a request has two rows in one step");
            }
        }
    }

    private void checkBudget(StepInputs in) {
        SchedulerOptions options = settings.engine().scheduler();
        int decodeRows = 0;
        int drafts = 0;
        for (int row = 0; row < in.rows(); row++) {
            decodeRows += in.rowStart(row + 1) - in.rowStart(row) - drafts(in, row) == 1 ? 1 : 0;
            drafts += drafts(in, row);
        }
        Require.that(
                drafts == 0 || in.tokens() <= SimRunner.MAX_DRAFTED_TOKENS,
                "a step of %d tokens has %d drafts",
                in.tokens(),
                drafts);
        int decodes = Math.min(decodeRows, options.maxBatchSize());
        boolean fits;
        if (options.chunkedPrefill()) {
            fits = in.rows() - decodes <= options.prefillMaxBatchSize()
                    && in.tokens() - drafts <= Math.max(options.prefillMaxTokens(), decodes + 1);
        } else {
            boolean decode = decodeRows == in.rows() && in.rows() <= options.maxBatchSize();
            fits = decode
                    || (in.rows() <= options.prefillMaxBatchSize()
                            && (in.rows() == 1 || in.tokens() <= options.prefillMaxTokens()));
        }
        Require.that(fits, "a step of %d rows and %d tokens exceeds %s", in.rows(), in.tokens(), options);
    }

    /** Returns the drafts of a row of a device without reports: it samples once more than it has drafts. */
    static int drafts(StepInputs in, int row) {
        int samples = 0;
        for (int sample = 0; sample < in.samples(); sample++) {
            samples += in.sampleRow(sample) == row ? 1 : 0;
        }
        return Math.max(0, samples - 1);
    }

    private void checkRow(StepInputs in, int row, int samplesBefore, KvBlockPool pool) {
        int first = in.rowStart(row);
        int end = in.rowStart(row + 1);
        int context = in.contextLength(row);
        int blocks = in.blockStart(row + 1) - in.blockStart(row);
        Require.that(end > first, "row %d has no token", row);
        Require.that(context <= settings.contextLength(), "row %d exceeds the context with %d tokens", row, context);
        Require.that(
                blocks == Math.ceilDiv(context, blockSize), "row %d: %d blocks for %d tokens", row, blocks, context);
        for (int token = first; token < end; token++) {
            int position = in.position(token);
            Require.that(position == context - (end - token), "row %d: token at position %d", row, position);
            int block = in.block(in.blockStart(row) + position / blockSize);
            int slot = in.slot(token);
            Require.that(
                    slot == block * blockSize + position % blockSize, "row %d: slot %d outside its block", row, slot);
            Require.that(
                    pool.references(block) == 1,
                    "row %d writes a block that %d tables hold",
                    row,
                    pool.references(block));
            Require.that(lastWritten[slot] != audits, "slot %d is written twice in a step", slot);
            lastWritten[slot] = audits;
            checkId(in.tokenId(token), token == end - 1, samplesBefore);
        }
    }

    private void checkId(int id, boolean isLast, int samplesBefore) {
        if (id >= 0) {
            Require.that(id < settings.vocabularySize(), "id %d is outside the vocabulary", id);
        } else {
            Require.that(
                    settings.maxInFlight() > 1 && isLast && ~id < samplesBefore,
                    "sample %d of a step with %d samples is referred to",
                    ~id,
                    samplesBefore);
        }
    }
}

package io.roseinfer.backend.cuda;

import io.roseinfer.backend.RunnerLimits;
import io.roseinfer.base.Remedy;
import io.roseinfer.base.RoseException.BadInput;

/** Limits of a launch: the attention grid has one y index per row and one per 64 prompt tokens. */
final class GridLimits {
    /** Maximum grid size along y, on every device. */
    private static final int MAX_GRID_Y = 65_535;

    private static final int TILE = 64;

    private GridLimits() {}

    /**
     * Requires that the largest step can be launched.
     *
     * @throws BadInput naming the options to lower
     */
    public static void require(RunnerLimits limits, String device) {
        long blocks = (long) limits.maxTokens() / TILE + limits.maxRows();
        if (blocks > MAX_GRID_Y) {
            throw new BadInput(
                    device + ": a step of " + limits.maxRows() + " rows and " + limits.maxTokens()
                            + " tokens takes a grid of " + blocks + " blocks, one for each row and for every " + TILE
                            + " tokens; at most " + MAX_GRID_Y
                            + " can be launched",
                    Remedy.of(
                            "use a smaller %s or %s (rows are their sum)", "max_batch_size", "prefill_max_batch_size"));
        }
    }
}

package io.roseinfer.backend.cuda;

/**
 * The kernel of a GEMM: a Hopper tile, the prompt GEMM, or the generic kernel.
 *
 * @param batch rows of activations per tile: 8, 16, 32, 64 or 128, for an int8 head at most 64
 * @param cluster split-K: blocks that share a tile and split k: 1, 2, 4 or 8
 * @param maxStages maximum weight and activation panels in a block's ring
 */
record GemmPlan(int batch, int cluster, int maxStages) {
    static final GemmPlan GENERIC = new GemmPlan(0, 1, 0);

    /** The prompt GEMM, whose {@link PromptTile} is chosen per matrix and number of tokens. */
    static final GemmPlan PROMPT = new GemmPlan(PromptTile.ROWS, 1, 0);

    private static final int PANEL_BYTES = 128;
    private static final int CONTROL_BYTES = 1024;
    private static final int GENERIC_COLUMNS = 64;

    /** Columns of a part of the moments that the prompt GEMM writes. */
    private static final int PROMPT_COLUMNS = 64;

    /** Launch configuration of a Hopper tile. */
    public record Tile(int columns, int threads, int stages, int sharedBytes) {}

    public boolean generic() {
        return batch == 0;
    }

    /** Returns whether this is {@link #PROMPT}. */
    public boolean prompt() {
        return equals(PROMPT);
    }

    /** Returns the columns of a part of the moments after a residual GEMM. */
    public int momentColumns() {
        return prompt() ? PROMPT_COLUMNS : columns(false);
    }

    /** Returns the suffix of the kernel's name; the prompt GEMM has one per tile. */
    public String suffix() {
        return generic() ? "generic" : "b" + batch;
    }

    /** Returns the outputs per row of a block. */
    public int columns(boolean head) {
        return generic() ? GENERIC_COLUMNS : 64 * columnGroups(head);
    }

    /**
     * Returns the grid's size along the outputs: one block per column tile, or for the persistent head of 128 rows as many as run at
     * once.
     */
    public int across(boolean head, int rows, int outputs, int multiprocessors) {
        int columnTiles = outputs / columns(head);
        boolean persistent = head && batch == 128;
        return persistent
                ? Math.min(columnTiles, Math.max(multiprocessors / Math.ceilDiv(rows, batch), 1))
                : columnTiles;
    }

    private int columnGroups(boolean head) {
        return head || batch >= 128 ? 2 : 1;
    }

    /**
     * Returns the launch shape for a matrix of {@code panels}. Shared memory has the ring of stages, later reused for accumulators, then
     * partials received from the cluster. A stage with an int8 weight panel, which is twice as long, has two activation panels.
     */
    public Tile tile(boolean head, int panels, ElementType weights) {
        int panelGroups = head || batch >= 128 ? 1 : 2;
        int columns = columns(head);
        int share = Math.ceilDiv(panels, cluster);
        int stages = share <= maxStages
                ? Math.max(share, 2)
                : Math.max(2 * panelGroups, maxStages / panelGroups * panelGroups);
        int ring = stages * (columns + weights.activationPanels() * batch) * PANEL_BYTES;
        int sums = panelGroups * batch * (columns + 4) * Float.BYTES;
        int received = cluster > 1 ? batch * columns * Float.BYTES : 0;
        int threads = 128 * columnGroups(head) * panelGroups + 64;
        return new Tile(columns, threads, stages, Math.max(ring, sums) + received + CONTROL_BYTES);
    }
}

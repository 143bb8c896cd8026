package io.roseinfer.backend.cuda;

/**
 * Which kernel does a GEMM: a tile of the Hopper kernels, or, with batch 0, the generic kernel.
 *
 * @param batch rows of activations per tile: 8, 16, 32, 64, 128 or, but for the head, 256; half as many with weights of one byte
 * @param cluster blocks that share a tile and split the summed index: 1, 2, 4 or 8
 * @param maxStages most panels of weights and activations that a block holds at a time
 */
record GemmPlan(int batch, int cluster, int maxStages) {
    static final GemmPlan GENERIC = new GemmPlan(0, 1, 0);

    private static final int PANEL_BYTES = 128;
    private static final int CONTROL_BYTES = 1024;
    private static final int GENERIC_COLUMNS = 64;

    /** Launch configuration of a Hopper tile. */
    public record Tile(int columns, int threads, int stages, int sharedBytes) {}

    public boolean generic() {
        return batch == 0;
    }

    /** Suffix of the kernel's name. */
    public String suffix() {
        return generic() ? "generic" : "b" + batch;
    }

    /** Outputs that one block makes per row. */
    public int columns(boolean head) {
        return generic() ? GENERIC_COLUMNS : 64 * columnGroups(head);
    }

    /**
     * Blocks side by side along the outputs: one for each stretch of columns, but of the head for 128 rows, whose blocks go from
     * stretch to stretch, as many as run at once.
     */
    public int across(boolean head, int rows, int outputs, int multiprocessors) {
        int stretches = outputs / columns(head);
        boolean persistent = head && batch == 128;
        return persistent ? Math.min(stretches, Math.max(multiprocessors / Math.ceilDiv(rows, batch), 1)) : stretches;
    }

    private int columnGroups(boolean head) {
        return head || batch >= 128 ? 2 : 1;
    }

    /**
     * The launch shape for a matrix of so many panels. Shared memory holds the ring of stages, or later the sums; behind it what
     * other blocks of the cluster send. Beside a panel of weights of one byte, which is twice as long, a stage has two panels of
     * activations.
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

package io.roseinfer.backend.cuda.driver;

/**
 * The most recent launches, for error messages: the driver reports a fault late and without the kernel. Recording allocates nothing.
 */
public final class LaunchLog {
    /** Number of launches kept. */
    static final int SIZE = 64;

    private final String[] kernels = new String[SIZE];
    private final int[] shapes = new int[SIZE * 4];
    private long launches;

    public void add(String kernel, int gridX, int gridY, int threads, int sharedBytes) {
        int at = (int) (launches % SIZE);
        kernels[at] = kernel;
        shapes[4 * at] = gridX;
        shapes[4 * at + 1] = gridY;
        shapes[4 * at + 2] = threads;
        shapes[4 * at + 3] = sharedBytes;
        launches++;
    }

    /** Returns the launches, newest first, with equal neighbors counted: {@code gemm_head_f16_b64<<<2x393, 320, 75776>>>}. */
    @Override
    public String toString() {
        StringBuilder all = new StringBuilder();
        long oldest = Math.max(0, launches - SIZE);
        for (long launch = launches - 1; launch >= oldest; ) {
            String text = text(launch);
            int count = 0;
            while (launch >= oldest && text(launch).equals(text)) {
                count++;
                launch--;
            }
            all.append(all.isEmpty() ? "" : ", ").append(text).append(count > 1 ? " x" + count : "");
        }
        return all.isEmpty() ? "none" : all.toString();
    }

    private String text(long launch) {
        int at = (int) (launch % SIZE);
        return kernels[at] + "<<<" + shapes[4 * at] + "x" + shapes[4 * at + 1] + ", " + shapes[4 * at + 2] + ", "
                + shapes[4 * at + 3] + ">>>";
    }
}

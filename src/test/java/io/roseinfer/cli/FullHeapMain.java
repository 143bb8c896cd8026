package io.roseinfer.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.roseinfer.base.Clock;
import io.roseinfer.cli.terminal.Terminal;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** A process that fills the heap except for the KiB of its argument and continues to allocate garbage. */
final class FullHeapMain {
    static final int ENDED_BY_WATCH = 77;

    /** Shorter than the command's window, so that the process soon ends. */
    private static final Duration WINDOW = Duration.ofSeconds(2);

    private static final int PIECE_BYTES = 1024;

    private static final List<byte[]> LIVE = new ArrayList<>(1 << 20);

    private FullHeapMain() {}

    public static void main(String[] args) {
        Terminal terminal = new Terminal(
                new PrintWriter(System.out, true, UTF_8),
                new PrintWriter(System.err, true, UTF_8),
                false,
                Map.of(),
                Map.of(),
                Clock.system());
        HeapWatch.start(terminal, WINDOW, () -> Runtime.getRuntime().halt(ENDED_BY_WATCH));
        fill();
        LIVE.subList(LIVE.size() - Integer.parseInt(args[0]), LIVE.size()).clear();
        byte[][] garbage = new byte[10][];
        for (int i = 0; ; i = (i + 1) % garbage.length) {
            try {
                garbage[i] = new byte[PIECE_BYTES];
            } catch (OutOfMemoryError full) {
                // Endless, like a program that survives an exhausted heap.
                garbage[i] = LIVE.getFirst();
            }
        }
    }

    private static void fill() {
        try {
            while (true) {
                LIVE.add(new byte[PIECE_BYTES]);
            }
        } catch (OutOfMemoryError full) {
            return;
        }
    }
}

package io.roseinfer.cli.terminal;

import io.roseinfer.backend.MemoryUse;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Formats a runner's allocations. */
public final class MemoryTable {
    private static final double MIB = 1L << 20;

    private MemoryTable() {}

    /** Returns a line for each allocation and one for the total. */
    public static List<String> lines(List<MemoryUse> uses) {
        List<String> lines = new ArrayList<>();
        uses.forEach(use -> lines.add(line(use.bytes(), use.name())));
        lines.add(line(uses.stream().mapToLong(MemoryUse::bytes).sum(), "in all"));
        return lines;
    }

    private static String line(long bytes, String name) {
        return String.format(Locale.ROOT, "%9.1f MiB %s", bytes / MIB, name);
    }
}

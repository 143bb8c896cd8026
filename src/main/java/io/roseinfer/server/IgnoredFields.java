package io.roseinfer.server;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;

/** Logs the names of fields that requests have and the server ignores, each once. Thread-safe. */
final class IgnoredFields {
    /** Maximum names, so that clients cannot fill a disk or the heap. */
    static final int MAX_NAMES = 100;

    private static final System.Logger LOGGER = System.getLogger("io.roseinfer.server");

    private final Consumer<String> lines;
    private final Set<String> names = new HashSet<>();

    /**
     * Creates a log.
     *
     * @param lines receives each line, in order
     */
    IgnoredFields(Consumer<String> lines) {
        this.lines = lines;
    }

    /** Returns a log whose lines are messages of the server. */
    static IgnoredFields toLogger() {
        return new IgnoredFields(line -> LOGGER.log(System.Logger.Level.INFO, line));
    }

    /**
     * Logs new names.
     *
     * @param ignored printable names
     */
    synchronized void log(List<String> ignored) {
        for (String name : ignored) {
            if (names.size() < MAX_NAMES && names.add(name)) {
                lines.accept("ignoring the field \"" + name + "\" of requests");
            }
        }
    }
}

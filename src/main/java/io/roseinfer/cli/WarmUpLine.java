package io.roseinfer.cli;

import io.roseinfer.LoadedModel;
import java.util.Locale;

/** The line of a report with the duration of the warm-up at load. */
final class WarmUpLine {
    private WarmUpLine() {}

    /** Returns the line with a newline, or an empty string if the device needed no warm-up. */
    static String of(LoadedModel loaded) {
        return loaded.warmUpNanos() < 1_000_000
                ? ""
                : String.format(Locale.ROOT, "Warm-up at load: %.2f s%n", loaded.warmUpNanos() / 1e9);
    }
}

package io.roseinfer.cli;

import io.roseinfer.LoadedModel;
import java.util.Locale;

/** The line of a report that says how long a model was warmed up before anything was measured. */
final class WarmUpLine {
    private WarmUpLine() {}

    /** The line with its end, or nothing where the device needs no warming. */
    static String of(LoadedModel loaded) {
        return loaded.warmUpNanos() < 1_000_000
                ? ""
                : String.format(Locale.ROOT, "Warm-up at load: %.2f s%n", loaded.warmUpNanos() / 1e9);
    }
}

package io.roseinfer.engine;

import io.roseinfer.base.SplitMix64;
import java.util.Locale;
import java.util.function.Consumer;

/** Everything that happens in a simulation, folded into one number: two runs of a seed are the same run if it is equal. */
final class Trace {
    enum Event {
        TURN,
        SUBMIT,
        CANCEL,
        LAUNCH,
        ROW,
        COMPLETE,
        SAMPLE,
        STEP_LOST,
        NAN_ROW,
        BAD_ID,
        READ,
        END,
        CLOSE,
        DEVICE_LOST
    }

    private final Consumer<String> lines;
    private final boolean printing;
    private long hash;

    private Trace(Consumer<String> lines, boolean printing) {
        this.lines = lines;
        this.printing = printing;
    }

    static Trace silent() {
        return new Trace(line -> {}, false);
    }

    /** Also describes every event on a line of its own. */
    static Trace printing(Consumer<String> lines) {
        return new Trace(lines, true);
    }

    void add(Event event, long first, long second) {
        hash = SplitMix64.mix(
                SplitMix64.mix(hash * 31 + event.name().hashCode()) + SplitMix64.mix(first) * 17 + second);
        if (printing) {
            lines.accept(String.format(Locale.ROOT, "%-11s %d %d", event, first, second));
        }
    }

    long hash() {
        return hash;
    }
}

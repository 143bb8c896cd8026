package io.roseinfer.engine;

import io.roseinfer.base.SplitMix64;
import java.util.Locale;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** All events of a simulation, hashed into one number: two runs of a seed are identical if the hashes are equal. */
final class Trace {
    enum Event {
        ITERATION,
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

    private static final int TAIL = 30;

    private final Consumer<String> lines;
    private final boolean printing;
    private long hash;

    /** Ring of the latest events. */
    private final Event[] events = new Event[TAIL];

    private final long[] numbers = new long[2 * TAIL];
    private int count;

    private Trace(Consumer<String> lines, boolean printing) {
        this.lines = lines;
        this.printing = printing;
    }

    static Trace silent() {
        return new Trace(line -> {}, false);
    }

    /** Also prints every event on its own line. */
    static Trace printing(Consumer<String> lines) {
        return new Trace(lines, true);
    }

    void add(Event event, long first, long second) {
        hash = SplitMix64.mix(
                SplitMix64.mix(hash * 31 + event.name().hashCode()) + SplitMix64.mix(first) * 17 + second);
        int at = count++ % TAIL;
        events[at] = event;
        numbers[2 * at] = first;
        numbers[2 * at + 1] = second;
        if (printing) {
            lines.accept(line(at));
        }
    }

    private String line(int at) {
        return String.format(Locale.ROOT, "%-11s %d %d", events[at], numbers[2 * at], numbers[2 * at + 1]);
    }

    /** Returns the latest events, one per line. Any thread may call it, to inspect a run that hangs. */
    String tail() {
        int end = count;
        return IntStream.range(Math.max(0, end - TAIL), end)
                .mapToObj(i -> line(i % TAIL))
                .collect(Collectors.joining("\n"));
    }

    long hash() {
        return hash;
    }
}

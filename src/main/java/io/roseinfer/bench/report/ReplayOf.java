package io.roseinfer.bench.report;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonInclude.Include;
import java.util.List;
import java.util.OptionalDouble;

/**
 * A recorded run beside its replays, in the results of the last of them.
 *
 * @param name the recorded run's file
 * @param command the arguments of the command that recorded it
 * @param valid whether the recorded run is valid
 * @param reasons why it is not
 * @param settingsKnown false of a run over HTTP: it was replayed with the flags given and defaults
 * @param changes the settings that were changed, as arguments; empty if none was
 * @param rows a row for each percentile
 */
public record ReplayOf(
        String name,
        List<String> command,
        boolean valid,
        List<String> reasons,
        boolean settingsKnown,
        List<String> changes,
        List<Row> rows) {
    /**
     * A percentile of a metric.
     *
     * @param metric {@code ttft}, {@code tpot}, {@code itl} or {@code e2el}
     * @param percentile 0 to 100
     * @param recordedMillis in the run that was recorded
     * @param replayedMillis in the replay with the recorded settings
     * @param changedMillis in the replay with changed settings; left out if nothing was changed
     */
    public record Row(
            String metric,
            double percentile,
            double recordedMillis,
            double replayedMillis,
            @JsonInclude(Include.NON_ABSENT) OptionalDouble changedMillis) {
        /** Returns how far off the replay is from the recording, as a share of the latter. */
        public double error() {
            return replayedMillis / recordedMillis - 1;
        }

        /** Returns what the change does, as a share of the replay without it; empty if nothing was changed. */
        public OptionalDouble change() {
            return changedMillis.isPresent()
                    ? OptionalDouble.of(changedMillis.getAsDouble() / replayedMillis - 1)
                    : OptionalDouble.empty();
        }
    }
}

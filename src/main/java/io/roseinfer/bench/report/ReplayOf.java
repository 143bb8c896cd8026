package io.roseinfer.bench.report;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonInclude.Include;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;

/**
 * The comparison of a recorded run with its replays, in the results of the last replay.
 *
 * @param name file of the recorded run
 * @param command the arguments of the command that recorded it
 * @param valid whether the recorded run is valid
 * @param reasons reasons why it is invalid
 * @param settingsKnown false for a run over HTTP, which is replayed with the given flags and defaults
 * @param inSample whether the step costs of the replay without changes are fitted to the recorded run; absent in files of earlier versions
 * @param changes the changed settings as arguments; empty if there are none
 * @param extrapolated the replays, as in {@code ["replayed", "changed"]}, with over 5 % of the simulated time in steps outside the recorded range
 * @param rows a row for each percentile
 */
public record ReplayOf(
        String name,
        List<String> command,
        boolean valid,
        List<String> reasons,
        boolean settingsKnown,
        @JsonInclude(Include.NON_ABSENT) Optional<Boolean> inSample,
        List<String> changes,
        @JsonInclude(Include.NON_EMPTY) List<String> extrapolated,
        List<Row> rows) {
    public ReplayOf {
        reasons = List.copyOf(reasons);
        changes = List.copyOf(changes);
        extrapolated = List.copyOf(extrapolated);
        rows = List.copyOf(rows);
    }

    /** Returns the table's headings. Those of extrapolated replays end in a tilde. */
    public List<String> headings() {
        String again = mark("replayed");
        List<String> headings = new ArrayList<>(
                List.of("ms", "recorded", (settingsKnown ? "baseline" : "replayed") + again, errorName() + again));
        if (!changes.isEmpty()) {
            headings.addAll(List.of("changed" + mark("changed"), "change" + mark("changed")));
        }
        return headings;
    }

    private String mark(String replay) {
        return extrapolated.contains(replay) ? "~" : "";
    }

    /** Returns the name of the errors of the replay without changes. */
    public String errorName() {
        return inSample.orElse(false) ? "in-sample" : "error";
    }

    /**
     * A percentile of a metric.
     *
     * @param metric {@code ttft}, {@code tpot}, {@code itl} or {@code e2el}
     * @param percentile 0 to 100
     * @param recordedMillis value in the recorded run
     * @param replayedMillis value in the replay with the recorded settings
     * @param changedMillis value in the replay with changed settings; absent if nothing was changed
     */
    public record Row(
            String metric,
            double percentile,
            double recordedMillis,
            double replayedMillis,
            @JsonInclude(Include.NON_ABSENT) OptionalDouble changedMillis) {
        /** Returns the relative error of the replay against the recording. */
        public double error() {
            return replayedMillis / recordedMillis - 1;
        }

        /** Returns the relative effect of the change against the replay without it; empty if nothing was changed. */
        public OptionalDouble change() {
            return changedMillis.isPresent()
                    ? OptionalDouble.of(changedMillis.getAsDouble() / replayedMillis - 1)
                    : OptionalDouble.empty();
        }
    }
}

package io.roseinfer.bench.report.html;

import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * One run as a page shows it, whichever benchmark made it.
 *
 * @param name how the page calls it
 * @param verdict whether it counts; empty for a benchmark that does not judge
 * @param requests those that were answered to their end
 * @param failed the others
 * @param facts further figures, by name
 * @param about where it came from, by name: command, machine, settings
 */
record ShownRun(
        String name,
        Optional<Judged> verdict,
        List<Request> requests,
        int failed,
        Map<String, String> facts,
        Map<String, String> about) {

    /** What a benchmark says about its own run. */
    record Judged(boolean valid, List<String> reasons, List<String> notes) {}

    /**
     * One request; times are milliseconds after the run's start.
     *
     * @param due when it was to be sent
     * @param sent when it was sent
     * @param end when it was over
     * @param tokens when each of its tokens came
     * @param gaps times between tokens
     */
    record Request(double due, double sent, double end, double[] tokens, double[] gaps) {}
}

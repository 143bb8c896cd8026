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
 * @param engine what the engine did meanwhile, as far as the file says
 * @param facts further figures, by name
 * @param about where it came from, by name: command, machine, settings
 */
record ShownRun(
        String name,
        Optional<Judged> verdict,
        List<Request> requests,
        int failed,
        Engine engine,
        Map<String, String> facts,
        Map<String, String> about) {

    /** What a benchmark says about its own run. */
    record Judged(boolean valid, List<String> reasons, List<String> remedies, List<String> notes) {}

    /**
     * One request; times are milliseconds after the run's start.
     *
     * @param due when it was to be sent
     * @param sent when it was sent
     * @param admitted when the engine admitted it, or not a number
     * @param end when it was over
     * @param tokens when each of its tokens came
     * @param gaps times between tokens
     * @param count how many tokens it had, or -1 if that is not known
     */
    record Request(double due, double sent, double admitted, double end, double[] tokens, double[] gaps, int count) {}

    /**
     * The engine, or several alike.
     *
     * @param kvBlocks of the KV pool of each, or 0 if nobody knows
     * @param steps oldest first; empty if nobody knows
     */
    record Engine(int kvBlocks, List<Step> steps) {
        static final Engine UNKNOWN = new Engine(0, List.of());
    }

    /**
     * A step of an engine; times are milliseconds after the run's start.
     *
     * @param hasPrompt whether it computed prompt tokens
     * @param freeBlocks KV blocks that could be given out when it was planned
     * @param engine which one took it
     */
    record Step(double start, double end, boolean hasPrompt, int freeBlocks, int engine) {}
}

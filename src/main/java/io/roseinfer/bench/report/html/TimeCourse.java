package io.roseinfer.bench.report.html;

import java.util.ArrayList;
import java.util.List;

/**
 * What went on over a run, in equal slices of time.
 *
 * @param seconds the middle of each slice, after the run's start
 * @param tokensPerSecond tokens that came in it, by its length
 * @param waiting requests that were sent and had no token yet, at its middle
 * @param streaming requests that had a token and were not over, at its middle
 */
record TimeCourse(List<Double> seconds, List<Double> tokensPerSecond, List<Double> waiting, List<Double> streaming) {
    private static final int SLICES = 100;
    private static final double MILLIS_PER_SECOND = 1e3;

    static TimeCourse of(ShownRun run) {
        double end =
                run.requests().stream().mapToDouble(ShownRun.Request::end).max().orElse(1);
        double slice = Math.max(end, 1e-3) / SLICES;
        double[] tokens = new double[SLICES];
        for (ShownRun.Request request : run.requests()) {
            for (double token : request.tokens()) {
                tokens[Math.clamp((long) (token / slice), 0, SLICES - 1)]++;
            }
        }
        List<Double> seconds = new ArrayList<>();
        List<Double> rates = new ArrayList<>();
        List<Double> waiting = new ArrayList<>();
        List<Double> streaming = new ArrayList<>();
        for (int i = 0; i < SLICES; i++) {
            double at = (i + 0.5) * slice;
            seconds.add(at / MILLIS_PER_SECOND);
            rates.add(tokens[i] / slice * MILLIS_PER_SECOND);
            waiting.add((double) run.requests().stream()
                    .filter(request -> isWaiting(request, at))
                    .count());
            streaming.add((double) run.requests().stream()
                    .filter(request -> !isWaiting(request, at) && request.sent() <= at && at < request.end())
                    .count());
        }
        return new TimeCourse(seconds, rates, waiting, streaming);
    }

    private static boolean isWaiting(ShownRun.Request request, double at) {
        double first = request.tokens().length == 0 ? request.end() : request.tokens()[0];
        return request.sent() <= at && at < first;
    }
}

package io.roseinfer.bench.report.html;

import io.roseinfer.metrics.TokenTimes;
import java.util.ArrayList;
import java.util.List;

/**
 * Time series of a run in equal slices of time.
 *
 * @param seconds the middle of each slice since the run's start
 * @param tokensPerSecond tokens received in each slice, divided by its length
 * @param waiting requests without a token in the middle of each slice
 * @param streaming requests with a token that had not ended, in the middle of each slice
 */
record TimeSeries(List<Double> seconds, List<Double> tokensPerSecond, List<Double> waiting, List<Double> streaming) {
    private static final int SLICES = 100;
    private static final double NANOS_PER_SECOND = 1e9;

    static TimeSeries of(ShownRun run) {
        double end = run.requests().stream()
                .mapToDouble(ShownRun.Request::endNanos)
                .max()
                .orElse(1e6);
        double slice = Math.max(end, 1e3) / SLICES;
        double[] tokens = new double[SLICES];
        for (ShownRun.Request request : run.requests()) {
            TokenTimes times = request.tokens();
            for (int event = 0; event < times.nanos().length; event++) {
                tokens[Math.clamp((long) (times.nanos()[event] / slice), 0, SLICES - 1)] += times.tokensOf(event);
            }
        }
        List<Double> seconds = new ArrayList<>();
        List<Double> rates = new ArrayList<>();
        List<Double> waiting = new ArrayList<>();
        List<Double> streaming = new ArrayList<>();
        for (int i = 0; i < SLICES; i++) {
            double at = (i + 0.5) * slice;
            seconds.add(at / NANOS_PER_SECOND);
            rates.add(tokens[i] / slice * NANOS_PER_SECOND);
            waiting.add((double) run.requests().stream()
                    .filter(request -> isWaiting(request, at))
                    .count());
            streaming.add((double) run.requests().stream()
                    .filter(request -> !isWaiting(request, at) && request.sentNanos() <= at && at < request.endNanos())
                    .count());
        }
        return new TimeSeries(seconds, rates, waiting, streaming);
    }

    private static boolean isWaiting(ShownRun.Request request, double at) {
        return request.sentNanos() <= at && at < request.firstNanos();
    }
}

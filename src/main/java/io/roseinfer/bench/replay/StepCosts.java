package io.roseinfer.bench.replay;

import io.roseinfer.bench.http.LoadResult;
import io.roseinfer.metrics.StepRecord;
import java.util.Locale;
import java.util.Optional;
import java.util.function.LongFunction;

/**
 * Step costs for simulated time.
 *
 * @param source description of their source, for results
 * @param times durations with normal or recorded pace
 * @param resampled pace with resampled deviations, by seed; empty without a recorded run
 * @param inFlight steps in flight at a time
 * @param kvBlocks blocks of the recorded pool, or 0 if unknown
 */
public record StepCosts(
        String source, StepTimes times, Optional<LongFunction<Pace>> resampled, int inFlight, int kvBlocks) {
    /** Creates linear costs. */
    public static StepCosts linear(String text, CostTable costs) {
        return new StepCosts(
                "step costs " + text, new StepTimes(costs, Pace.EVEN, HostTimes.NONE), Optional.empty(), 1, 0);
    }

    /**
     * Creates costs from a recorded run.
     *
     * @throws io.roseinfer.base.RoseException.BadInput if its steps cannot be used
     */
    public static StepCosts of(RecordedRun run) {
        return new StepCosts(
                "step costs of " + run.name(),
                run.times(),
                Optional.of(run::resampledPace),
                run.inFlight(),
                run.kvBlocks());
    }

    /** Returns a note if steps of a simulated run were outside of the measured range. */
    public Optional<String> extrapolation(LoadResult run) {
        StepRange range = times.costs().range();
        double all = 0;
        double outside = 0;
        for (StepRecord step : run.steps()) {
            double nanos = times.costs().nanos(StepShape.of(step));
            all += nanos;
            outside += range.contains(StepShape.of(step)) ? 0 : nanos;
        }
        return outside == 0
                ? Optional.empty()
                : Optional.of(String.format(
                        Locale.ROOT,
                        "%.1f %% of the simulated time is in steps outside of the recorded range (decode of %d to %d rows, other steps of"
                                + " %d to %d tokens); their costs are extrapolated",
                        100 * outside / all,
                        range.minDecodeRows(),
                        range.maxDecodeRows(),
                        range.minTokens(),
                        range.maxTokens()));
    }
}

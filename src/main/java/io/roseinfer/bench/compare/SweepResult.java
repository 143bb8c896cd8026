package io.roseinfer.bench.compare;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import io.roseinfer.bench.report.BenchResult;
import io.roseinfer.bench.report.CsvReport;
import io.roseinfer.bench.report.Environment;
import io.roseinfer.bench.report.ResultKind;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;

/**
 * The results of {@code bench sweep}.
 *
 * @param roseinfer all results
 */
public record SweepResult(Own roseinfer) implements BenchResult {
    /**
     * The results.
     *
     * @param schema 2; a change that breaks readers raises it
     * @param kind "sweep"
     * @param study description of the runs; its members are inlined
     * @param attainment share of requests that must be good, 0 to 1
     * @param points the points in the order they were measured
     * @param settings the rates of each setting of the other varied flags
     * @param overSeeds the highest rates over seeds, of each setting with several; absent without
     * @param pareto indices of the points on the Pareto front
     * @param notes the caution on the rates if they are simulated; absent without
     */
    public record Own(
            int schema,
            String kind,
            @JsonUnwrapped Study study,
            double attainment,
            List<Point> points,
            List<Found> settings,
            @JsonInclude(JsonInclude.Include.NON_EMPTY) List<Sweep.OverSeeds> overSeeds,
            List<Integer> pareto,
            @JsonInclude(JsonInclude.Include.NON_EMPTY) List<String> notes) {}

    /**
     * A point.
     *
     * @param point the point; its members are inlined
     * @param meets whether it meets the objective
     */
    public record Point(@JsonUnwrapped SweepPoint point, boolean meets) {}

    /**
     * The rates of a setting, null if they do not exist or are unknown.
     *
     * @param flags flags of the setting
     * @param highest rate of {@link Sweep#highest}
     * @param highestBelow the next measured rate, which fails; null if all rates pass or extrapolated time leaves it undecided
     * @param highestUndecidedBy index of the invalid, too short or extrapolated point that would decide; null if none is needed
     * @param knee rate of {@link Sweep#knee}; the next two are as for the highest
     */
    public record Found(
            Map<String, String> flags,
            OptionalDouble highest,
            OptionalDouble highestBelow,
            OptionalInt highestUndecidedBy,
            OptionalDouble knee,
            OptionalDouble kneeBelow,
            OptionalInt kneeUndecidedBy) {
        private static Found of(Sweep.Settings setting, Sweep sweep) {
            Sweep.SearchedRate highest = sweep.highest(setting);
            Sweep.SearchedRate knee = sweep.knee(setting);
            return new Found(
                    setting.flags(),
                    rate(highest),
                    rateBelow(highest),
                    undecidedBy(highest, sweep),
                    rate(knee),
                    rateBelow(knee),
                    undecidedBy(knee, sweep));
        }

        private static OptionalDouble rate(Sweep.SearchedRate searched) {
            return searched instanceof Sweep.SearchedRate.Between found
                    ? found.point().metric(SweepPoint.OFFERED_RATE)
                    : OptionalDouble.empty();
        }

        private static OptionalDouble rateBelow(Sweep.SearchedRate searched) {
            Optional<SweepPoint> bound =
                    searched instanceof Sweep.SearchedRate.Between found ? found.bound() : Optional.empty();
            return bound.map(point -> point.metric(SweepPoint.OFFERED_RATE)).orElseGet(OptionalDouble::empty);
        }

        private static OptionalInt undecidedBy(Sweep.SearchedRate searched, Sweep sweep) {
            Optional<SweepPoint> undecided =
                    switch (searched) {
                        case Sweep.SearchedRate.Between found ->
                            found.beyond().filter(point -> found.bound().isEmpty());
                        case Sweep.SearchedRate.BelowAll none -> Optional.empty();
                        case Sweep.SearchedRate.NotKnown open -> Optional.of(open.undecided());
                    };
            return undecided
                    .map(point -> OptionalInt.of(sweep.points().indexOf(point)))
                    .orElseGet(OptionalInt::empty);
        }
    }

    /** Returns the results of a sweep. */
    public static SweepResult of(Sweep sweep, Study study) {
        return new SweepResult(new Own(
                ResultKind.SWEEP.schema(),
                "sweep",
                study,
                sweep.attainment(),
                sweep.points().stream()
                        .map(point -> new Point(point, point.meets(sweep.attainment())))
                        .toList(),
                sweep.bySettings().stream()
                        .map(setting -> Found.of(setting, sweep))
                        .toList(),
                sweep.overSeeds(),
                sweep.pareto().stream().map(sweep.points()::indexOf).toList(),
                SweepReport.caution(sweep, study).stream().toList()));
    }

    /** Returns the sweep. */
    public Sweep sweep() {
        return new Sweep(roseinfer.points().stream().map(Point::point).toList(), roseinfer.attainment());
    }

    @Override
    public List<Map<String, String>> table() {
        return sweep().points().stream().flatMap(point -> rows(point).stream()).toList();
    }

    /** Returns the environment of a point; empty if unknown. */
    private Optional<Environment> environment(SweepPoint point) {
        List<Environment> all = roseinfer.study().environments();
        int index = point.environment().orElse(all.size() == 1 ? 0 : -1);
        return index >= 0 && index < all.size() ? Optional.of(all.get(index)) : Optional.empty();
    }

    private List<Map<String, String>> rows(SweepPoint point) {
        Map<String, String> others = new LinkedHashMap<>();
        others.put("failed", Integer.toString(point.failed()));
        others.put("invalid", String.join("; ", point.reasons()));
        environment(point).ifPresent(known -> CsvReport.simulation(others, known));
        return CsvReport.rows(point.flags(), point.metrics(), others);
    }
}

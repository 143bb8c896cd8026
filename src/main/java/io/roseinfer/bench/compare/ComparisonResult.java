package io.roseinfer.bench.compare;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import io.roseinfer.bench.report.BenchResult;
import io.roseinfer.bench.report.CsvReport;
import io.roseinfer.bench.report.ResultKind;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * The results of {@code bench ab}.
 *
 * @param roseinfer all results
 */
public record ComparisonResult(Own roseinfer) implements BenchResult {
    /** The two arms of a comparison and the criterion of its verdict. */
    public record Arms(List<String> a, List<String> b, String metric, double noWorseThan, int discarded) {
        public Arms {
            a = List.copyOf(a);
            b = List.copyOf(b);
        }
    }

    /**
     * The results.
     *
     * @param schema 2; a change that breaks readers raises it
     * @param kind "ab"
     * @param study description of the runs; its members are inlined
     * @param a the arguments of arm A
     * @param b the arguments of arm B
     * @param metric the deciding metric
     * @param noWorseThan the share by which b may be worse
     * @param worse whether the interval shows that b is worse by more than that; null if the metric has no ratio, or over 5 % of an arm's
     *     simulated time is extrapolated
     * @param verdict the result in words; absent in files of earlier versions
     * @param extrapolated the arms, as in {@code ["a", "b"]}, with a run that has over 5 % of its simulated time extrapolated
     * @param discarded number of pairs with an invalid run
     * @param pairs the metrics of both arms
     * @param zeros metrics that are 0 in some run, and therefore have no ratio
     * @param ratios b / a by metric
     * @param notes notes on the intervals and the runs; absent if there are none
     */
    public record Own(
            int schema,
            String kind,
            @JsonUnwrapped Study study,
            List<String> a,
            List<String> b,
            String metric,
            double noWorseThan,
            Optional<Boolean> worse,
            @JsonInclude(JsonInclude.Include.NON_ABSENT) Optional<String> verdict,
            @JsonInclude(JsonInclude.Include.NON_EMPTY) List<String> extrapolated,
            int discarded,
            List<Comparison.Pair> pairs,
            List<String> zeros,
            Map<String, PairedRatio> ratios,
            @JsonInclude(JsonInclude.Include.NON_EMPTY) List<String> notes) {}

    /** Returns the results of a comparison. */
    public static ComparisonResult of(Comparison comparison, Arms arms, Study study) {
        Comparison.Outcome outcome = comparison.judge(arms.metric(), arms.noWorseThan());
        return new ComparisonResult(new Own(
                ResultKind.AB.schema(),
                "ab",
                study,
                arms.a(),
                arms.b(),
                arms.metric(),
                arms.noWorseThan(),
                outcome == Comparison.Outcome.UNDECIDED
                        ? Optional.empty()
                        : Optional.of(outcome == Comparison.Outcome.WORSE),
                Optional.of(ComparisonReport.verdict(comparison, arms)),
                Comparison.extrapolated(comparison.pairs()),
                arms.discarded(),
                comparison.pairs(),
                comparison.withZeros(),
                comparison.ratios(),
                Stream.of(
                                study.environments().stream()
                                        .flatMap(machine -> machine.simulated().stream())
                                        .limit(1)
                                        .map(costs -> ComparisonReport.SIMULATED),
                                ComparisonReport.caution(comparison, arms.metric(), study.environments()).stream(),
                                ComparisonReport.notes(comparison.pairs()).stream())
                        .flatMap(Function.identity())
                        .toList()));
    }

    @Override
    public List<Map<String, String>> table() {
        List<Map<String, String>> table = new ArrayList<>();
        Map<String, String> ofA = new LinkedHashMap<>();
        Map<String, String> ofB = new LinkedHashMap<>();
        roseinfer.verdict().ifPresent(verdict -> {
            ofA.put("verdict", verdict);
            ofB.put("verdict", verdict);
        });
        if (!roseinfer.study().environments().isEmpty()) {
            CsvReport.simulation(ofA, roseinfer.study().environments().getFirst());
            CsvReport.simulation(ofB, roseinfer.study().environments().getLast());
        }
        for (int pair = 0; pair < roseinfer.pairs().size(); pair++) {
            Comparison.Pair measured = roseinfer.pairs().get(pair);
            table.addAll(rows(pair, measured.seed(), "a", roseinfer.a(), measured.a(), ofA));
            table.addAll(rows(pair, measured.seed(), "b", roseinfer.b(), measured.b(), ofB));
        }
        return table;
    }

    private static List<Map<String, String>> rows(
            int pair,
            long seed,
            String arm,
            List<String> flags,
            Map<String, Double> metrics,
            Map<String, String> others) {
        Map<String, String> row = new LinkedHashMap<>();
        row.put("pair", Integer.toString(pair));
        row.put("seed", Long.toString(seed));
        row.put("arm", arm);
        row.put("flags", String.join(" ", flags));
        return CsvReport.rows(row, metrics, others);
    }
}

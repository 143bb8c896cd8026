package io.roseinfer.bench.report.html;

import io.roseinfer.bench.report.Fairness;
import io.roseinfer.bench.report.GroupResults;
import io.roseinfer.bench.report.RunMetrics;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The section of a run's tenants and classes: a table with a row for each, and the fairness between tenants. */
final class GroupSection {
    private static final List<String> HEAD = List.of(
            "",
            "requests",
            "TTFT p50",
            "TTFT p99",
            "TPOT p50",
            "TPOT p99",
            "E2EL p50",
            "E2EL p99",
            "max normalized latency, ms/token",
            "tokens/s",
            "good (%)",
            "service");

    private GroupSection() {}

    static List<Block> blocks(String name, GroupResults groups) {
        Map<String, Double> service = groups.fairness().map(Fairness::service).orElse(Map.of());
        List<List<String>> rows = new ArrayList<>();
        groups.tenants().forEach((tenant, metrics) -> rows.add(row("tenant " + tenant, metrics, service.get(tenant))));
        groups.slos().forEach((slo, metrics) -> rows.add(row("class " + slo, metrics, null)));
        List<Block> blocks = new ArrayList<>();
        blocks.add(Block.Heading.of("Tenants and classes of " + name));
        blocks.add(new Block.Table(HEAD, rows));
        groups.fairness()
                .ifPresent(fairness -> blocks.add(new Block.Paragraph("Latencies are in ms. Jain's index of"
                        + " service is " + Markup.number(fairness.jainIndex()) + ", the maximum gap in service "
                        + Markup.number(fairness.maxServiceGap()) + ". Service is counted over the first "
                        + Markup.number(fairness.untilS()) + " s, weighting prompt tokens "
                        + Markup.number(fairness.inputWeight()) + " and output tokens "
                        + Markup.number(fairness.outputWeight()) + ".")));
        return blocks;
    }

    private static List<String> row(String name, Map<String, Double> metrics, @Nullable Double service) {
        List<String> row = new ArrayList<>(List.of(name));
        for (String metric : List.of(
                "requests",
                "median_ttft_ms",
                "p99_ttft_ms",
                "median_tpot_ms",
                "p99_tpot_ms",
                "median_e2el_ms",
                "p99_e2el_ms",
                "max_normalized_ms",
                "output_throughput")) {
            row.add(number(metrics.get(metric)));
        }
        Double good = metrics.get(RunMetrics.GOOD_SHARE);
        row.add(good == null ? "–" : Markup.number(100 * good));
        row.add(number(service));
        return row;
    }

    private static String number(@Nullable Double value) {
        return value == null ? "–" : Markup.number(value);
    }
}

package io.roseinfer.bench.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class CsvReportTest {
    private static Map<String, String> row(String... cells) {
        Map<String, String> row = new LinkedHashMap<>();
        for (int i = 0; i < cells.length; i += 2) {
            row.put(cells[i], cells[i + 1]);
        }
        return row;
    }

    private static Map<String, Double> metrics(Object... cells) {
        Map<String, Double> metrics = new LinkedHashMap<>();
        for (int i = 0; i < cells.length; i += 2) {
            metrics.put((String) cells[i], (Double) cells[i + 1]);
        }
        return metrics;
    }

    @Test
    void run_without_groups_is_one_row() {
        assertThat(CsvReport.rows(row("arm", "a"), metrics("p99_ttft_ms", 1.5), row("failed", "0")))
                .isEqualTo(List.of(row("arm", "a", "p99_ttft_ms", "1.5", "failed", "0")));
    }

    @Test
    void tenants_and_classes_are_rows_with_their_names_in_columns() {
        Map<String, Double> metrics = metrics(
                "p99_ttft_ms",
                1.5,
                "p99_ttft_ms{tenant=x}",
                2.0,
                "good_share{tenant=x}",
                1.0,
                "p99_ttft_ms{slo=chat}",
                3.0);
        assertThat(CsvReport.rows(row("pair", "0", "arm", "a"), metrics, row()))
                .isEqualTo(List.of(
                        row("pair", "0", "arm", "a", "tenant", "", "slo", "", "p99_ttft_ms", "1.5"),
                        row(
                                "pair",
                                "0",
                                "arm",
                                "a",
                                "tenant",
                                "x",
                                "slo",
                                "",
                                "p99_ttft_ms",
                                "2.0",
                                "good_share",
                                "1.0"),
                        row("pair", "0", "arm", "a", "tenant", "", "slo", "chat", "p99_ttft_ms", "3.0")));
    }

    @Test
    void run_without_metrics_keeps_its_row() {
        assertThat(CsvReport.rows(row("seed", "1"), Map.of(), row("invalid", "late")))
                .isEqualTo(List.of(row("seed", "1", "invalid", "late")));
    }

    @Test
    void value_with_a_separator_a_quote_or_a_line_end_is_quoted() {
        BenchResult result = () -> List.of(row("a", "1,2", "b", "say \"so\"", "c", "1\n2", "d", "1\r2", "e", "plain"));
        assertThat(CsvReport.of(result))
                .isEqualTo("a,b,c,d,e\r\n\"1,2\",\"say \"\"so\"\"\",\"1\n2\",\"1\r2\",plain\r\n");
    }
}

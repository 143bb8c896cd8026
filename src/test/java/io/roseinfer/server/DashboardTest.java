package io.roseinfer.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.base.StrictJson;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tools.jackson.databind.JsonNode;

/** Compares the metrics and labels of the Grafana dashboard with {@code /metrics}. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class DashboardTest {
    private static final Path FILE = Path.of("tools", "examples", "grafana.json");
    private static final Pattern METRIC = Pattern.compile("\\b(?:vllm|roseinfer):\\w+|\\bhttp_\\w+");
    private static final Pattern LABEL = Pattern.compile("(\\w+)=\"");
    private static final Pattern BY = Pattern.compile("by \\(([^)]*)\\)");
    private static final Pattern SERIES =
            Pattern.compile("\\b(?:(?:vllm|roseinfer):|http_|process_|jvm_)\\w+(?:\\{[^}]*})?");

    /** Labels that Prometheus adds to every series of a target. */
    private static final Set<String> TARGET_LABELS = Set.of("job", "namespace", "pod");

    private static JsonNode dashboard() throws IOException {
        return StrictJson.parse(Files.readAllBytes(FILE));
    }

    private static Set<String> expressions() throws IOException {
        Set<String> all = new TreeSet<>(dashboard().findValuesAsString("expr"));
        dashboard()
                .get("templating")
                .get("list")
                .forEach(variable -> all.add(variable.get("query").toString()));
        return all;
    }

    /** A server's metrics after it has served requests. */
    private static String exported() throws IOException {
        try (TestServer server = TestServer.start()) {
            assertThat(server.complete("{\"prompt\":[1,2],\"max_tokens\":3,\"ignore_eos\":true}")
                            .status())
                    .isEqualTo(200);
            server.awaitEnded(1);
            while (!server.get("/metrics").body().contains("http_requests_total{")) {
                Thread.onSpinWait();
            }
            return server.get("/metrics").body();
        }
    }

    private static Set<String> found(Pattern pattern, int group, Stream<String> texts) {
        return texts.flatMap(text -> pattern.matcher(text).results())
                .map((MatchResult match) -> match.group(group))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    @Test
    void every_metric_of_the_dashboard_is_exported() throws IOException {
        Set<String> asked = found(METRIC, 0, expressions().stream());
        Set<String> there = found(Pattern.compile("(?m)^([\\w:]+)"), 1, Stream.of(exported()));
        assertThat(asked).hasSizeGreaterThan(15);
        assertThat(there).containsAll(asked);
    }

    @Test
    void every_label_of_the_dashboard_exists() throws IOException {
        Set<String> asked = found(LABEL, 1, expressions().stream());
        BY.matcher(String.join("\n", expressions()))
                .results()
                .flatMap(by -> Stream.of(by.group(1).split(", ")))
                .forEach(asked::add);
        assertThat(asked).contains("model_name", "le", "finished_reason");
        asked.removeAll(TARGET_LABELS);
        assertThat(found(LABEL, 1, Stream.of(exported()))).containsAll(asked);
    }

    /** Other servers, such as vLLM, export metrics of the same names. */
    @Test
    void every_series_is_selected_by_job_namespace_and_pod() throws IOException {
        Set<String> series = found(SERIES, 0, dashboard().findValuesAsString("expr").stream());
        assertThat(series)
                .hasSizeGreaterThan(15)
                .allSatisfy(
                        each -> assertThat(each).contains("{job=\"$job\", namespace=~\"$namespace\", pod=~\"$pod\""));
    }

    /** Replicas and pods have their own series, and their labels differ from the labels of totals. */
    @Test
    void every_query_sums_its_series_or_shows_the_labels_that_tell_them_apart() throws IOException {
        dashboard().findValues("targets").stream()
                .flatMap(JsonNode::valueStream)
                .forEach(target -> {
                    String query = target.get("expr").stringValue();
                    assertThat(query).contains("model_name=\"$model\"");
                    if (target.get("legendFormat").stringValue().contains("{{engine}}")) {
                        assertThat(query).doesNotContain(" / ");
                    } else {
                        assertThat(query.split(" / "))
                                .allSatisfy(side ->
                                        assertThat(side).matches("(sum|sum by \\([^)]*\\) |histogram_quantile)\\(.*"));
                    }
                });
    }

    @Test
    void every_panel_has_a_title_a_unit_and_its_own_position() throws IOException {
        Set<String> places = new TreeSet<>();
        JsonNode panels = dashboard().get("panels");
        for (JsonNode panel : panels) {
            assertThat(panel.get("title").stringValue()).isNotBlank();
            assertThat(panel.get("description").stringValue()).endsWith(".");
            assertThat(panel.get("fieldConfig").get("defaults").get("unit").stringValue())
                    .isNotBlank();
            places.add(panel.get("gridPos").toString());
        }
        assertThat(places).hasSize(panels.size());
    }
}

package io.roseinfer.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.Document;
import io.roseinfer.backend.sim.SimOptions;
import io.roseinfer.engine.routing.RoutingPolicy;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Compares {@code server-metrics.md} with the metrics of a server with two replicas. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ServerMetricsPageTest {
    private static final Pattern ROW = Pattern.compile(
            "(?m)^\\| `([\\w:]+)` \\| (\\w+) \\| ([^|]+) \\| ([^|]+) \\| (same name|Java only|roseinfer only)[^|]* \\|$");
    private static final Pattern CODE = Pattern.compile("`(\\w+)`");
    private static final Pattern TYPE = Pattern.compile("(?m)^# TYPE (\\S+) (\\w+)$");
    private static final Pattern SERIES = Pattern.compile("(?m)^([\\w:]+)\\{(.*)} \\S+$");
    private static final Pattern LABEL = Pattern.compile("(\\w+)=\"([^\"]*)\"");

    /**
     * A metric.
     *
     * @param labels without {@code le}, which every histogram has
     * @param isPerReplica whether each replica has a series
     */
    private record Metric(String type, Set<String> labels, boolean isPerReplica) {}

    private static Document page() {
        return Document.at("src/site/markdown/reference/server-metrics.md");
    }

    /** The page's metrics by name. */
    private static Map<String, Metric> documented() {
        return ROW.matcher(page().text())
                .results()
                .collect(Collectors.toMap(
                        row -> row.group(1),
                        row -> new Metric(
                                row.group(2),
                                found(CODE, row.group(3)),
                                row.group(4).contains("per replica")),
                        (first, second) -> {
                            throw new AssertionError("two rows: " + first + ", " + second);
                        },
                        TreeMap::new));
    }

    private static Set<String> found(Pattern pattern, String text) {
        return pattern.matcher(text)
                .results()
                .map(match -> match.group(1))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    /** The metrics of a server, by name, after it has answered a request. */
    private static String scraped() throws IOException {
        List<SimOptions> devices = List.of(SimOptions.defaults(), SimOptions.defaults());
        try (TestServer server =
                new TestServer(TestServer.engineOptions(), TestServer.options(), RoutingPolicy.pull(), devices)) {
            assertThat(server.get("/health").status()).isEqualTo(200);
            String text = server.get("/metrics").body();
            while (!text.contains("http_requests_total{")) {
                text = server.get("/metrics").body();
            }
            return text;
        }
    }

    private static Map<String, Metric> exported() throws IOException {
        String text = scraped();
        Map<String, Metric> metrics = new TreeMap<>();
        TYPE.matcher(text).results().forEach(type -> {
            String name = type.group(1);
            Set<String> labels = new TreeSet<>();
            Set<String> engines = new TreeSet<>();
            SERIES.matcher(text)
                    .results()
                    .filter(series -> series.group(1)
                            .replaceFirst("_(bucket|sum|count)$", "")
                            .equals(name))
                    .flatMap(series -> LABEL.matcher(series.group(2)).results())
                    .forEach(label -> {
                        labels.add(label.group(1));
                        if (label.group(1).equals("engine")) {
                            engines.add(label.group(2));
                        }
                    });
            labels.remove("le");
            metrics.put(name, new Metric(type.group(2), labels, engines.containsAll(Set.of("0", "1"))));
        });
        return metrics;
    }

    @Test
    void page_has_every_metric_with_its_type_and_labels() throws IOException {
        assertThat(documented()).hasSizeGreaterThan(45).containsExactlyInAnyOrderEntriesOf(exported());
    }

    @Test
    void metrics_that_only_roseinfer_has_begin_with_its_name() {
        assertThat(ROW.matcher(page().text()).results())
                .allSatisfy(row -> assertThat(row.group(1).startsWith("roseinfer:"))
                        .as(row.group(1))
                        .isEqualTo(row.group(5).equals("roseinfer only")));
    }
}

package io.roseinfer.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.Manifests;
import io.roseinfer.server.http.RawClient;
import java.io.IOException;
import java.time.Duration;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** Compares the manifests of the Kubernetes example with the server. */
class KubernetesProbesTest {
    private static final Pattern METRIC = Pattern.compile("(?<![/\\w])(?:vllm|roseinfer):[a-z_]+");
    private static final Pattern PRINTED = Pattern.compile("(?m)^([a-z:_]+)\\{");

    private final Manifests manifests = Manifests.read();

    @ParameterizedTest
    @ValueSource(strings = {"startupProbe", "readinessProbe", "livenessProbe"})
    void probe_paths_exist(String probe) throws IOException {
        String path =
                manifests.container("roseinfer").get(probe).at("/httpGet/path").stringValue();
        try (TestServer server = TestServer.start()) {
            assertThat(server.get(path).status()).isEqualTo(200);
        }
    }

    @Test
    void draining_server_is_not_ready_but_alive() throws Exception {
        JsonNode container = manifests.container("roseinfer");
        String ready = container.at("/readinessProbe/httpGet/path").stringValue();
        String lives = container.at("/livenessProbe/httpGet/path").stringValue();
        Gate gate = new Gate(3);
        try (TestServer server = TestServer.start(gate.options());
                RawClient client = server.client()) {
            client.send(RawClient.post("/v1/completions", "{\"prompt\":\"a\",\"max_tokens\":20,\"ignore_eos\":true}"));
            gate.awaitReached();
            CompletableFuture<Integer> drained = LifecycleTest.drain(server, Duration.ofSeconds(60));
            while (server.get(ready).status() == 200) {
                Thread.onSpinWait();
            }
            assertThat(server.get(ready).status()).isEqualTo(503);
            assertThat(server.get(lives).status()).isEqualTo(200);
            assertThat(server.log.getLast()).contains("\"level\":\"info\"", "\"status\":503");
            assertThat(server.metric("roseinfer:http_errors_total{engine=\"0\",model_name=\"sim\",status=\"503\"}"))
                    .as("probes are not errors")
                    .isZero();
            gate.open();
            assertThat(client.answer().status()).isEqualTo(200);
            assertThat(drained.join()).isZero();
        }
    }

    @Test
    void scraped_path_has_metrics() throws IOException {
        JsonNode monitor = manifests.one("PodMonitor", "roseinfer");
        JsonNode config = Manifests.documents(manifests
                        .one("ConfigMap", "roseinfer-epp")
                        .at("/data/plugins.yaml")
                        .stringValue())
                .getFirst();
        Set<String> paths = new TreeSet<>();
        paths.add(monitor.at("/spec/podMetricsEndpoints/0/path").stringValue());
        config.get("plugins")
                .valueStream()
                .filter(plugin -> plugin.get("type").stringValue().equals("metrics-data-source"))
                .forEach(plugin -> paths.add(plugin.at("/parameters/path").stringValue()));
        assertThat(paths).hasSize(1);
        try (TestServer server = TestServer.start()) {
            assertThat(server.get(paths.iterator().next()).body()).contains("vllm:");
        }
    }

    @Test
    void every_metric_that_a_manifest_names_is_printed() throws IOException {
        Set<String> named = METRIC.matcher(manifests.text())
                .results()
                .map(MatchResult::group)
                .collect(Collectors.toCollection(TreeSet::new));
        assertThat(named)
                .contains(
                        "vllm:num_requests_waiting",
                        "vllm:num_requests_running",
                        "vllm:kv_cache_usage_perc",
                        "vllm:cache_config_info");
        try (TestServer server = TestServer.start()) {
            Set<String> printed = PRINTED.matcher(server.get("/metrics").body())
                    .results()
                    .map(line -> line.group(1))
                    .collect(Collectors.toSet());
            assertThat(printed).containsAll(named);
        }
    }

    /** An endpoint picker reads the size of a block from a label. */
    @Test
    void cache_metric_has_the_labels_for_an_endpoint_picker() throws IOException {
        try (TestServer server = TestServer.start()) {
            assertThat(server.get("/metrics").body())
                    .containsPattern("vllm:cache_config_info\\{.*block_size=\"16\".*num_gpu_blocks=\"256\"");
        }
    }
}

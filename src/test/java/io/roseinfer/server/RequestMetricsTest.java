package io.roseinfer.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.backend.sim.SimOptions;
import io.roseinfer.bench.SyntheticDrafter;
import io.roseinfer.engine.EngineOptions;
import io.roseinfer.engine.routing.RoutingPolicy;
import io.roseinfer.scheduler.SchedulerOptions;
import io.roseinfer.server.http.RawClient;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of the counters and histograms of requests, including requests of disconnected clients. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RequestMetricsTest {
    private static final int STEP = 30;
    private static final String LONG =
            "{\"prompt\":\"a\",\"max_tokens\":400,\"ignore_eos\":true,\"n\":%d,\"stream\":%s}";

    /** The metric of all requests, regardless of its other labels. */
    private static double sum(TestServer server, String name) throws IOException {
        return server.get("/metrics")
                .body()
                .lines()
                .filter(line -> line.startsWith(name + "{"))
                .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
                .sum();
    }

    /** The device pauses at a step: the tokens of earlier steps that are not in flight have been counted. */
    @ParameterizedTest
    @ValueSource(strings = {"true", "false"})
    void generated_tokens_are_counted_as_they_are_generated(String stream) throws Exception {
        Gate gate = new Gate(STEP);
        try (TestServer server = TestServer.start(gate.options());
                RawClient client = server.client()) {
            client.send(RawClient.post("/v1/completions", LONG.formatted(1, stream)));
            gate.awaitReached();
            assertThat(sum(server, "vllm:generation_tokens_total")).isBetween(STEP - 4.0, STEP + 1.0);
            gate.open();
            assertThat(client.answer().status()).isEqualTo(200);
            assertThat(sum(server, "vllm:generation_tokens_total")).isEqualTo(400);
        }
    }

    /** The drafter learns a completion, then drafts it with a wrong third token. Steps take equal times, so that drafts pay. */
    @Test
    void accepted_draft_tokens_are_counted_by_position() throws Exception {
        EngineOptions options = TestServer.engineOptions()
                .withScheduler(SchedulerOptions.builder()
                        .drafter(new SyntheticDrafter("1/1/0"))
                        .build());
        String name = "vllm:spec_decode_num_accepted_tokens";
        String body = "{\"prompt\":\"a\",\"max_tokens\":400,\"ignore_eos\":true,\"temperature\":0}";
        AtomicReference<AtomicLong> ahead = new AtomicReference<>(new AtomicLong());
        SimOptions even = SimOptions.defaults()
                .withOnStep(step -> Objects.requireNonNull(ahead.get()).addAndGet(20_000_000));
        try (TestServer server = new TestServer(options, even, TestServer.options());
                RawClient client = server.client()) {
            ahead.set(server.aheadNanos);
            assertThat(server.get("/metrics").body())
                    .contains(name + "_per_pos_total{engine=\"0\",model_name=\"sim\",position=\"0\"} 0.0");
            for (int i = 0; i < 2; i++) {
                client.send(RawClient.post("/v1/completions", body));
                assertThat(client.answer().status()).isEqualTo(200);
            }
            double accepted = sum(server, name + "_total");
            assertThat(accepted).isGreaterThan(100);
            assertThat(sum(server, name + "_per_pos_total")).isEqualTo(accepted);
            assertThat(server.get("/metrics").body()).contains("position=\"1\"").doesNotContain("position=\"2\"");
        }
    }

    @ParameterizedTest
    @CsvSource({"true, 1", "true, 2", "false, 1", "false, 2"})
    void request_of_a_disconnected_client_is_in_every_histogram(String stream, int n) throws Exception {
        Gate gate = new Gate(STEP);
        try (TestServer server = TestServer.start(gate.options())) {
            try (RawClient client = server.client()) {
                client.send(RawClient.post("/v1/completions", LONG.formatted(n, stream)));
                gate.awaitReached();
                client.reset();
            }
            while (server.metric("roseinfer:connections") > 1) {
                Thread.onSpinWait();
            }
            gate.open();
            server.awaitEnded(n);
            while (server.log.stream().noneMatch(line -> line.contains("/v1/completions"))) {
                Thread.onSpinWait();
            }
            assertThat(sum(server, "vllm:request_success_total")).isEqualTo(n);
            assertThat(sum(server, "vllm:e2e_request_latency_seconds_count")).isEqualTo(n);
            assertThat(sum(server, "vllm:request_generation_tokens_count")).isEqualTo(n);
            assertThat(sum(server, "vllm:request_prompt_tokens_count")).isEqualTo(n);
            assertThat(sum(server, "vllm:request_max_num_generation_tokens_count"))
                    .isEqualTo(1);
            assertThat(sum(server, "vllm:request_generation_tokens_sum"))
                    .isEqualTo(sum(server, "vllm:generation_tokens_total"))
                    .isGreaterThan(0);
        }
    }

    @Test
    void request_whose_client_leaves_while_it_is_submitted_is_in_every_histogram() throws Exception {
        AtomicReference<Runnable> submitting = new AtomicReference<>(() -> {});
        RoutingPolicy policy = (request, living) -> {
            Objects.requireNonNull(submitting.get()).run();
            return 0;
        };
        List<SimOptions> devices = List.of(SimOptions.defaults(), SimOptions.defaults());
        try (TestServer server = new TestServer(TestServer.engineOptions(), TestServer.options(), policy, devices);
                RawClient client = server.client()) {
            submitting.set(() -> leave(server, client));
            client.send(RawClient.post("/v1/completions", LONG.formatted(1, true)));
            server.awaitEnded(1);
            while (server.log.stream().noneMatch(line -> line.contains("/v1/completions"))) {
                Thread.onSpinWait();
            }
            assertThat(sum(server, "vllm:request_success_total")).isEqualTo(1);
            assertThat(sum(server, "vllm:e2e_request_latency_seconds_count")).isEqualTo(1);
            assertThat(sum(server, "vllm:request_prompt_tokens_count")).isEqualTo(1);
        }
    }

    /** Resets a client's connection and waits until the server has noticed. */
    private static void leave(TestServer server, RawClient client) {
        try {
            client.reset();
            while (server.metric("roseinfer:connections") > 1) {
                Thread.onSpinWait();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void completed_request_is_in_every_histogram() throws Exception {
        try (TestServer server = TestServer.start()) {
            assertThat(server.complete("{\"prompt\":\"a\",\"max_tokens\":5,\"ignore_eos\":true,\"n\":2}")
                            .status())
                    .isEqualTo(200);
            assertThat(sum(server, "vllm:e2e_request_latency_seconds_count")).isEqualTo(2);
            assertThat(sum(server, "vllm:request_max_num_generation_tokens_count"))
                    .isEqualTo(1);
            assertThat(sum(server, "vllm:request_max_num_generation_tokens_sum"))
                    .isEqualTo(5);
            assertThat(sum(server, "vllm:generation_tokens_total")).isEqualTo(10);
        }
    }
}

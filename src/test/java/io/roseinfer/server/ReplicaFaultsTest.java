package io.roseinfer.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.LogCapture;
import io.roseinfer.backend.sim.SimFaults;
import io.roseinfer.backend.sim.SimOptions;
import io.roseinfer.base.RoseException.DeviceFailure;
import io.roseinfer.engine.routing.RoutingPolicy;
import io.roseinfer.server.http.RawClient;
import io.roseinfer.server.http.RawClient.Answer;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Faults of one of several replicas, as clients see them. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ReplicaFaultsTest {
    private static final RoutingPolicy FIRST_LIVING = (request, living) -> 0;

    private static TestServer start(RoutingPolicy routing, SimOptions... devices) {
        return new TestServer(TestServer.engineOptions(), TestServer.options(), routing, List.of(devices));
    }

    private static String body(int firstToken, boolean stream) {
        return "{\"prompt\":[" + firstToken + "],\"max_tokens\":20,\"ignore_eos\":true,\"stream\":" + stream + "}";
    }

    private static void assertServed(TestServer server, boolean stream) throws IOException {
        Answer answer = server.complete(body(1, stream));
        assertThat(answer.status()).isEqualTo(200);
        assertThat(answer.body()).contains("\"finish_reason\":\"length\"");
    }

    private static double up(TestServer server, int engine) throws IOException {
        return server.metric("roseinfer:engine_up{engine=\"" + engine + "\"");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void failed_replica_ends_its_started_requests_only(boolean stream) throws Exception {
        Gate gate = new Gate(5);
        SimOptions dying = gate.options().withOnStep(step -> {
            gate.options().onStep().accept(step);
            if (step == 5) {
                throw new DeviceFailure("the device is lost", false);
            }
        });
        try (TestServer server = start(FIRST_LIVING, dying, SimOptions.defaults());
                RawClient begun = server.client();
                RawClient waiting = server.client()) {
            begun.send(RawClient.post("/v1/completions", body(1, stream)));
            gate.awaitReached();
            waiting.send(RawClient.post("/v1/completions", body(2, stream)));
            while (server.engine.stats().requests().accepted() < 2) {
                Thread.onSpinWait();
            }
            gate.open();
            Answer ended = begun.answer();
            assertThat(ended.status()).isEqualTo(stream ? 200 : 500);
            assertThat(ended.body())
                    .contains("\"code\":500", "replica 0 stopped", "the device is lost")
                    .doesNotContain("[DONE]", "\"finish_reason\":\"", "\tat ");
            Answer moved = waiting.answer();
            assertThat(moved.status()).isEqualTo(200);
            assertThat(moved.body()).contains("\"finish_reason\":\"length\"");
            assertServed(server, stream);
            assertThat(server.get("/health").status()).isEqualTo(200);
            assertThat(up(server, 0)).isZero();
            assertThat(up(server, 1)).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void failed_step_or_row_affects_its_requests_only_and_both_engines_continue(boolean stream) throws IOException {
        SimOptions failing = SimOptions.defaults().withFaults(SimFaults.parse("the test", "error=11,nan=12"));
        try (TestServer server = start(RoutingPolicy.roundRobin(), failing, failing)) {
            for (int fault : new int[] {11, 12, 11, 12}) {
                Answer failed = server.complete(body(fault, stream));
                assertThat(failed.status()).as("token %d", fault).isEqualTo(500);
                assertThat(failed.body()).contains("\"code\":500").doesNotContain("[DONE]", "\tat ");
                assertServed(server, stream);
            }
            assertThat(server.engine.replicaStats()).allMatch(stats -> stats.steps() > 0);
            assertThat(up(server, 0) + up(server, 1)).isEqualTo(2);
        }
    }

    @Test
    void lost_replica_is_logged_once_with_the_reason_and_what_remains() throws Exception {
        SimOptions dying = SimOptions.defaults().withFaults(SimFaults.parse("the test", "death=14"));
        try (LogCapture log = new LogCapture("io.roseinfer.engine");
                TestServer server = start(FIRST_LIVING, dying, SimOptions.defaults())) {
            assertThat(server.complete(body(14, false)).status()).isEqualTo(200);
            assertThat(log.records())
                    .filteredOn(entry -> entry.getMessage().contains("replica"))
                    .extracting(entry -> entry.getLevel() + " " + entry.getMessage())
                    .singleElement()
                    .satisfies(line -> assertThat(line)
                            .startsWith("SEVERE replica 0 stopped: ")
                            .endsWith("; 1 of 2 still serves; restart the server to restore it"));
        }
    }

    @Test
    void server_is_dead_once_the_last_engine_has_failed() throws Exception {
        SimOptions dying = SimOptions.defaults().withFaults(SimFaults.parse("the test", "death=14"));
        try (TestServer server = start(RoutingPolicy.pull(), dying, dying)) {
            // It makes one engine after the other fail, because it has received no token.
            Answer answer = server.complete(body(14, false));
            assertThat(answer.status()).isEqualTo(500);
            assertThat(answer.headers())
                    .containsEntry("x-should-retry", "false")
                    .doesNotContainKey("retry-after");
            assertThat(answer.body()).contains("the simulated device is lost").doesNotContain("\tat ");
            assertThat(server.complete(body(1, true)).status()).isEqualTo(503);
            assertThat(server.server.failure().get()).hasMessageContaining("the simulated device is lost");
            assertThat(server.get("/health").status()).isEqualTo(503);
        }
    }
}

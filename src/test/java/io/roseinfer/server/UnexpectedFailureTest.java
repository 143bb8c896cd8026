package io.roseinfer.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.LogCapture;
import io.roseinfer.backend.sim.SimFaults;
import io.roseinfer.backend.sim.SimOptions;
import io.roseinfer.server.http.RawClient;
import io.roseinfer.server.http.RawClient.Answer;
import io.roseinfer.tokenizer.Tokenizer;
import java.lang.reflect.Proxy;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.logging.LogRecord;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Failures are logged with more details than are sent, and ignored fields by name. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class UnexpectedFailureTest {
    private final LogCapture log = new LogCapture("io.roseinfer.server");

    @AfterEach
    void listenNoMore() {
        log.close();
    }

    /** The real tokenizer with a defect. */
    private static Tokenizer defective(Throwable defect) {
        return (Tokenizer) Proxy.newProxyInstance(
                Tokenizer.class.getClassLoader(), new Class<?>[] {Tokenizer.class}, (proxy, method, arguments) -> {
                    if (method.getName().startsWith("encode")) {
                        throw defect;
                    }
                    return method.invoke(TestServer.WORDS, arguments);
                });
    }

    @ParameterizedTest
    @CsvSource({"/tokenize", "/v1/completions"})
    void failure_is_logged_with_its_stack_trace_which_is_not_sent(String path) throws Exception {
        IllegalStateException defect = new IllegalStateException("a secret of the tokenizer");
        try (TestServer server = new TestServer(
                TestServer.engineOptions(),
                SimOptions.defaults(),
                TestServer.options(),
                Optional.of(defective(defect)))) {
            Answer answer = server.post(path, "{\"prompt\":\"Once\"}");
            assertThat(answer.status()).isEqualTo(500);
            assertThat(answer.body())
                    .contains("unexpected IllegalStateException")
                    .doesNotContain("secret");
            assertThat(log.records())
                    .filteredOn(entry -> defect.equals(entry.getThrown()))
                    .hasSize(1);
            while (server.log.isEmpty()) {
                Thread.onSpinWait();
            }
            assertThat(TestServer.json(server.log.getFirst()).get("error").stringValue())
                    .isEqualTo("unexpected IllegalStateException");
            String id = TestServer.json(server.log.getFirst()).get("request_id").stringValue();
            assertThat(log.records()).anyMatch(entry -> entry.getMessage().endsWith(", with id '" + id + "'"));
        }
    }

    @ParameterizedTest
    @CsvSource({"/tokenize", "/v1/completions"})
    void request_without_enough_memory_gets_503_and_a_remedy(String path) throws Exception {
        try (TestServer server = new TestServer(
                TestServer.engineOptions(),
                SimOptions.defaults(),
                TestServer.options(),
                Optional.of(defective(new OutOfMemoryError("Java heap space"))))) {
            Answer answer = server.post(path, "{\"prompt\":\"Once\"}");
            assertThat(answer.status()).isEqualTo(503);
            assertThat(answer.body()).contains("not enough memory for this request; send a smaller one, or raise -Xmx");
            server.server.close();
            assertThat(server.log)
                    .singleElement()
                    .satisfies(line -> assertThat(line).contains("not enough memory for this request"));
            assertThat(log.records()).isEmpty();
        }
    }

    @Test
    void ignored_field_is_logged_once() throws Exception {
        try (TestServer server = TestServer.logging(AccessLog.Format.TEXT, SimOptions.defaults())) {
            for (int i = 0; i < 2; i++) {
                assertThat(server.complete("{\"prompt\":[1],\"max_token\":1}").status())
                        .isEqualTo(200);
            }
            server.server.close();
            assertThat(log.records())
                    .singleElement()
                    .extracting(LogRecord::getMessage)
                    .isEqualTo("ignoring the field \"max_token\" of requests");
        }
    }

    private static final String STEP_FAILS = "{\"prompt\":[7],\"max_tokens\":1}";

    private static TestServer withoutAccessLog() {
        return TestServer.logging(
                AccessLog.Format.OFF, SimOptions.defaults().withFaults(SimFaults.parse("faults", "error=7")));
    }

    @Test
    void failed_request_is_logged_with_its_id_and_reason_without_an_access_log() throws Exception {
        try (TestServer server = withoutAccessLog()) {
            assertThat(server.complete(STEP_FAILS, "X-Request-Id: abc\r\n").status())
                    .isEqualTo(500);
            server.server.close();
            assertThat(log.records())
                    .anySatisfy(entry -> assertThat(entry.getMessage())
                            .startsWith("status 500 for /v1/completions, with id 'abc': ")
                            .contains("prompt that begins with token 7"));
        }
    }

    @Test
    void failed_request_has_only_its_line_in_the_access_log() throws Exception {
        try (TestServer server = TestServer.logging(
                AccessLog.Format.TEXT, SimOptions.defaults().withFaults(SimFaults.parse("faults", "error=7")))) {
            assertThat(server.complete(STEP_FAILS, "X-Request-Id: abc\r\n").status())
                    .isEqualTo(500);
            server.server.close();
            assertThat(server.log)
                    .singleElement()
                    .satisfies(line -> assertThat(line)
                            .contains("request_id=abc", " status=500 ", "prompt that begins with token 7"));
            assertThat(log.records()).isEmpty();
        }
    }

    @Test
    void failed_requests_are_logged_up_to_a_maximum_per_minute() throws Exception {
        try (TestServer server = withoutAccessLog()) {
            for (int i = 0; i < FailureLog.MAX_PER_MINUTE + 1; i++) {
                assertThat(server.complete(STEP_FAILS).status()).isEqualTo(500);
            }
            server.server.close();
            assertThat(log.records())
                    .filteredOn(entry -> entry.getMessage().startsWith("status 500"))
                    .hasSize(FailureLog.MAX_PER_MINUTE);
        }
    }

    @Test
    void rejection_for_overload_is_logged_once_a_minute() throws Exception {
        Gate gate = new Gate(0);
        try (TestServer server = TestServer.logging(
                        AccessLog.Format.OFF, TestServer.engineOptions().withMaxInflightRequests(1), gate.options());
                RawClient client = server.client()) {
            client.send(RawClient.post("/v1/completions", "{\"prompt\":[1],\"max_tokens\":1}"));
            gate.awaitReached();
            for (int i = 0; i < 2; i++) {
                assertThat(server.complete("{\"prompt\":[2]}").status()).isEqualTo(429);
            }
            gate.open();
            assertThat(client.answer().status()).isEqualTo(200);
            server.server.close();
            assertThat(log.records())
                    .singleElement()
                    .extracting(LogRecord::getMessage)
                    .asString()
                    .startsWith("requests are rejected with status 429: ")
                    .contains("the maximum is 1");
        }
    }

    @Test
    void timeout_of_completions_is_logged_once_a_minute() throws Exception {
        AtomicReference<AtomicLong> ahead = new AtomicReference<>(new AtomicLong());
        SimOptions slow = SimOptions.defaults()
                .withOnStep(step -> Objects.requireNonNull(ahead.get()).addAndGet(300_000_000));
        try (TestServer server = TestServer.logging(AccessLog.Format.OFF, slow)) {
            ahead.set(server.aheadNanos);
            for (int i = 0; i < 2; i++) {
                Answer answer = server.complete(
                        "{\"prompt\":[1],\"max_tokens\":200,\"ignore_eos\":true}", "X-Request-Timeout: 5\r\n");
                assertThat(answer.body()).contains("\"stop_reason\":\"deadline\"");
            }
            server.server.close();
            assertThat(log.records())
                    .singleElement()
                    .extracting(LogRecord::getMessage)
                    .asString()
                    .startsWith("1 of 1 requests timed out since the last such message; admit fewer at a time: ");
        }
    }

    @ParameterizedTest
    @EnumSource
    void requests_that_time_out_before_a_token_have_one_line_together(AccessLog.Format format) throws Exception {
        AtomicReference<AtomicLong> ahead = new AtomicReference<>(new AtomicLong());
        SimOptions slow = SimOptions.defaults()
                .withOnStep(step -> Objects.requireNonNull(ahead.get()).addAndGet(10_000_000_000L));
        try (TestServer server = TestServer.logging(format, slow)) {
            ahead.set(server.aheadNanos);
            assertThat(server.complete("{\"prompt\":[1],\"max_tokens\":2}").status())
                    .isEqualTo(200);
            for (int i = 0; i < 3; i++) {
                server.complete("{\"prompt\":[1],\"max_tokens\":2}", "X-Request-Timeout: 5\r\n");
            }
            while (server.server.callsInFlight() > 0) {
                Thread.onSpinWait();
            }
            server.aheadNanos.addAndGet(TimeUnit.MINUTES.toNanos(1));
            server.complete("{\"prompt\":[1],\"max_tokens\":2}", "X-Request-Timeout: 5\r\n");
            server.server.close();
            assertThat(log.messages())
                    .hasSize(2)
                    .satisfiesExactly(
                            first -> assertThat(first).startsWith("1 of 2 requests timed out"),
                            second -> assertThat(second).startsWith("3 of 3 requests timed out"));
        }
    }
}

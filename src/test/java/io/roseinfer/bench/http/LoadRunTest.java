package io.roseinfer.bench.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.base.Clock;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.StrictJson;
import io.roseinfer.bench.load.Arrivals;
import io.roseinfer.bench.load.OfferedLoad;
import io.roseinfer.bench.load.OfferedRequest;
import io.roseinfer.bench.load.RandomPrompts;
import io.roseinfer.engine.Prompt;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** Tests of load runs on real sockets; {@link ResponseReaderTest} verifies the metrics. */
@Tag("process")
@Timeout(60)
class LoadRunTest {
    private static final RunValidity.Rules RULES = new RunValidity.Rules(1e6, 1, true, false, Optional.empty());

    private static final Clock CLOCK = Clock.system();
    private static final Pacer AT_ONCE = deadline -> {};
    private static final Arrivals BURST = new Arrivals(Double.POSITIVE_INFINITY, 1, 0);

    private static OfferedLoad load(int requests, int prompt, int output) {
        return OfferedLoad.of(new RandomPrompts(prompt, output, 0, 0, 256, 0).requests(requests), BURST);
    }

    private static boolean neverAnswer(int number, OutputStream out) throws IOException {
        try {
            new CountDownLatch(1).await();
            return false;
        } catch (InterruptedException e) {
            throw new IOException(e);
        }
    }

    private static LoadResult run(FakeServer server, OfferedLoad load, int maxConcurrency) {
        try (HttpTarget target = new HttpTarget(server.endpoint(), 2, CLOCK, "test")) {
            return new LoadRun(target, maxConcurrency, Duration.ofSeconds(30), CLOCK, AT_ONCE).run(load);
        }
    }

    @Test
    void the_readers_have_equally_many_calls_also_with_more_connections_than_calls() throws IOException {
        try (FakeServer server = new FakeServer(LoadRunTest::neverAnswer);
                HttpTarget target = new HttpTarget(server.endpoint(), 4, CLOCK, "test")) {
            List<OfferedRequest> requests = load(64, 3, 1).requests();
            target.prepare(requests, LoadRun.UNBOUNDED);
            for (int i = 0; i < 16; i++) {
                target.send(new Call(i, requests.get(i)), call -> {});
            }
            assertThat(target.callsByReader()).containsExactly(4, 4, 4, 4);
            assertThat(target.openedLate()).isZero();
        }
    }

    @Test
    void every_request_is_sent_once_and_completes() throws IOException {
        try (FakeServer server = new FakeServer(FakeServer.tokens(5, 7, 5))) {
            OfferedLoad load = load(40, 7, 5);
            LoadResult result = run(server, load, LoadRun.UNBOUNDED);
            assertThat(result.completed()).hasSize(40);
            assertThat(result.outputTokens()).isEqualTo(200);
            assertThat(result.inputTokens()).isEqualTo(280);
            assertThat(result.oddities().openedLate()).isZero();
            assertThat(RunValidity.of(result, RULES).reasons()).isEmpty();
            assertThat(server.bodies().stream().map(LoadRunTest::ids))
                    .containsExactlyInAnyOrderElementsOf(load.requests().stream()
                            .map(request -> List.of(ints(request)))
                            .map(List::getFirst)
                            .toList());
        }
    }

    private static JsonNode json(String body) {
        return StrictJson.parse(body.getBytes(StandardCharsets.UTF_8));
    }

    private static String ids(String body) {
        return json(body).get("prompt").toString();
    }

    private static String ints(OfferedRequest request) {
        return java.util.Arrays.toString(((Prompt.Tokens) request.prompt()).ids())
                .replace(" ", "");
    }

    /** Returns a script that answers some requests; later ones wait for the latch. */
    private static FakeServer.Script answering(int requests, CountDownLatch over) {
        FakeServer.Script tokens = FakeServer.tokens(5, 7, 5);
        return (number, out) -> {
            if (number >= requests) {
                try {
                    over.await();
                } catch (InterruptedException e) {
                    throw new IOException(e);
                }
            }
            return tokens.answer(number, out);
        };
    }

    /** The second response never arrives, and the first interrupts the sender. */
    @Test
    void interrupted_run_keeps_the_requests_sent() throws IOException {
        CountDownLatch over = new CountDownLatch(1);
        Thread sending = Thread.currentThread();
        try (FakeServer server = new FakeServer(answering(1, over));
                HttpTarget target = new HttpTarget(server.endpoint(), 1, CLOCK, "test")) {
            LoadResult result = new LoadRun(target, 1, Duration.ofSeconds(30), CLOCK, AT_ONCE)
                    .run(load(40, 7, 5), () -> sending.interrupt());
            assertThat(Thread.interrupted()).isTrue();
            assertThat(result.completed()).hasSize(1);
            assertThat(result.calls().size()).isLessThanOrEqualTo(2);
            assertThat(result.oddities().unanswered()).isEqualTo(39);
            assertThat(RunValidity.of(result, RULES).reasons())
                    .contains("the run was interrupted with 39 requests unanswered");
        } finally {
            over.countDown();
        }
    }

    @Test
    void warm_up_ends_at_its_limit_although_a_response_is_missing() throws IOException {
        CountDownLatch over = new CountDownLatch(1);
        try (FakeServer server = new FakeServer(answering(0, over));
                HttpTarget target = new HttpTarget(server.endpoint(), 1, CLOCK, "test")) {
            LoadResult result = LoadRun.warmUp(target, Duration.ofDays(1), CLOCK, 50_000_000)
                    .run(load(1, 7, 5));
            assertThat(Thread.interrupted()).isFalse();
            assertThat(result.completed()).isEmpty();
            assertThat(result.calls())
                    .singleElement()
                    .satisfies(call -> assertThat(call.error())
                            .hasValueSatisfying(error -> assertThat(error).contains("the warm-up is over")));
        } finally {
            over.countDown();
        }
    }

    @Test
    void warm_up_ends_at_its_limit_although_a_request_is_not_due() throws IOException {
        try (FakeServer server = new FakeServer(FakeServer.tokens(5, 7, 5));
                HttpTarget target = new HttpTarget(server.endpoint(), 1, CLOCK, "test")) {
            List<OfferedRequest> requests = load(2, 7, 5).requests();
            LoadResult result = LoadRun.warmUp(target, Duration.ofDays(1), CLOCK, 50_000_000)
                    .run(OfferedLoad.every(3_600_000, requests, OfferedLoad.Pacing.SCHEDULED));
            assertThat(result.calls()).hasSize(1);
        }
    }

    @Test
    void request_on_a_just_closed_connection_is_resent() throws IOException {
        FakeServer.Script tokens = FakeServer.tokens(5, 7, 5);
        FakeServer.Script closing = (number, out) -> {
            boolean unused = tokens.answer(number, out);
            return false;
        };
        try (FakeServer server = new FakeServer(closing)) {
            LoadResult result = run(server, load(40, 7, 5), 1);
            assertThat(result.calls()).allMatch(CallResult::isComplete);
            assertThat(server.bodies()).hasSize(40);
        }
    }

    @Test
    void heartbeat_reports_the_longest_pause_between_wake_ups() throws InterruptedException {
        AtomicLong nanos = new AtomicLong();
        CountDownLatch looks = new CountDownLatch(8);
        Heartbeat heartbeat = Heartbeat.start(() -> {
            looks.countDown();
            return nanos.addAndGet(looks.getCount() == 4 ? 2_001_000_000 : 1_000_000);
        });
        looks.await();
        assertThat(heartbeat.stop()).isEqualTo(2_000_000_000);
    }

    @Test
    void request_contains_options_and_api_key() throws IOException {
        try (FakeServer server = new FakeServer(FakeServer.tokens(5, 7, 5))) {
            LoadResult unused = run(server, load(1, 7, 5), 1);
            JsonNode body = json(server.bodies().getFirst());
            assertThat(body.get("model").asString()).isEqualTo("m");
            assertThat(body.get("max_tokens").intValue()).isEqualTo(5);
            assertThat(body.get("ignore_eos").booleanValue()).isTrue();
            assertThat(body.get("stream").booleanValue()).isTrue();
            assertThat(body.get("stream_options").get("include_usage").booleanValue())
                    .isTrue();
            assertThat(server.heads().getFirst())
                    .startsWith("POST /v1/completions HTTP/1.1\n")
                    .contains("\nX-Request-Id: test-0\n", "\nAuthorization: Bearer secret\n");
        }
    }

    @Test
    void further_headers_and_fields_are_added_to_each_request() throws IOException {
        try (FakeServer server = new FakeServer(FakeServer.tokens(2, 7, 5))) {
            Endpoint plain = server.endpoint();
            Endpoint.Ask ask = new Endpoint.Ask(
                    0,
                    true,
                    true,
                    true,
                    true,
                    Endpoint.Additions.parse(
                            List.of("authorization=Basic eA==", "X-Pool=a=b"), Optional.of("{\"top_k\":5}")));
            Endpoint endpoint = new Endpoint(plain.base(), plain.kind(), plain.model(), plain.apiKey(), ask);
            try (HttpTarget target = new HttpTarget(endpoint, 1, CLOCK, "test")) {
                LoadResult unused = new LoadRun(target, 1, Duration.ofSeconds(30), CLOCK, AT_ONCE).run(load(2, 7, 5));
            }
            assertThat(server.heads())
                    .hasSize(2)
                    .allSatisfy(head -> assertThat(head)
                            .contains("\nauthorization: Basic eA==\n", "\nX-Pool: a=b\n")
                            .doesNotContain("Bearer"));
            assertThat(json(server.bodies().getFirst()).get("top_k").intValue()).isEqualTo(5);
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "X | {} | --header is 'X'; it must be NAME=VALUE",
                "X Y=1 | {} | --header is 'X Y=1'",
                "Host=a | {} | --header sets Host, which requests have already",
                "X=1 | [1] | --extra-body is [1]; it must be a JSON object",
                "X=1 | {\"a\": | --extra-body is not JSON",
                "X=1 | {\"stream\":false} | --extra-body sets stream, which requests have already"
            })
    void wrong_header_or_field_is_rejected(String header, String body, String message) {
        assertThatThrownBy(() -> Endpoint.Additions.parse(List.of(header), Optional.of(body)))
                .isInstanceOf(BadInput.class)
                .hasMessageContaining(message);
    }

    @Test
    void request_contains_its_priority_and_tenant() throws IOException {
        OfferedRequest request = OfferedRequest.of(0, new Prompt.Tokens(1), 5)
                .withTraits(OfferedRequest.Traits.NONE.withPriority(3).withTenant("a"));
        try (FakeServer server = new FakeServer(FakeServer.tokens(5, 7, 5))) {
            LoadResult result = run(server, new OfferedLoad(List.of(request), OfferedLoad.Pacing.BURST), 1);
            JsonNode body = json(server.bodies().getFirst());
            assertThat(body.get("priority").intValue()).isEqualTo(3);
            assertThat(body.get("user").asString()).isEqualTo("a");
            assertThat(result.calls().getFirst().traits()).isEqualTo(request.traits());
        }
    }

    @Test
    void request_contains_its_grammar() throws IOException {
        JsonNode constraints = json("{\"structured_outputs\":{\"regex\":\"a+\"}}");
        OfferedRequest constrained =
                OfferedRequest.of(0, new Prompt.Tokens(1), 5).withConstraints(Optional.of(constraints));
        try (FakeServer server = new FakeServer(FakeServer.tokens(5, 7, 5))) {
            LoadResult unused = run(server, new OfferedLoad(List.of(constrained), OfferedLoad.Pacing.BURST), 1);
            assertThat(json(server.bodies().getFirst()).get("structured_outputs"))
                    .isEqualTo(constraints.get("structured_outputs"));
        }
    }

    @Test
    void only_requests_of_chats_contain_tools() throws IOException {
        JsonNode tools = json("{\"tools\":[],\"tool_choice\":\"none\"}");
        OfferedLoad load = new OfferedLoad(
                List.of(OfferedRequest.of(0, new Prompt.Text("hi"), 5).withConstraints(Optional.of(tools))),
                OfferedLoad.Pacing.BURST);
        try (FakeServer server = new FakeServer(FakeServer.tokens(5, 7, 5))) {
            assertThatThrownBy(() -> run(server, load, 1)).hasMessageContaining("use --endpoint-type chat");
        }
    }

    @Test
    void requests_in_flight_are_limited() throws IOException {
        AtomicInteger now = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        CountDownLatch three = new CountDownLatch(3);
        FakeServer.Script tokens = FakeServer.tokens(2, 7, 2);
        FakeServer.Script counting = (number, out) -> {
            most.accumulateAndGet(now.incrementAndGet(), Math::max);
            three.countDown();
            try {
                three.await();
            } catch (InterruptedException e) {
                throw new IOException(e);
            }
            now.decrementAndGet();
            return tokens.answer(number, out);
        };
        try (FakeServer server = new FakeServer(counting)) {
            assertThat(run(server, load(30, 7, 2), 3).completed()).hasSize(30);
            assertThat(most).hasValue(3);
        }
    }

    @Test
    void terminated_connection_fails_only_its_request() throws IOException {
        FakeServer.Script tokens = FakeServer.tokens(4, 7, 4);
        FakeServer.Script cutting = (number, out) -> {
            if (number % 5 == 0) {
                out.write((Recorded.HEAD + "20\r\ndata: {\"cho").getBytes(StandardCharsets.US_ASCII));
                return false;
            }
            return tokens.answer(number, out);
        };
        try (FakeServer server = new FakeServer(cutting)) {
            LoadResult result = run(server, load(20, 7, 4), 2);
            assertThat(result.completed()).hasSize(16);
            assertThat(result.calls().stream().flatMap(call -> call.error().stream()))
                    .hasSize(4)
                    .containsOnly("the connection was closed during the response");
        }
    }

    /** Two of five connections are terminated; these requests have ended, too. */
    @Test
    void every_request_is_reported_once() throws IOException {
        FakeServer.Script tokens = FakeServer.tokens(4, 7, 4);
        FakeServer.Script cutting = (number, out) -> number % 5 > 2 ? false : tokens.answer(number, out);
        AtomicInteger reported = new AtomicInteger();
        try (FakeServer server = new FakeServer(cutting);
                HttpTarget target = new HttpTarget(server.endpoint(), 2, CLOCK, "test")) {
            LoadResult result = new LoadRun(target, 3, Duration.ofSeconds(30), CLOCK, AT_ONCE)
                    .run(load(40, 7, 4), reported::incrementAndGet);
            assertThat(result.calls()).hasSize(40);
            assertThat(reported).hasValue(40);
        }
    }

    /** A rejection has a content length, so the next response follows on the same connection. */
    @Test
    void connection_of_a_rejected_request_serves_the_next_one() throws IOException {
        FakeServer.Script tokens = FakeServer.tokens(4, 7, 4);
        String refusal = "HTTP/1.1 429 Too Many Requests\r\nRetry-After: 1\r\nContent-Type: application/json\r\n"
                + "Content-Length: 36\r\n\r\n{\"error\":{\"message\":\"too many now\"}}";
        FakeServer.Script refusing = (number, out) -> {
            if (number % 2 == 0) {
                out.write(refusal.getBytes(StandardCharsets.US_ASCII));
                return true;
            }
            return tokens.answer(number, out);
        };
        try (FakeServer server = new FakeServer(refusing)) {
            LoadResult result = run(server, load(20, 7, 4), 1);
            assertThat(result.completed())
                    .hasSize(10)
                    .allSatisfy(call -> assertThat(call.tokens()).isEqualTo(4));
            assertThat(result.oddities().openedLate()).isZero();
            assertThat(RunValidity.of(result, RULES).notes())
                    .singleElement()
                    .asString()
                    .contains("10 of 20 requests failed", "status 429", "too many now");
        }
    }

    @Test
    void run_without_completed_requests_gives_the_reason() throws IOException {
        FakeServer.Script endless = (number, out) -> {
            out.write((Recorded.HEAD + "0\r\n\r\n").getBytes(StandardCharsets.US_ASCII));
            return true;
        };
        try (FakeServer server = new FakeServer(endless)) {
            assertThat(RunValidity.of(run(server, load(3, 7, 4), 1), RULES).reasons())
                    .containsExactly("no request completed, first error: the stream ended"
                            + " without [DONE] or a finish_reason");
        }
    }

    @Test
    void prompt_larger_than_the_socket_buffer_is_sent_completely() throws IOException {
        try (FakeServer server = new FakeServer(FakeServer.tokens(1, 3_000_000, 1))) {
            LoadResult result = run(server, load(1, 3_000_000, 1), 1);
            assertThat(result.calls().getFirst().error()).isEmpty();
            assertThat(json(server.bodies().getFirst()).get("prompt").size()).isEqualTo(3_000_000);
        }
    }

    @Test
    void silent_server_times_out() throws IOException {
        try (FakeServer server = new FakeServer(LoadRunTest::neverAnswer);
                HttpTarget target = new HttpTarget(server.endpoint(), 1, CLOCK, "test")) {
            LoadResult result = new LoadRun(target, 2, Duration.ofMillis(1), CLOCK, AT_ONCE).run(load(2, 7, 4));
            assertThat(result.calls())
                    .allSatisfy(call -> assertThat(call.error())
                            .hasValueSatisfying(why -> assertThat(why).startsWith("nothing arrived for")));
        }
    }

    /** The callback at the end of a request runs on the reader thread, which an exception ends. */
    @Test
    void dead_reader_thread_ends_the_run_with_its_failure() throws IOException {
        try (FakeServer server = new FakeServer(FakeServer.tokens(5, 7, 5));
                HttpTarget target = new HttpTarget(server.endpoint(), 1, CLOCK, "test")) {
            LoadRun run = new LoadRun(target, 1, Duration.ofDays(1), CLOCK, AT_ONCE);
            assertThatThrownBy(() -> run.run(load(3, 7, 5), () -> {
                        throw new IllegalStateException("the reader dies");
                    }))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessage("the reader dies");
        }
    }

    @Test
    void unreachable_server_is_reported_immediately() throws IOException {
        FakeServer gone = new FakeServer(FakeServer.tokens(1, 1, 1));
        gone.close();
        assertThatThrownBy(() -> run(gone, load(1, 7, 1), 1))
                .isInstanceOf(BadInput.class)
                .hasMessageContaining("start the server, or check --base-url");
    }

    @Test
    void connections_are_reused_by_the_next_run() throws IOException {
        try (FakeServer server = new FakeServer(FakeServer.tokens(3, 7, 3));
                HttpTarget target = new HttpTarget(server.endpoint(), 1, CLOCK, "test")) {
            LoadRun run = new LoadRun(target, 4, Duration.ofSeconds(30), CLOCK, AT_ONCE);
            assertThat(run.run(load(10, 7, 3)).completed()).hasSize(10);
            assertThat(run.run(load(10, 7, 3)).completed()).hasSize(10);
            assertThat(target.openedLate()).isZero();
        }
    }

    @Test
    void connections_are_opened_in_advance_for_concurrent_requests() {
        List<OfferedRequest> requests = LongStream.of(0, 1, 9, 10, 11, 12, 30, 31)
                .mapToObj(due -> OfferedRequest.of(due, new Prompt.Tokens(1), 1))
                .toList();
        assertThat(HttpTarget.maxDueWithin(requests, 3)).isEqualTo(4);
        assertThat(HttpTarget.maxDueWithin(requests, 0)).isEqualTo(1);
        assertThat(HttpTarget.maxDueWithin(requests, 31)).isEqualTo(8);
        assertThat(HttpTarget.maxDueWithin(List.of(), 5)).isZero();
    }

    @Test
    void null_server_sends_the_requested_tokens() {
        try (NullServer server = NullServer.start();
                HttpTarget target = new HttpTarget(
                        new Endpoint(
                                server.uri(),
                                Endpoint.Kind.COMPLETIONS,
                                "",
                                java.util.Optional.empty(),
                                new Endpoint.Ask(0, true, true, true, true)),
                        1,
                        CLOCK,
                        "null")) {
            LoadResult result = new LoadRun(target, 8, Duration.ofSeconds(30), CLOCK, AT_ONCE).run(load(20, 9, 11));
            assertThat(result.outputTokens()).isEqualTo(220);
            assertThat(RunValidity.of(result, RULES).reasons()).isEmpty();
        }
    }
}

package io.roseinfer.server.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.base.Clock;
import io.roseinfer.server.http.RawClient.Answer;
import io.roseinfer.server.http.Response.ClientGone;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.Inet4Address;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** HTTP over sockets, with a test handler. Tests wait for events instead of sleeping. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class HttpServerTest {
    private static final HttpLimits SHORT = HttpLimits.defaults()
            .withTimeouts(Duration.ofMillis(100), Duration.ofMillis(100), Duration.ofMillis(100))
            .withWriteStall(Duration.ofMillis(100));

    /** Responds with the path and the size of the body; some paths do something else first. */
    private static final class Echo implements HttpHandler {
        final BlockingQueue<HttpCall> calls = new LinkedBlockingQueue<>();
        final CountDownLatch open = new CountDownLatch(1);
        final CompletableFuture<Boolean> left = new CompletableFuture<>();
        final CompletableFuture<String> stalled = new CompletableFuture<>();

        @Override
        public void handle(HttpCall call, Response response) {
            calls.add(call);
            switch (call.path()) {
                case "/wait" -> {
                    response.whenGone(() -> {
                        left.complete(true);
                        open.countDown();
                    });
                    awaitOpen();
                }
                case "/flood" -> flood(response);
                case "/chunks" -> {
                    response.begin(200, Map.of());
                    response.write("a\n".getBytes(StandardCharsets.UTF_8));
                    response.write("b\n".getBytes(StandardCharsets.UTF_8));
                    response.end();
                    return;
                }
                default -> {}
            }
            String text = call.path() + " " + call.body().size();
            response.send(new Reply(200, Map.of(), text.getBytes(StandardCharsets.UTF_8)));
        }

        private void awaitOpen() {
            try {
                open.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }

        private void flood(Response response) {
            response.begin(200, Map.of());
            try {
                while (true) {
                    response.write(new byte[1 << 16]);
                }
            } catch (ClientGone gone) {
                stalled.complete(gone.getMessage());
                throw gone;
            }
        }

        @Override
        public Optional<Supplier<CompletionStage<Reply>>> atHead(HttpCall head) {
            return switch (head.path()) {
                case "/brief" -> Optional.of(() -> CompletableFuture.completedStage(text("brief")));
                case "/probe/at-head" -> Optional.of(() -> CompletableFuture.completedStage(text("probe")));
                case "/later" -> Optional.of(() -> CompletableFuture.supplyAsync(() -> text("later")));
                default -> Optional.empty();
            };
        }

        @Override
        public boolean isProbe(HttpCall head) {
            return head.path().startsWith("/probe");
        }

        private static Reply text(String body) {
            return new Reply(200, Map.of(), body.getBytes(StandardCharsets.UTF_8));
        }

        @Override
        public Reply refusal(HttpCall head, int status, String message) {
            return new Reply(status, Map.of(), message.getBytes(StandardCharsets.UTF_8));
        }
    }

    private final Echo echo = new Echo();
    private HttpServer server = start(HttpLimits.defaults());
    private final List<RawClient> clients = new ArrayList<>();

    private HttpServer start(HttpLimits limits) {
        return HttpServer.start("127.0.0.1", 0, limits, Clock.system(), echo);
    }

    @BeforeEach
    void nothingIsOpen() {
        assertThat(server.connections()).isZero();
    }

    @AfterEach
    void close() throws IOException {
        for (RawClient client : clients) {
            client.close();
        }
        echo.open.countDown();
        server.close();
    }

    private void restart(HttpLimits limits) {
        server.close();
        server = start(limits);
    }

    private RawClient client() throws IOException {
        RawClient client = new RawClient(server.address());
        clients.add(client);
        return client;
    }

    private void awaitNoConnection() {
        while (server.connections() > 0) {
            Thread.onSpinWait();
        }
    }

    private void awaitNothingReserved() {
        while (server.reservedBytes() > 0) {
            Thread.onSpinWait();
        }
    }

    private static String withHeader(String header) {
        return "POST / HTTP/1.1\r\nHost: test\r\n" + header + "\r\n\r\n";
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Content-Length: -2",
                "Content-Length: +2",
                "Content-Length: 0x2",
                "Content-Length: 2, 2",
                "Content-Length: 99999999999999999999",
                "Content-Length: 2\r\nContent-Length: 3",
                "Content-Length: 2\r\nContent-Length: 2",
                "Content-Length: 2\r\nTransfer-Encoding: chunked",
                "Transfer-Encoding: chunked\r\nContent-Length: 2",
                "Transfer-Encoding: xchunked",
                "Transfer-Encoding: chunked, identity",
                "Transfer-Encoding: gzip, chunked",
                "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
                "Transfer-Encoding : chunked",
                "Host: another",
                "X: a\0b",
                "X: a\rb",
                "X\nY: a"
            })
    void ambiguous_body_length_or_malformed_header_ends_the_connection(String header) throws IOException {
        RawClient client = client();
        Answer answer = client.call(withHeader(header) + "ab" + RawClient.get("/smuggled"));
        assertThat(answer.status()).isEqualTo(400);
        assertThat(answer.header("connection")).contains("close");
        assertThat(client.rest()).isEmpty();
        assertThat(echo.calls).isEmpty();
    }

    /** By its chunks the body is empty and the rest another request; by its length all of it is the body. */
    @Test
    void body_with_two_well_formed_lengths_is_rejected() throws IOException {
        String rest = "0\r\n\r\n" + RawClient.get("/smuggled");
        RawClient client = client();
        String header = "Content-Length: " + rest.length() + "\r\nTransfer-Encoding: chunked";
        assertThat(client.call(withHeader(header) + rest).status()).isEqualTo(400);
        assertThat(client.rest()).isEmpty();
        assertThat(echo.calls).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "GET / HTTP/1.1\r\n\r\n",
                "GET / HTTP/2.0\r\nHost: a\r\n\r\n",
                "GET /\r\n\r\n",
                "GET / HTTP/1.1\nHost: a\n\n",
                "hello\r\n\r\n"
            })
    void invalid_request_is_rejected(String bytes) throws IOException {
        RawClient client = client();
        assertThat(client.call(bytes).status()).isEqualTo(400);
        assertThat(client.rest()).isEmpty();
        assertThat(echo.calls).isEmpty();
    }

    @Test
    void too_large_headers_are_rejected() throws IOException {
        assertThat(client().call(withHeader("X: " + "a".repeat(20_000))).status())
                .isEqualTo(431);
        String many = "X: a\r\n".repeat(100) + "Y: a";
        assertThat(client().call(withHeader(many)).status()).isEqualTo(431);
        assertThat(client().call(RawClient.get("/" + "a".repeat(9000))).status())
                .isEqualTo(414);
        assertThat(echo.calls).isEmpty();
    }

    @Test
    void rejection_of_a_request_line_or_headers_names_the_limit() throws IOException {
        assertThat(client().call(RawClient.get("/" + "a".repeat(9000))).body()).contains("8192");
        assertThat(client().call(withHeader("X: " + "a".repeat(20_000))).body()).contains("16384");
    }

    @ParameterizedTest
    @ValueSource(strings = {"-1", "x"})
    void rejection_of_a_length_has_the_allowed_ones(String length) throws IOException {
        assertThat(client().call(withHeader("Content-Length: " + length)).body())
                .isEqualTo("not an HTTP request: Content-Length is " + length + "; it must be a whole number from 0");
    }

    /** The start of a record with a handshake of TLS 1.0, as clients of every version send it. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void tls_handshake_is_named_as_such_before_it_is_complete(int firstBytes) throws IOException {
        byte[] hello = {0x16, 3, 1, 2, 0};
        RawClient client = client();
        client.send(Arrays.copyOf(hello, firstBytes));
        client.send(Arrays.copyOfRange(hello, firstBytes, hello.length));
        Answer answer = client.answer();
        assertThat(answer.status()).isEqualTo(400);
        assertThat(answer.body()).startsWith("a TLS handshake; this port speaks plain HTTP");
        assertThat(client.rest()).isEmpty();
    }

    @Test
    void body_announced_too_large_is_rejected_before_it_arrives() throws IOException {
        RawClient client = client();
        assertThat(client.call(withHeader("Content-Length: 4194305")).status()).isEqualTo(413);
        assertThat(client.rest()).isEmpty();
        assertThat(echo.calls).isEmpty();
    }

    @Test
    void body_that_grows_too_large_is_rejected() throws IOException {
        RawClient client = client();
        client.send(withHeader("Transfer-Encoding: chunked"));
        String chunk = "100000\r\n" + "a".repeat(1 << 20) + "\r\n";
        for (int i = 0; i < 4; i++) {
            client.send(chunk);
        }
        client.send("1\r\na\r\n");
        assertThat(client.answer().status()).isEqualTo(413);
        assertThat(echo.calls).isEmpty();
    }

    @Test
    void bodies_are_read_with_a_length_or_in_chunks() throws IOException {
        RawClient client = client();
        assertThat(client.call(RawClient.post("/a", "x".repeat(100_000))).body())
                .isEqualTo("/a 100000");
        assertThat(client.call(withHeader("Transfer-Encoding: chunked") + "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n")
                        .body())
                .isEqualTo("/ 5");
    }

    @Test
    void expect_continue_is_answered() throws IOException {
        RawClient client = client();
        client.send("POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n");
        assertThat(client.line()).isEqualTo("HTTP/1.1 100 Continue");
        while (!client.line().isEmpty()) {
            // Its headers.
        }
        assertThat(client.call("ab").body()).isEqualTo("/a 2");
    }

    @Test
    void pipelined_requests_are_answered_in_order() throws IOException {
        RawClient client = client();
        client.send(RawClient.get("/a") + RawClient.post("/b", "xy") + RawClient.get("/chunks") + RawClient.get("/d"));
        assertThat(List.of(
                        client.answer().body(),
                        client.answer().body(),
                        client.answer().body(),
                        client.answer().body()))
                .containsExactly("/a 0", "/b 2", "a\nb\n", "/d 0");
    }

    /** More than the maximum of pipelined requests, whose bytes arrive at once or split anywhere. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void any_number_of_pipelined_requests_is_answered_in_order(long seed) throws Exception {
        Random random = new Random(seed);
        StringBuilder sent = new StringBuilder();
        List<String> expected = new ArrayList<>();
        for (int i = 0; i < 400; i++) {
            String body = "x".repeat(random.nextInt(200));
            switch (random.nextInt(6)) {
                case 0 -> {
                    sent.append(RawClient.get("/brief?" + i));
                    expected.add("brief");
                }
                case 1 -> {
                    sent.append(RawClient.post("/brief", body));
                    expected.add("brief");
                }
                case 2 -> {
                    sent.append(RawClient.get("/later"));
                    expected.add("later");
                }
                case 3 -> {
                    sent.append("HEAD /brief HTTP/1.1\r\nHost: a\r\n\r\n");
                    expected.add("");
                }
                case 4 -> {
                    sent.append(RawClient.get("/chunks"));
                    expected.add("a\nb\n");
                }
                default -> {
                    sent.append(RawClient.post("/" + i, body));
                    expected.add("/" + i + " " + body.length());
                }
            }
        }
        RawClient client = client();
        Thread sender = Thread.ofVirtual().start(() -> send(client, sent.toString(), random));
        for (int i = 0; i < expected.size(); i++) {
            String what = expected.get(i);
            String answered =
                    what.isEmpty() ? client.head().body() : client.answer().body();
            assertThat(answered).as("seed %d, request %d", seed, i).isEqualTo(what);
        }
        sender.join();
        awaitNothingReserved();
    }

    private static void send(RawClient client, String bytes, Random random) {
        int at = 0;
        while (at < bytes.length()) {
            int end = Math.min(bytes.length(), at + 1 + random.nextInt(random.nextInt(20) == 0 ? 40_000 : 100));
            try {
                client.send(bytes.substring(at, end));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            at = end;
        }
    }

    @Test
    void reading_of_pipelined_requests_is_bounded() throws Exception {
        restart(HttpLimits.defaults().withHeldBytes(64 << 20));
        RawClient client = client();
        client.send(RawClient.get("/wait"));
        HttpCall unused = echo.calls.take();
        AtomicInteger sent = new AtomicInteger();
        Thread sender = Thread.ofVirtual().start(() -> {
            try {
                for (int i = 0; i < 64; i++) {
                    client.send(RawClient.post("/a", "x".repeat(1 << 20)));
                    sent.incrementAndGet();
                }
            } catch (IOException closed) {
                throw new UncheckedIOException(closed);
            }
        });
        while (server.reservedBytes() < 5 << 20) {
            Thread.onSpinWait();
        }
        assertThat(sent.get()).isLessThan(64);
        assertThat(server.reservedBytes()).isLessThan(8 << 20);
        echo.open.countDown();
        for (int i = 0; i < 65; i++) {
            assertThat(client.answer().status()).isEqualTo(200);
        }
        sender.join();
        awaitNothingReserved();
    }

    @Test
    void unneeded_body_is_discarded_and_the_connection_stays_open() throws IOException {
        RawClient client = client();
        client.send("POST /brief HTTP/1.1\r\nHost: a\r\nContent-Length: 3000000\r\n\r\n" + "x".repeat(2_000_000));
        assertThat(client.answer().body()).isEqualTo("brief");
        assertThat(server.reservedBytes()).isZero();
        client.send("x".repeat(1_000_000));
        assertThat(client.call(RawClient.get("/a")).body()).isEqualTo("/a 0");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Content-Length: 2\r\nExpect: 100-continue",
                "Content-Length: 4194305",
                "Transfer-Encoding: chunked",
                "Connection: close"
            })
    void decided_request_with_an_unbounded_body_is_the_last(String header) throws IOException {
        RawClient client = client();
        Answer answer = client.call("POST /brief HTTP/1.1\r\nHost: a\r\n" + header + "\r\n\r\n");
        assertThat(answer.body()).isEqualTo("brief");
        assertThat(answer.header("connection")).contains("close");
        client.send(RawClient.get("/a"));
        assertThat(client.rest()).isEmpty();
        assertThat(echo.calls).isEmpty();
    }

    /** Stalled uploads reserve at most half of the memory for bodies: short requests are still served. */
    @Test
    void large_bodies_beyond_the_budget_are_rejected_and_small_ones_served() throws IOException {
        restart(HttpLimits.defaults().withHeldBytes(8 << 20));
        String half = "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 2000000\r\n\r\n" + "x".repeat(1_900_000);
        List<RawClient> uploads = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            uploads.add(client().send(half));
        }
        while (server.reservedBytes() < 2 * 1_900_000) {
            Thread.onSpinWait();
        }
        assertThat(client().call(half).status()).isEqualTo(503);
        assertThat(client().call(RawClient.post("/b", "x".repeat(1000))).body()).isEqualTo("/b 1000");
        for (RawClient upload : uploads) {
            assertThat(upload.call("x".repeat(100_000)).body()).isEqualTo("/a 2000000");
        }
        RawClient last = client().send(half);
        while (server.reservedBytes() < 1_900_000) {
            Thread.onSpinWait();
        }
        last.close();
        awaitNothingReserved();
    }

    @Test
    void reading_stops_after_the_last_request() throws IOException {
        RawClient client = client();
        client.send("GET /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n" + RawClient.get("/b"));
        assertThat(client.answer().body()).isEqualTo("/a 0");
        assertThat(client.rest()).isEmpty();
        assertThat(echo.calls).extracting(HttpCall::path).containsExactly("/a");
    }

    @Test
    void http_1_0_is_answered_without_chunks_and_closed() throws IOException {
        RawClient client = client();
        Answer answer = client.call("GET /chunks HTTP/1.0\r\n\r\n");
        assertThat(answer.header("transfer-encoding")).isEmpty();
        assertThat(answer.body()).isEqualTo("a\nb\n");
    }

    @ParameterizedTest
    @ValueSource(strings = {"/brief", "/later", "/a"})
    void head_response_has_only_the_headers_of_get(String path) throws IOException {
        RawClient client = client();
        Answer get = client.call(RawClient.get(path));
        Answer head =
                client.send("HEAD " + path + " HTTP/1.1\r\nHost: a\r\n\r\n").head();
        assertThat(head.status()).isEqualTo(get.status());
        assertThat(head.headers()).isEqualTo(get.headers());
        assertThat(client.call(RawClient.get("/b")).body()).isEqualTo("/b 0");
    }

    @ParameterizedTest
    @ValueSource(strings = {"http://host/a?b=c", "HTTPS://host:1/a?b=c"})
    void target_with_scheme_and_host_means_its_path(String target) throws IOException {
        assertThat(client().call(RawClient.get(target)).body()).isEqualTo("/a 0");
        assertThat(client().call(RawClient.get("http://host?b=c")).body()).isEqualTo("/ 0");
        assertThat(echo.calls).extracting(HttpCall::query).containsOnly("b=c");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "GET / HT",
                "\u0016\u0003\u0001\u0002",
                "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nabc",
                "GET /a HTTP/1.1\r\nHost: a\r\n\r\n",
                "GET /a HTTP/1.1\r\nHost: a\r\n\r\nGET"
            })
    void slow_connection_is_closed(String bytes) throws IOException {
        restart(SHORT);
        RawClient client = client();
        client.send(bytes);
        String unused = client.rest();
        awaitNoConnection();
    }

    @ParameterizedTest
    @CsvSource({
        "'GET / HT', headers",
        "'GET /a HTTP/1.1\r\nHost: a\r\n', headers",
        "'POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nabc', body",
        "'POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n', body"
    })
    void request_that_does_not_arrive_in_time_is_answered_408(String bytes, String part) throws IOException {
        restart(SHORT);
        RawClient client = client();
        Answer answer = client.call(bytes);
        assertThat(answer.status()).isEqualTo(408);
        assertThat(answer.body()).isEqualTo("the " + part + " did not arrive within 0.1 s");
        assertThat(client.rest()).isEmpty();
        awaitNoConnection();
        awaitNothingReserved();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "GET /a?b=c HTTP/1.1\r\nHost: a\r\n\r\n"})
    void connection_without_a_partial_request_is_closed_without_408(String bytes) throws IOException {
        restart(SHORT);
        assertThat(client().send(bytes).rest()).doesNotContain("408");
    }

    @Test
    void discarded_body_that_does_not_arrive_is_no_second_response() throws IOException {
        restart(SHORT);
        RawClient client = client();
        Answer answer = client.call("POST /brief HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nabc");
        assertThat(answer.body()).isEqualTo("brief");
        assertThat(client.rest()).isEmpty();
    }

    @Test
    void connection_beyond_the_maximum_serves_only_a_probe() throws IOException {
        restart(HttpLimits.defaults().withConnections(2));
        RawClient first = client();
        RawClient second = client();
        assertThat(first.call(RawClient.get("/a")).status()).isEqualTo(200);
        assertThat(second.call(RawClient.get("/a")).status()).isEqualTo(200);
        for (String path : List.of("/probe", "/probe/at-head")) {
            RawClient probe = client();
            assertThat(probe.call(RawClient.get(path)).status()).isEqualTo(200);
            assertThat(probe.rest()).isEmpty();
            probe.close();
        }
        awaitConnections(2);
        assertThat(server.rejectedConnections()).isZero();
        RawClient refused = client();
        Answer busy = refused.call(RawClient.post("/a", "x".repeat(1000)));
        assertThat(busy.status()).isEqualTo(503);
        assertThat(busy.body()).startsWith("2 connections are open");
        assertThat(busy.header("Connection")).contains("close");
        assertThat(refused.rest()).isEmpty();
        refused.close();
        awaitConnections(2);
        assertThat(server.rejectedConnections()).isEqualTo(1);
        assertThat(first.call(RawClient.get("/a")).status()).isEqualTo(200);
        second.close();
        awaitConnections(1);
        assertThat(client().call(RawClient.get("/a")).status()).isEqualTo(200);
    }

    /** The timeout for headers is a minute; the one beyond the maximum is much shorter. */
    @Test
    void idle_connections_beyond_the_maximum_are_bounded_and_closed_soon() throws IOException {
        Duration minute = Duration.ofSeconds(60);
        restart(HttpLimits.defaults().withConnections(2).withTimeouts(minute, minute, minute));
        RawClient first = client();
        RawClient second = client();
        assertThat(first.call(RawClient.get("/a")).status()).isEqualTo(200);
        assertThat(second.call(RawClient.get("/a")).status()).isEqualTo(200);
        int beyond = ConnectionLimit.RESERVE + 5;
        List<RawClient> idle = new ArrayList<>();
        for (int i = 0; i < beyond; i++) {
            idle.add(client());
            assertThat(server.connections()).isLessThanOrEqualTo(2 + ConnectionLimit.RESERVE);
        }
        for (RawClient each : idle) {
            assertThat(each.rest()).isEmpty();
        }
        awaitConnections(2);
        assertThat(server.rejectedConnections()).isEqualTo(beyond);
        assertThat(client().call(RawClient.get("/probe")).status()).isEqualTo(200);
    }

    private void awaitConnections(int count) {
        while (server.connections() > count) {
            Thread.onSpinWait();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"FIN", "RST", "half"})
    void disconnect_is_detected_without_a_write(String how) throws Exception {
        RawClient client = client();
        client.send(RawClient.get("/wait"));
        HttpCall unused = echo.calls.take();
        switch (how) {
            case "FIN" -> client.close();
            case "RST" -> client.reset();
            default -> client.halfClose();
        }
        assertThat(echo.left.get()).isTrue();
        awaitNoConnection();
    }

    @Test
    void stalled_client_is_disconnected() throws Exception {
        restart(SHORT);
        RawClient client = new RawClient(server.address(), 4096);
        clients.add(client);
        client.send(RawClient.get("/flood"));
        assertThat(echo.stalled.get()).contains("has read nothing for 0.1 s");
        awaitNoConnection();
    }

    /** The JDK's default is to bind it as {@code ::}, which other machines can reach by IPv6, too. */
    @Test
    void wildcard_of_ipv4_is_bound_without_ipv6() {
        try (HttpServer wide = HttpServer.start("0.0.0.0", 0, HttpLimits.defaults(), Clock.system(), echo)) {
            assertThat(wide.address().getAddress()).isInstanceOf(Inet4Address.class);
            assertThat(wide.address().getHostString()).isEqualTo("0.0.0.0");
        }
    }

    @Test
    void address_in_use_is_reported() {
        int port = server.address().getPort();
        assertThat(org.assertj.core.api.Assertions.catchThrowable(
                        () -> HttpServer.start("127.0.0.1", port, HttpLimits.defaults(), Clock.system(), echo)))
                .hasMessageContaining("port " + port)
                .hasMessageContaining("choose another port");
    }
}

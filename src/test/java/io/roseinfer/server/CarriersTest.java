package io.roseinfer.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.backend.sim.SimOptions;
import io.roseinfer.server.http.RawClient;
import io.roseinfer.tokenizer.Tokenizer;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Carriers of virtual threads are neither needed for the server's state nor used to tokenize. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class CarriersTest {
    /** Virtual threads that compute, one on every carrier, until they are released. */
    private static final class BusyCarriers implements AutoCloseable {
        private final AtomicBoolean free = new AtomicBoolean();

        BusyCarriers() {
            int carriers = Runtime.getRuntime().availableProcessors();
            AtomicInteger running = new AtomicInteger();
            for (int i = 0; i < carriers; i++) {
                Thread unused = Thread.ofVirtual().start(() -> {
                    running.incrementAndGet();
                    while (!free.get()) {
                        Thread.onSpinWait();
                    }
                });
            }
            while (running.get() < carriers) {
                Thread.onSpinWait();
            }
        }

        @Override
        public void close() {
            free.set(true);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "GET, /health, 200",
        "HEAD, /health, 200",
        "GET, /ping, 200",
        "GET, /, 200",
        "GET, /version, 200",
        "GET, /metrics, 200",
        "HEAD, /metrics, 200",
        "GET, /v1/models, 200",
        "GET, /v1/models/sim, 200",
        "GET, /v1/models/other, 404",
        "GET, /debug/requests, 200",
        "GET, /debug/clock, 200",
        "GET, /debug/steps, 200",
        "GET, /nothing, 404",
        "POST, /health, 405",
        "HEAD, /v1/completions, 405",
        "DELETE, /tokenize, 405"
    })
    void requests_decided_by_headers_are_answered_without_a_free_carrier(String method, String path, int status)
            throws IOException {
        try (TestServer server = TestServer.start();
                RawClient client = server.client();
                BusyCarriers busy = new BusyCarriers()) {
            client.send(method + " " + path + " HTTP/1.1\r\nHost: a\r\n\r\n");
            assertThat(client.head().status()).isEqualTo(status);
            assertThat(busy.free).isFalse();
        }
    }

    /** Records the threads on which the real tokenizer encodes. */
    private static final class Watched {
        private final AtomicInteger virtual = new AtomicInteger();
        private final AtomicInteger platform = new AtomicInteger();

        Tokenizer tokenizer() {
            return (Tokenizer) Proxy.newProxyInstance(
                    Tokenizer.class.getClassLoader(), new Class<?>[] {Tokenizer.class}, (proxy, method, arguments) -> {
                        if (method.getName().startsWith("encode")) {
                            (Thread.currentThread().isVirtual() ? virtual : platform).incrementAndGet();
                        }
                        return method.invoke(TestServer.WORDS, arguments);
                    });
        }
    }

    @Test
    void no_carrier_tokenizes() throws IOException {
        Watched words = new Watched();
        ServerOptions options =
                TestServer.options().withModel(TestServer.options().model().withChat(TestServer.chat()));
        try (TestServer server = new TestServer(
                TestServer.engineOptions(), SimOptions.defaults(), options, Optional.of(words.tokenizer()))) {
            String chat = "{\"messages\":[{\"role\":\"user\",\"content\":\"Hello\"}],\"max_tokens\":2}";
            String text = "{\"prompt\":[\"a\",\"b\"],\"max_tokens\":2,\"stop\":\"x\"}";
            for (List<String> call : List.of(
                    List.of("/v1/completions", text),
                    List.of("/v1/chat/completions", chat),
                    List.of("/tokenize", "{\"prompt\":\"Once\"}"),
                    List.of("/tokenize", chat))) {
                assertThat(server.post(call.getFirst(), call.getLast()).status())
                        .isEqualTo(200);
            }
            assertThat(words.platform.get()).isGreaterThanOrEqualTo(5);
            assertThat(words.virtual).hasValue(0);
        }
    }
}

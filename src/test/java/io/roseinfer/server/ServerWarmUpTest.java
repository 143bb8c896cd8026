package io.roseinfer.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.backend.sim.SimOptions;
import io.roseinfer.base.Clock;
import io.roseinfer.server.ServerWarmUp.SampleCall;
import io.roseinfer.server.api.ServedModel;
import io.roseinfer.server.http.RawClient;
import io.roseinfer.tokenizer.chat.ChatTemplate;
import java.io.IOException;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The requests that a server sends to itself before the first client. They must be valid, or only error handling would
 * be warmed up.
 */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ServerWarmUpTest {
    private static void assertServed(TestServer server, List<SampleCall> sampleCalls) throws IOException {
        for (SampleCall ask : sampleCalls) {
            try (RawClient client = server.client()) {
                assertThat(client.send(ask.request(3)).answer().status())
                        .as(ask.toString())
                        .isEqualTo(200);
            }
        }
    }

    @Test
    void warm_up_of_a_chat_model_has_texts_and_chats() throws IOException {
        try (TestServer server = TestServer.startChat()) {
            ChatTemplate template = ChatTemplate.parse("{{ messages[0].content }}", "a test's", Map.of());
            List<SampleCall> sampleCalls = ServerWarmUp.sampleCalls(
                    server.engine, ServedModel.named("sim").withChat(Optional.of(template)));
            assertThat(sampleCalls).extracting(SampleCall::path).contains("/v1/completions", "/v1/chat/completions");
            assertServed(server, sampleCalls);
        }
    }

    /** The limit has passed once the server has started. */
    @Test
    void warm_up_serves_a_request_regardless_of_its_limit() throws IOException {
        try (TestServer server = TestServer.startChat()) {
            ServerWarmUp.run(server.engine, ServedModel.named("sim"), 1, Clock.system(), InstantSource.system());
            assertThat(server.engine.stats().requests().accepted()).isPositive();
        }
    }

    @Test
    void warm_up_of_a_model_without_tokenizer_has_ids() throws IOException {
        try (TestServer server = new TestServer(
                TestServer.engineOptions(), SimOptions.defaults(), TestServer.options(), Optional.empty())) {
            assertServed(server, ServerWarmUp.sampleCalls(server.engine, ServedModel.named("sim")));
        }
    }
}

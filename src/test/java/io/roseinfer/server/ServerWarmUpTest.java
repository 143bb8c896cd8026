package io.roseinfer.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.backend.sim.SimOptions;
import io.roseinfer.server.ServerWarmUp.Ask;
import io.roseinfer.server.api.ServedModel;
import io.roseinfer.server.http.RawClient;
import io.roseinfer.tokenizer.chat.ChatTemplate;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a server asks itself before the first client comes. Calls that are refused would warm refusals up. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ServerWarmUpTest {
    private static void assertServed(TestServer server, List<Ask> asks) throws IOException {
        for (Ask ask : asks) {
            try (RawClient client = server.client()) {
                assertThat(client.send(ask.request(3)).answer().status())
                        .as(ask.toString())
                        .isEqualTo(200);
            }
        }
    }

    @Test
    void a_model_that_chats_is_asked_for_text_and_chats_and_serves_them() throws IOException {
        try (TestServer server = TestServer.startChat()) {
            ChatTemplate template = ChatTemplate.parse("{{ messages[0].content }}", "a test's", Map.of());
            List<Ask> asks =
                    ServerWarmUp.asks(server.engine, ServedModel.named("sim").withChat(Optional.of(template)));
            assertThat(asks).extracting(Ask::path).contains("/v1/completions", "/v1/chat/completions");
            assertServed(server, asks);
        }
    }

    @Test
    void a_model_without_a_tokenizer_is_asked_for_ids_and_serves_them() throws IOException {
        try (TestServer server = new TestServer(
                TestServer.engineOptions(), SimOptions.defaults(), TestServer.options(), Optional.empty())) {
            assertServed(server, ServerWarmUp.asks(server.engine, ServedModel.named("sim")));
        }
    }
}

package io.roseinfer.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.LoadedModel;
import io.roseinfer.Roseinfer;
import io.roseinfer.Settings;
import io.roseinfer.base.Clock;
import io.roseinfer.engine.Engine;
import io.roseinfer.engine.EngineOptions;
import io.roseinfer.golden.Golden;
import io.roseinfer.hub.DownloadListener;
import io.roseinfer.server.api.ServedModel;
import io.roseinfer.server.http.RawClient;
import java.io.IOException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tools.jackson.databind.JsonNode;

/** The built-in chat model on the server. */
@Tag("parity")
@Timeout(value = 240, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class BuiltinChatTest {
    private static final String MODEL = "builtin:chat";

    private static final DownloadListener SILENT = new DownloadListener() {
        @Override
        public void progress(String file, long bytesSoFar, long totalBytes) {}

        @Override
        public void warning(String message) {}
    };

    /** The only choice of the response to {@code messages}. */
    private static JsonNode choice(Server server, JsonNode messages) throws IOException {
        String body = "{\"messages\": " + messages + ", \"temperature\": 0}";
        try (RawClient client = new RawClient(server.address())) {
            RawClient.Answer answer = client.call(RawClient.post("/v1/chat/completions", body));
            assertThat(answer.status()).as(answer.body()).isEqualTo(200);
            return TestServer.json(answer).get("choices").get(0);
        }
    }

    @Test
    void responses_end_at_the_end_of_the_turn() throws IOException {
        Golden golden = Golden.read("builtin-chat");
        EngineOptions options = EngineOptions.defaults().withKvBlocks(256);
        Settings settings = Settings.of(MODEL)
                .withDevice(Settings.Device.CPU)
                .withThreads(2)
                .withEngine(options);
        ServerMetrics metrics = new ServerMetrics(MODEL);
        AccessLog lines = new AccessLog(AccessLog.Format.JSON, line -> {}, Clock.system(), () -> TestServer.NOW);
        try (LoadedModel model = Roseinfer.load(settings, SILENT);
                Engine engine = model.serve(options, Clock.system(), metrics.observers());
                Server server = Server.start(
                        engine,
                        ServerOptions.of(MODEL, "1")
                                .withModel(ServedModel.named(MODEL).withChat(model.chat())),
                        metrics,
                        lines,
                        Clock.system(),
                        () -> TestServer.NOW)) {
            for (int p = 0; p < golden.prompts(); p++) {
                JsonNode choice = choice(server, golden.prompt(p).get("messages"));
                assertThat(choice.get("message").get("content").asString())
                        .isEqualTo(golden.prompt(p).get("greedy_text").asString());
                assertThat(choice.get("finish_reason").asString()).isEqualTo("stop");
            }
        }
    }
}

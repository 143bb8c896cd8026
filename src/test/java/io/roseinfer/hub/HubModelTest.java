package io.roseinfer.hub;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.Roseinfer;
import io.roseinfer.Settings;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.RoseException.BadModel;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A hub id passed to the public API: which settings apply, and when. */
class HubModelTest extends HubTestBase {

    @ParameterizedTest
    @ValueSource(strings = {"bloom", "mamba"})
    void unsupported_family_is_rejected_before_download_of_the_weights(String family) {
        hub.file("config.json", utf8("{\"model_type\":\"" + family + "\"}"));
        assertThatThrownBy(() -> load(Map.of("HF_HUB_CACHE", cache.toString())))
                .isInstanceOf(BadModel.class)
                .hasMessageContaining(family);
        assertThat(hub.seen()).allMatch(request -> request.path().endsWith("/config.json"));
    }

    /** The Split of a published tokenizer that is not supported. */
    @Test
    void unreadable_tokenizer_is_rejected_before_the_weights_unless_ids_suffice() {
        hub.remove("vocab.json");
        String expression = "[^\\\\r\\\\n\\\\p{L}\\\\p{N}]?[\\\\p{Lu}\\\\p{Lt}\\\\p{Lm}\\\\p{Lo}\\\\p{M}]*".repeat(9);
        hub.file(
                "tokenizer.json",
                utf8(
                        "{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0},\"merges\":[]},\"pre_tokenizer\":{\"type\":\"Sequence\",\"pretokenizers\":["
                                + "{\"type\":\"Split\",\"pattern\":{\"Regex\":\"" + expression
                                + "\"},\"behavior\":\"Isolated\",\"invert\":false},"
                                + "{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"trim_offsets\":true,\"use_regex\":false}]}}"));
        Map<String, String> environment = Map.of("HF_HUB_CACHE", cache.toString());
        assertThatThrownBy(() -> load(environment))
                .isInstanceOf(BadModel.class)
                .hasMessageContaining("is not the expression of ")
                .hasMessageContaining("models.md")
                .message()
                .hasSizeLessThan(600);
        assertThat(hub.bodies(WEIGHTS)).isEmpty();
        assertThatThrownBy(() -> load(settings(environment).withTokenIdsOnly(true)))
                .hasMessageContaining(WEIGHTS);
        assertThat(hub.bodies(WEIGHTS)).hasSize(1);
    }

    @Test
    void context_beyond_the_model_limit_is_rejected_before_the_weights() {
        assertThatThrownBy(() ->
                        load(settings(Map.of("HF_HUB_CACHE", cache.toString())).withMaxModelLen(1025)))
                .isInstanceOf(BadInput.class)
                .hasMessageContaining("maxModelLen is 1025; allowed are 2 to 1024");
        assertThat(hub.bodies(WEIGHTS)).isEmpty();
    }

    @Test
    void library_logs_the_beginning_and_the_end_of_a_download() {
        List<String> lines = new ArrayList<>();
        Handler records = new Handler() {
            @Override
            public void publish(LogRecord logged) {
                if (logged.getLevel().equals(Level.INFO)) {
                    lines.add(logged.getMessage());
                }
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        };
        Logger logger = Logger.getLogger("io.roseinfer");
        logger.addHandler(records);
        try {
            Settings settings =
                    settings(Map.of("HF_HUB_CACHE", cache.toString())).withTokenIdsOnly(true);
            assertThatThrownBy(() -> Roseinfer.load(settings)).isInstanceOf(BadModel.class);
        } finally {
            logger.removeHandler(records);
        }
        int bytes = hub.content(WEIGHTS).length;
        assertThat(lines)
                .containsExactly(
                        "downloading " + WEIGHTS + " of owner/small, " + bytes + " bytes",
                        "downloaded " + WEIGHTS + " of owner/small");
    }

    @Test
    void cache_is_in_the_home_of_the_environment() {
        assertThatThrownBy(() -> load(Map.of("HOME", cache.toString(), "HF_HUB_OFFLINE", "1")))
                .isInstanceOf(BadModel.class)
                .hasMessageContaining("is not in the cache " + cache.resolve(".cache/huggingface/hub"));
    }

    @Test
    void saved_token_is_not_sent_if_implicit_tokens_are_disabled() throws IOException {
        Files.writeString(cache.resolve("token"), "hf_saved");
        hub.file("config.json", utf8("[]"));
        Map<String, String> environment = Map.of("HF_HOME", cache.toString());
        assertThatThrownBy(() -> load(environment)).isInstanceOf(BadModel.class);
        assertThat(hub.seen()).isNotEmpty().allMatch(FakeHub.Seen::hasToken);
        int before = hub.seen().size();
        Map<String, String> disabled = Map.of("HF_HOME", cache.toString(), "HF_HUB_DISABLE_IMPLICIT_TOKEN", "true");
        assertThatThrownBy(() -> load(disabled)).isInstanceOf(BadModel.class);
        assertThat(hub.seen().subList(before, hub.seen().size())).isNotEmpty().noneMatch(FakeHub.Seen::hasToken);
    }

    @ParameterizedTest
    @CsvSource({"HF_ENDPOINT,not an address", "HF_TOKEN,two words", "HF_TOKEN_PATH,/", "https_proxy,socks5://x"})
    void cached_model_needs_neither_hub_nor_token(String variable, String value) throws IOException {
        download();
        Files.writeString(cache.resolve("models--owner--small/snapshots/" + FakeHub.COMMIT + "/config.json"), "[]");
        Map<String, String> environment =
                Map.of("HF_HUB_CACHE", cache.toString(), "HF_HUB_OFFLINE", "1", variable, value);
        assertThatThrownBy(() -> load(environment)).isInstanceOf(BadModel.class).hasMessageContaining("config.json");
    }

    @ParameterizedTest
    @CsvSource({"HF_ENDPOINT,not an address", "HF_TOKEN,two words", "HF_TOKEN_PATH,/", "https_proxy,socks5://x"})
    void download_needs_hub_and_token(String variable, String value) {
        assertThatThrownBy(() -> load(Map.of("HF_HUB_CACHE", cache.toString(), variable, value)))
                .isInstanceOf(BadInput.class)
                .hasMessageNotContaining("two words");
    }

    private void load(Map<String, String> environment) {
        load(settings(environment));
    }

    private static void load(Settings settings) {
        Roseinfer.load(settings, DownloadListener.SILENT).close();
    }

    private Settings settings(Map<String, String> environment) {
        Map<String, String> variables = new HashMap<>(environment);
        variables.putIfAbsent("HF_ENDPOINT", hub.endpoint().toString());
        return Settings.of(ID.text()).withDevice(Settings.Device.SIM).withEnvironment(variables);
    }
}

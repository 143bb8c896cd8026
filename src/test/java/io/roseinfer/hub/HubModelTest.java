package io.roseinfer.hub;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.Roseinfer;
import io.roseinfer.Settings;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.RoseException.BadModel;
import io.roseinfer.hub.download.DownloadListener;
import io.roseinfer.hub.download.FakeHub;
import io.roseinfer.hub.download.HubTestBase;
import java.io.IOException;
import java.nio.file.Files;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A hub id on its way through the front door: which settings count, and when. */
class HubModelTest extends HubTestBase {

    @ParameterizedTest
    @ValueSource(strings = {"bloom", "mamba"})
    void model_of_an_unsupported_family_is_refused_before_its_weights_are_downloaded(String family) {
        hub.file("config.json", utf8("{\"model_type\":\"" + family + "\"}"));
        assertThatThrownBy(() -> load(Map.of("HF_HUB_CACHE", cache.toString())))
                .isInstanceOf(BadModel.class)
                .hasMessageContaining(family);
        assertThat(hub.seen()).allMatch(request -> request.path().endsWith("/config.json"));
    }

    @Test
    void home_of_the_environment_is_where_the_cache_is_looked_for() {
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
        Map<String, String> variables = new HashMap<>(environment);
        variables.putIfAbsent("HF_ENDPOINT", hub.endpoint().toString());
        Settings settings =
                Settings.of(ID.text()).withDevice(Settings.Device.SIM).withEnvironment(variables);
        Roseinfer.load(settings, DownloadListener.SILENT).close();
    }
}

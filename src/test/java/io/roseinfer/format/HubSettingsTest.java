package io.roseinfer.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.base.RoseException.BadInput;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class HubSettingsTest {
    private static final Path HOME = Path.of("/home/u");

    @Test
    void cache_directory_comes_from_the_first_variable_that_is_set() {
        Map<String, String> environment = new HashMap<>();
        assertThat(from(environment).cacheDirectory()).isEqualTo(HOME.resolve(".cache/huggingface/hub"));
        environment.put("XDG_CACHE_HOME", "/xdg");
        assertThat(from(environment).cacheDirectory()).isEqualTo(Path.of("/xdg/huggingface/hub"));
        environment.put("HF_HOME", "~/hf");
        assertThat(from(environment).cacheDirectory()).isEqualTo(HOME.resolve("hf/hub"));
        environment.put("HF_HUB_CACHE", "/cache");
        assertThat(from(environment).cacheDirectory()).isEqualTo(Path.of("/cache"));
        environment.put("HF_HUB_CACHE", "");
        assertThat(from(environment).cacheDirectory()).isEqualTo(HOME.resolve("hf/hub"));
    }

    @ParameterizedTest
    @CsvSource({"1,true", "ON,true", "yes,true", "True,true", "0,false", "no,false", "'',false"})
    void offline_is_what_hugging_face_takes_for_true(String value, boolean offline) {
        assertThat(from(Map.of("HF_HUB_OFFLINE", value)).offline()).isEqualTo(offline);
    }

    @Test
    void endpoint_loses_its_last_slash_and_has_a_default() {
        assertThat(from(Map.of()).endpoint()).hasToString("https://huggingface.co");
        assertThat(from(Map.of("HF_ENDPOINT", "http://mirror:8080/hf/")).endpoint())
                .hasToString("http://mirror:8080/hf");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "mirror",
                "ftp://mirror",
                "http://",
                "http://a b",
                "file:///x",
                "https://user@host",
                "https://h?q"
            })
    void endpoint_that_is_no_web_address_is_refused(String value) {
        assertThatThrownBy(() -> from(Map.of("HF_ENDPOINT", value)))
                .isInstanceOf(BadInput.class)
                .hasMessageContaining("HF_ENDPOINT=");
    }

    @Test
    void token_is_neither_shown_by_the_settings_nor_by_its_refusal() {
        assertThat(from(Map.of("HF_TOKEN", "hf_secret\n")).token()).hasValue("hf_secret");
        assertThat(from(Map.of("HF_TOKEN", "hf_secret")).toString()).doesNotContain("secret");
        assertThatThrownBy(() -> from(Map.of("HF_TOKEN", "hf_secret\r\nX-Evil: 1")))
                .isInstanceOf(BadInput.class)
                .hasMessageNotContaining("secret");
    }

    @Test
    void token_of_the_login_is_read_where_the_environment_gives_none(@TempDir Path folder) throws IOException {
        Files.writeString(folder.resolve("token"), "hf_login\n");
        Path other = Files.writeString(folder.resolve("other"), "hf_other");
        String home = folder.toString();
        assertThat(from(Map.of("HF_HOME", home)).token()).hasValue("hf_login");
        assertThat(from(Map.of("HF_HOME", home, "HF_TOKEN_PATH", other.toString()))
                        .token())
                .hasValue("hf_other");
        assertThat(from(Map.of("HF_HOME", home, "HF_TOKEN", "hf_given")).token())
                .hasValue("hf_given");
        assertThat(from(Map.of("HF_TOKEN_PATH", home + "/none")).token()).isEmpty();
    }

    @Test
    void token_file_that_cannot_be_read_is_named(@TempDir Path folder) {
        assertThatThrownBy(() -> from(Map.of("HF_TOKEN_PATH", folder.toString())))
                .isInstanceOf(BadInput.class)
                .hasMessageContaining(folder.toString())
                .hasMessageContaining("HF_TOKEN_PATH");
    }

    private static HubSettings from(Map<String, String> environment) {
        return HubSettings.from(environment, HOME);
    }
}

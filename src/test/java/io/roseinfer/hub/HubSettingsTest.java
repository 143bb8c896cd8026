package io.roseinfer.hub;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.base.RoseException.BadInput;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
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
    void offline_is_true_for_the_values_of_hugging_face(String value, boolean offline) {
        assertThat(from(Map.of("HF_HUB_OFFLINE", value)).offline()).isEqualTo(offline);
    }

    @Test
    void old_names_of_variables_are_read_if_the_new_ones_are_absent() {
        Map<String, String> environment = new HashMap<>(Map.of(
                "HUGGINGFACE_HUB_CACHE", "/old", "TRANSFORMERS_OFFLINE", "1", "HUGGING_FACE_HUB_TOKEN", "hf_old"));
        assertThat(from(environment).cacheDirectory()).isEqualTo(Path.of("/old"));
        assertThat(from(environment).offline()).isTrue();
        assertThat(from(environment).token()).hasValue("hf_old");
        environment.putAll(Map.of("HF_HUB_CACHE", "/new", "HF_HUB_OFFLINE", "0", "HF_TOKEN", "hf_new"));
        assertThat(from(environment).cacheDirectory()).isEqualTo(Path.of("/new"));
        assertThat(from(environment).offline()).isFalse();
        assertThat(from(environment).token()).hasValue("hf_new");
    }

    @ParameterizedTest
    @CsvSource({
        "$HOME/hf,/home/u/hf",
        "${HOME}/hf,/home/u/hf",
        "/a/$SCRATCH$HOME,/a/s//home/u",
        "~/$SCRATCH,/home/u/s",
        "/a/$UNSET/b,/a/$UNSET/b",
        "/a/$,/a/$",
        "/a/${HOME,/a/${HOME"
    })
    void variables_within_paths_are_expanded(String value, String path) {
        Map<String, String> environment = Map.of("HOME", "/home/u", "SCRATCH", "s", "HF_HUB_CACHE", value);
        assertThat(from(environment).cacheDirectory()).isEqualTo(Path.of(path));
        assertThat(HubSettings.read(environment))
                .containsAll(value.contains("$SCRATCH") ? Set.of("SCRATCH") : Set.of());
    }

    @Test
    void token_is_absent_if_implicit_tokens_are_disabled(@TempDir Path folder) throws IOException {
        Files.writeString(folder.resolve("token"), "hf_login\n");
        Map<String, String> environment =
                new HashMap<>(Map.of("HF_HOME", folder.toString(), "HF_HUB_DISABLE_IMPLICIT_TOKEN", "1"));
        assertThat(from(environment).token()).isEmpty();
        environment.put("HF_TOKEN", "hf_given");
        assertThat(from(environment).token()).isEmpty();
        environment.put("HF_HUB_DISABLE_IMPLICIT_TOKEN", "0");
        assertThat(from(environment).token()).hasValue("hf_given");
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
    void endpoint_that_is_not_a_web_address_is_rejected(String value) {
        assertThatThrownBy(() -> from(Map.of("HF_ENDPOINT", value)).endpoint())
                .isInstanceOf(BadInput.class)
                .hasMessageContaining("HF_ENDPOINT=");
    }

    @Test
    void token_is_never_shown() {
        assertThat(from(Map.of("HF_TOKEN", "hf_secret\n")).token()).hasValue("hf_secret");
        assertThat(from(Map.of("HF_TOKEN", "hf_secret")).toString()).doesNotContain("secret");
        assertThatThrownBy(
                        () -> from(Map.of("HF_TOKEN", "hf_secret\r\nX-Evil: 1")).token())
                .isInstanceOf(BadInput.class)
                .hasMessageNotContaining("secret");
    }

    @Test
    void saved_token_is_the_default(@TempDir Path folder) throws IOException {
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
        assertThatThrownBy(
                        () -> from(Map.of("HF_TOKEN_PATH", folder.toString())).token())
                .isInstanceOf(BadInput.class)
                .hasMessageContaining(folder.toString())
                .hasMessageContaining("HF_TOKEN_PATH");
    }

    @Test
    void home_of_the_environment_takes_precedence(@TempDir Path home) throws IOException {
        Files.createDirectories(home.resolve(".cache/huggingface"));
        Files.writeString(home.resolve(".cache/huggingface/token"), "hf_home");
        HubSettings settings = from(Map.of("HOME", home.toString()));
        assertThat(settings.cacheDirectory()).isEqualTo(home.resolve(".cache/huggingface/hub"));
        assertThat(settings.token()).hasValue("hf_home");
        assertThat(from(Map.of("HOME", home.toString(), "HF_HOME", "~/hf")).cacheDirectory())
                .isEqualTo(home.resolve("hf/hub"));
        assertThat(from(Map.of("HOME", "")).cacheDirectory()).isEqualTo(HOME.resolve(".cache/huggingface/hub"));
    }

    @Test
    void home_directory_is_only_needed_by_default_locations() {
        HubSettings homeless = HubSettings.from(Map.of(), "?");
        assertThatThrownBy(homeless::cacheDirectory)
                .isInstanceOf(BadInput.class)
                .hasMessageContaining("set HOME or HF_HOME");
        assertThat(HubSettings.from(Map.of("HF_HOME", "/hf"), "?").cacheDirectory())
                .isEqualTo(Path.of("/hf/hub"));
    }

    @Test
    void all_problems_are_listed_and_other_settings_still_work() {
        HubSettings settings = from(Map.of(
                "HF_HUB_CACHE", "/cache", "HF_ENDPOINT", "junk", "HF_TOKEN", "two words", "https_proxy", "socks5://x"));
        assertThat(settings.problems())
                .satisfiesExactly(
                        endpoint -> assertThat(endpoint).contains("HF_ENDPOINT="),
                        token -> assertThat(token).contains("HF_TOKEN has").doesNotContain("two words"),
                        proxy -> assertThat(proxy).contains("https_proxy"));
        assertThat(settings.cacheDirectory()).isEqualTo(Path.of("/cache"));
        assertThat(settings.toString()).contains("HF_ENDPOINT").doesNotContain("junk", "two words");
        assertThat(from(Map.of()).problems()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "http://mirror,true",
        "http://10.0.0.1:8080,true",
        "http://127.0.0.1.example,true",
        "http://localhost.example,true",
        "HTTP://mirror,true",
        "https://mirror,false",
        "http://localhost:8080,false",
        "http://hub.localhost,false",
        "http://127.1.2.3,false",
        "http://[::1]:80,false"
    })
    void unencrypted_token_is_warned_of(String endpoint, boolean warned) {
        HubSettings settings = from(Map.of("HF_ENDPOINT", endpoint, "HF_TOKEN", "hf_secret"));
        assertThat(settings.tokenWarning().isPresent()).isEqualTo(warned);
        assertThat(settings.tokenWarning().orElse("")).doesNotContain("hf_secret");
        assertThat(from(Map.of("HF_ENDPOINT", endpoint, "HF_TOKEN_PATH", "/none"))
                        .tokenWarning())
                .isEmpty();
    }

    @Test
    void listed_variables_are_exactly_those_read() {
        Set<String> read = new TreeSet<>();
        Map<String, String> nothing = new HashMap<>() {
            @Override
            public @Nullable String get(Object name) {
                read.add(name.toString());
                return super.get(name);
            }

            @Override
            public String getOrDefault(Object name, String other) {
                read.add(name.toString());
                return super.getOrDefault(name, other);
            }
        };
        HubSettings settings = from(nothing);
        assertThat(settings.problems()).isEmpty();
        assertThat(settings.offline()).isFalse();
        assertThat(read).isEqualTo(new TreeSet<>(HubSettings.VARIABLES));
    }

    private static HubSettings from(Map<String, String> environment) {
        return HubSettings.from(environment, HOME.toString());
    }
}

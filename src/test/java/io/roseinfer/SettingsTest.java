package io.roseinfer;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

class SettingsTest {
    private static final Map<String, String> ENVIRONMENT = Map.of(
            "HF_TOKEN", "hf_secret", "https_proxy", "http://me:password@host", "DB_PASSWORD", "hunter2", "HOME", "/me");

    private final Settings settings = Settings.of("builtin:tiny").withEnvironment(ENVIRONMENT);

    @Test
    void to_string_shows_no_value_of_the_environment() {
        assertThat(settings.toString())
                .contains("HF_TOKEN", "HOME", "https_proxy", "builtin:tiny")
                .doesNotContain("hf_secret", "password", "hunter2", "DB_PASSWORD", "/me");
    }

    @Test
    void only_variables_that_are_read_are_kept() {
        assertThat(settings.environment()).containsOnlyKeys("HF_TOKEN", "HOME", "https_proxy");
        Map<String, String> referring =
                Map.of("HF_HOME", "$SCRATCH/${USER}", "SCRATCH", "/s", "USER", "me", "LANG", "C");
        assertThat(settings.withEnvironment(referring).environment()).containsOnlyKeys("HF_HOME", "SCRATCH", "USER");
    }
}

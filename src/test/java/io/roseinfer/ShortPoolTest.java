package io.roseinfer;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.engine.EngineOptions;
import io.roseinfer.hub.DownloadListener;
import java.util.List;
import org.junit.jupiter.api.Test;

/** KV pools that are smaller than a model's context. */
class ShortPoolTest {
    private static final DownloadListener NOTHING = new DownloadListener() {
        @Override
        public void progress(String file, long bytesSoFar, long totalBytes) {}

        @Override
        public void warning(String message) {}
    };

    private static List<String> warnings(String model, EngineOptions engine) {
        Settings settings = Settings.of(model).withDevice(Settings.Device.SIM).withEngine(engine);
        try (LoadedModel loaded = Roseinfer.load(settings, NOTHING)) {
            return loaded.warnings().stream()
                    .filter(warning -> warning.contains("KV cache"))
                    .toList();
        }
    }

    @Test
    void default_pool_smaller_than_the_context_is_reported_with_both_numbers() {
        assertThat(warnings("random:llama-3.1-8b", EngineOptions.defaults()))
                .singleElement()
                .asString()
                .contains(" 65536 tokens", " 131072", "kv_blocks");
    }

    @Test
    void sufficient_or_requested_pool_is_not_reported() {
        EngineOptions asked = EngineOptions.defaults().withKvBlocks(8);
        assertThat(warnings("random:gpt2", EngineOptions.defaults())).isEmpty();
        assertThat(warnings("random:llama-3.1-8b", asked)).isEmpty();
    }
}

package io.roseinfer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.backend.MemoryUse;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.engine.Completion;
import io.roseinfer.engine.Engine;
import io.roseinfer.engine.GenerationRequest;
import io.roseinfer.golden.Golden;
import io.roseinfer.scheduler.FinishReason;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Contexts shortened by a setting or extended by RoPE scaling, from the API to the tokens. */
class ContextLengthTest {
    private static Settings settings(String model) {
        return Settings.of(model).withDevice(Settings.Device.CPU).withThreads(2);
    }

    private static Completion generate(Settings settings, int... prompt) {
        try (LoadedModel model = Roseinfer.load(settings);
                Engine engine = model.serve(settings.engine())) {
            return engine.generate(
                    GenerationRequest.ofTokens(prompt).withMaxNewTokens(24).withIgnoreEndOfText(true));
        }
    }

    private static int[] tokens(int count, int vocabulary) {
        return new Random(count).ints(count, 0, vocabulary).toArray();
    }

    @Test
    void shortened_context_bounds_requests_and_changes_no_token() {
        int[] prompt = tokens(16, 1000);
        int[] whole = generate(settings("builtin:tiny"), prompt).ids();
        Completion shortened = generate(settings("builtin:tiny").withMaxModelLen(32), prompt);
        assertThat(shortened.ids()).isEqualTo(Arrays.copyOf(whole, 16));
        assertThat(shortened.finishReason()).isEqualTo(FinishReason.LENGTH);
        assertThatThrownBy(() -> generate(settings("builtin:tiny").withMaxModelLen(16), prompt))
                .isInstanceOf(BadInput.class)
                .hasMessageContaining("the context of 16 leaves room for at most 15");
    }

    @Test
    void memory_follows_the_shortened_context() {
        for (String model : List.of("builtin:tiny", "builtin:chat")) {
            assertThat(bytes(settings(model).withMaxModelLen(32))).isLessThan(bytes(settings(model)) / 2);
        }
    }

    /** Everything except the KV pool and the matrices is small here; the pool has room for complete contexts. */
    private static long bytes(Settings settings) {
        try (LoadedModel model = Roseinfer.load(settings)) {
            return model.runner().memory().stream().mapToLong(MemoryUse::bytes).sum();
        }
    }

    @Test
    void context_beyond_the_model_limit_is_rejected_with_both_numbers() {
        assertThatThrownBy(() -> Roseinfer.load(settings("random:gpt2").withMaxModelLen(1025)))
                .isInstanceOf(BadInput.class)
                .hasMessageContaining("maxModelLen is 1025; allowed are 2 to 1024, the context of gpt2");
        assertThatThrownBy(() -> settings("builtin:tiny").withMaxModelLen(-1)).isInstanceOf(BadInput.class);
    }

    /** YaRN's frequencies depend only on the original context, so both files describe the same model. */
    @Test
    void context_extended_by_yarn_gives_the_same_tokens_as_an_explicit_one(@TempDir Path folder) throws IOException {
        int[] prompt = tokens(100, 97);
        Settings unscaled = copy(folder.resolve("unscaled"), 32);
        Settings stated = copy(folder.resolve("stated"), 128);
        assertThat(generate(unscaled, prompt).ids())
                .hasSize(24)
                .isEqualTo(generate(stated, prompt).ids());
        assertThat(warnings(unscaled)).singleElement().asString().contains("the context is 128 tokens", "is 32");
        assertThat(warnings(stated)).isEmpty();
        assertThatThrownBy(() -> generate(unscaled.withMaxModelLen(64), prompt)).isInstanceOf(BadInput.class);
    }

    private static List<String> warnings(Settings settings) {
        try (LoadedModel model = Roseinfer.load(settings)) {
            return model.warnings().stream()
                    .filter(warning -> warning.contains("the context is"))
                    .toList();
        }
    }

    private static Settings copy(Path folder, int maxPositions) throws IOException {
        Golden.copyFiles("qwen3-yarn", Files.createDirectory(folder));
        Path config = folder.resolve("config.json");
        String json = Files.readString(config);
        Files.writeString(
                config,
                json.replace("\"max_position_embeddings\": 96", "\"max_position_embeddings\": " + maxPositions));
        return settings(folder.toString());
    }
}

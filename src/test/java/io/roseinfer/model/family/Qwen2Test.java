package io.roseinfer.model.family;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.golden.Golden;
import io.roseinfer.model.BlockSpec.Attention;
import io.roseinfer.model.BlockSpec.Norm;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.model.Positions.Rope;
import io.roseinfer.model.Weights;
import io.roseinfer.model.files.ModelFiles;
import org.junit.jupiter.api.Test;

/** Qwen2's configurations and checkpoints; goldens test its numbers. */
class Qwen2Test {
    private static final int ALL = Attention.UNLIMITED;

    @Test
    void absent_fields_have_transformers_defaults() {
        ModelSpec spec = Configs.spec("qwen2");
        assertThat(spec.vocabularySize()).isEqualTo(151936);
        assertThat(spec.contextLength()).isEqualTo(32768);
        assertThat(spec.width()).isEqualTo(4096);
        assertThat(spec.layers()).isEqualTo(32);
        assertThat(spec.attention())
                .isEqualTo(
                        new Attention(32, 32, 128, (float) (1 / Math.sqrt(128)), ALL, Float.POSITIVE_INFINITY, false));
        assertThat(spec.mlp().inner()).isEqualTo(22016);
        assertThat(spec.head().norm()).isEqualTo(Norm.rms(1e-6f));
        assertThat(spec.block(0).positions()).isEqualTo(Rope.plain(10000, 128));
        assertThat(spec.tiedHead()).isFalse();
        assertThat(spec.endOfText()).isEmpty();
    }

    @Test
    void unused_window_has_no_effect() {
        assertThat(Configs.windows(Configs.spec(
                        "qwen2", "\"num_hidden_layers\":3,\"sliding_window\":7", "\"max_window_layers\":0")))
                .containsExactly(ALL, ALL, ALL);
    }

    @Test
    void window_applies_from_max_window_layers_on() {
        assertThat(
                        Configs.windows(
                                Configs.spec(
                                        "qwen2",
                                        "\"num_hidden_layers\":3,\"use_sliding_window\":true,\"sliding_window\":7,\"max_window_layers\":1")))
                .containsExactly(ALL, 7, 7);
    }

    @Test
    void layer_types_take_precedence_over_max_window_layers() {
        assertThat(Configs.windows(Configs.spec(
                        "qwen2",
                        "\"num_hidden_layers\":2,\"use_sliding_window\":true,\"sliding_window\":7,\"max_window_layers\":0",
                        "\"layer_types\":[\"sliding_attention\",\"full_attention\"]")))
                .containsExactly(7, ALL);
    }

    @Test
    void window_as_long_as_the_context_is_unlimited() {
        assertThat(Configs.windows(Configs.spec(
                        "qwen2",
                        "\"num_hidden_layers\":1,\"use_sliding_window\":true,\"sliding_window\":64,\"max_window_layers\":0",
                        "\"max_position_embeddings\":64")))
                .containsExactly(ALL);
    }

    @Test
    void only_queries_keys_and_values_have_biases() {
        try (ModelFiles files = Golden.read("qwen2").open()) {
            Weights.Block block = files.weights().blocks().getFirst();
            assertThat(block.qkv().bias()).isPresent();
            assertThat(block.output().bias()).isEmpty();
            assertThat(block.inner().bias()).isEmpty();
            assertThat(block.down().bias()).isEmpty();
            assertThat(files.warnings()).isEmpty();
        }
    }
}

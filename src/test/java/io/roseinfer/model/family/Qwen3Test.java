package io.roseinfer.model.family;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.golden.Golden;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.model.Positions.Rope;
import io.roseinfer.model.Positions.Scaling;
import io.roseinfer.model.Weights;
import io.roseinfer.model.files.ModelFiles;
import org.junit.jupiter.api.Test;

/** Qwen3's configurations and checkpoints; goldens test its numbers. */
class Qwen3Test {
    @Test
    void heads_are_normalized_and_have_128_elements_by_default() {
        ModelSpec spec =
                Configs.spec("qwen3", "\"hidden_size\":1024,\"num_attention_heads\":16,\"num_key_value_heads\":8");
        assertThat(spec.attention().headSize()).isEqualTo(128);
        assertThat(spec.attention().queryWidth()).isEqualTo(2048);
        assertThat(spec.block(31).attention().qkNorms()).isTrue();
        assertThat(Configs.spec("qwen3", "\"head_dim\":64").attention().headSize())
                .isEqualTo(64);
    }

    @Test
    void qk_norms_have_the_size_of_a_head() {
        try (ModelFiles files = Golden.read("qwen3").open()) {
            Weights.QkNorms norms =
                    files.weights().blocks().getFirst().qkNorms().orElseThrow();
            assertThat(norms.queries().weight().count()).isEqualTo(96);
            assertThat(norms.keys().weight().asStored().orElseThrow().name())
                    .isEqualTo("model.layers.0.self_attn.k_norm.weight");
        }
    }

    @Test
    void attention_bias_is_that_of_all_four_matrices() {
        try (ModelFiles files = Golden.read("qwen3-yarn").open()) {
            Weights.Block block = files.weights().blocks().getFirst();
            assertThat(block.qkv().bias()).isPresent();
            assertThat(block.output().bias()).isPresent();
            assertThat(block.down().bias()).isEmpty();
        }
    }

    /** Qwen's recommended change of the file for long contexts. */
    @Test
    void yarn_uses_the_given_factor_regardless_of_the_context_lengths() {
        ModelSpec spec = Configs.spec(
                "qwen3",
                "\"max_position_embeddings\":40960,\"rope_theta\":1000000",
                "\"rope_scaling\":{\"rope_type\":\"yarn\",\"factor\":4.0,\"original_max_position_embeddings\":32768}");
        assertThat(spec.block(0).positions())
                .isEqualTo(new Rope(1_000_000, 128, new Scaling.Yarn(4, 32, 1, 32768, 0.1 * Math.log(4) + 1, true)));
    }

    @Test
    void published_shape_has_the_published_number_of_parameters() {
        ModelSpec spec = Families.shape("qwen3-0.6b").orElseThrow();
        try (ModelFiles files = ModelFiles.random("qwen3-0.6b", 0)) {
            long elements = files.source().names().stream()
                    .mapToLong(name ->
                            elements(files.source().info(name).orElseThrow().shape()))
                    .sum();
            assertThat(elements).isEqualTo(596_049_920L);
            assertThat(spec.contextLength()).isEqualTo(40960);
        }
    }

    private static long elements(long... shape) {
        long product = 1;
        for (long size : shape) {
            product *= size;
        }
        return product;
    }
}

package io.roseinfer.model.family;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.golden.Golden;
import io.roseinfer.model.Activation;
import io.roseinfer.model.BlockSpec.Norm;
import io.roseinfer.model.BlockSpec.Residual;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.model.Positions.Rope;
import io.roseinfer.model.Positions.Scaling;
import io.roseinfer.model.files.ModelFiles;
import org.junit.jupiter.api.Test;

/** GPT-NeoX's configurations and checkpoints; goldens test its numbers. */
class GptNeoXTest {
    private static final String SMALL = "\"hidden_size\":64,\"num_attention_heads\":4,";

    private static Rope rope(String members) {
        return (Rope) Configs.spec("gpt_neox", SMALL + members).block(0).positions();
    }

    @Test
    void absent_fields_have_transformers_defaults() {
        ModelSpec spec = Configs.spec("gpt_neox");
        assertThat(spec.vocabularySize()).isEqualTo(50432);
        assertThat(spec.width()).isEqualTo(6144);
        assertThat(spec.layers()).isEqualTo(44);
        assertThat(spec.attention().heads()).isEqualTo(64);
        assertThat(spec.mlp().inner()).isEqualTo(24576);
        assertThat(spec.mlp().gated()).isFalse();
        assertThat(spec.mlp().activation()).isEqualTo(Activation.GELU_ERF);
        assertThat(spec.block(0).norm()).isEqualTo(Norm.layer(1e-5f));
        assertThat(spec.block(0).residual()).isEqualTo(Residual.PARALLEL);
        assertThat(spec.block(0).positions()).isEqualTo(new Rope(10000, 24, new Scaling.None()));
    }

    @Test
    void old_and_new_files_have_the_same_rope() {
        Rope expected = new Rope(500, 8, new Scaling.None());
        assertThat(rope("\"rotary_pct\":0.5,\"rotary_emb_base\":500")).isEqualTo(expected);
        assertThat(
                        rope(
                                "\"rope_parameters\":{\"rope_type\":\"default\",\"rope_theta\":500,\"partial_rotary_factor\":0.5}"))
                .isEqualTo(expected);
        assertThat(rope("\"rotary_pct\":0.5,\"partial_rotary_factor\":0.5,\"rotary_emb_base\":500,\"rope_theta\":500"))
                .isEqualTo(expected);
    }

    @Test
    void odd_rotary_size_is_rounded_up_and_keeps_its_frequencies() {
        Rope rope = rope("\"rotary_pct\":0.1875,\"rotary_emb_base\":1000");
        assertThat(rope.rotarySize()).isEqualTo(4);
        assertThat(Math.pow(rope.theta(), -2.0 / 4))
                .isCloseTo(Math.pow(1000, -2.0 / 3), org.assertj.core.api.Assertions.within(1e-12));
    }

    @Test
    void interleaved_heads_become_queries_then_keys_then_values() {
        try (ModelFiles files = Golden.read("neox").open()) {
            var qkv = files.weights().blocks().getFirst().qkv();
            assertThat(qkv.parts()).extracting(part -> part.first()).containsExactly(0, 80, 160);
            assertThat(qkv.parts()).extracting(part -> part.stride()).containsOnly(240);
            assertThat(files.warnings()).isEmpty();
        }
    }
}

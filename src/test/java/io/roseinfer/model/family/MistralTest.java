package io.roseinfer.model.family;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.model.BlockSpec.Attention;
import io.roseinfer.model.ModelSpec;
import org.junit.jupiter.api.Test;

/** Mistral's configurations; goldens test its numbers. */
class MistralTest {
    private static int window(String... members) {
        return Configs.windows(Configs.spec("mistral", members))[31];
    }

    @Test
    void absent_fields_have_transformers_defaults() {
        ModelSpec spec = Configs.spec("mistral");
        assertThat(spec.contextLength()).isEqualTo(131072);
        assertThat(spec.attention().heads()).isEqualTo(32);
        assertThat(spec.attention().kvHeads()).isEqualTo(8);
        assertThat(spec.mlp().inner()).isEqualTo(14336);
        assertThat(spec.endOfText()).containsExactly(2);
    }

    @Test
    void window_is_4096_by_default_and_none_if_null() {
        assertThat(window()).isEqualTo(4096);
        assertThat(window("\"sliding_window\":null")).isEqualTo(Attention.UNLIMITED);
        assertThat(window("\"sliding_window\":100")).isEqualTo(100);
    }

    @Test
    void null_kv_heads_are_as_many_as_query_heads() {
        assertThat(Configs.spec("mistral", "\"num_key_value_heads\":null")
                        .attention()
                        .kvHeads())
                .isEqualTo(32);
    }

    @Test
    void query_width_may_exceed_the_residual_stream() {
        ModelSpec spec = Configs.spec("mistral", "\"hidden_size\":5120,\"head_dim\":128");
        assertThat(spec.attention().queryWidth()).isEqualTo(4096);
        assertThat(spec.width()).isEqualTo(5120);
    }
}

package io.roseinfer.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.base.RoseException.BadModel;
import io.roseinfer.tensor.Tensor;
import java.lang.foreign.Arena;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import org.junit.jupiter.api.Test;

/** A spec held against weights that were made for another one. */
class Gpt2WeightsTest {
    private static ModelSpec spec(int layers, int vocabulary, boolean tied) {
        String json = """
                {"model_type":"gpt2","n_embd":4,"n_head":2,"n_positions":8,"n_layer":%d,"vocab_size":%d,
                 "tie_word_embeddings":%b}""".formatted(layers, vocabulary, tied);
        return Gpt2Config.parse("m", "m/config.json", json.getBytes(StandardCharsets.UTF_8), new ArrayList<>());
    }

    private static RandomWeights weights(ModelSpec spec) {
        return new RandomWeights(spec, 0);
    }

    @Test
    void missing_tensors_are_named_five_of_them_with_their_shapes_and_the_others_counted() {
        assertThatThrownBy(() -> Gpt2Weights.bind(spec(2, 9, true), weights(spec(1, 9, true))))
                .isInstanceOf(BadModel.class)
                .hasMessageContaining("tensor h.1.ln_1.weight [4] is missing")
                .hasMessageContaining("tensor h.1.attn.c_attn.weight [4, 12] is missing")
                .hasMessageContaining("and 7 more");
    }

    @Test
    void tensor_of_another_shape_is_named_with_both_shapes() {
        assertThatThrownBy(() -> Gpt2Weights.bind(spec(1, 9, true), weights(spec(1, 8, true))))
                .isInstanceOf(BadModel.class)
                .hasMessageContaining("tensor wte.weight has shape [8, 4], [9, 4] is needed")
                .hasMessageNotContaining("more");
    }

    @Test
    void tensors_that_the_spec_does_not_need_are_left_alone() {
        ModelSpec spec = spec(1, 9, true);
        assertThat(Gpt2Weights.bind(spec, weights(spec(3, 9, true))).spec()).isEqualTo(spec);
    }

    @Test
    void head_that_is_neither_there_nor_tied_is_missing() {
        assertThatThrownBy(() -> Gpt2Weights.bind(spec(1, 9, false), weights(spec(1, 9, true))))
                .isInstanceOf(BadModel.class)
                .hasMessageContaining("tensor lm_head.weight [9, 4] is missing");
    }

    @Test
    void tied_head_is_the_token_embedding_though_the_file_has_another() {
        RandomWeights untied = weights(spec(1, 9, false));
        Gpt2Weights tied = Gpt2Weights.bind(spec(1, 9, true), untied);
        try (Arena arena = Arena.ofConfined()) {
            float embedding = untied.read("wte.weight", arena).get(5);
            Tensor head = tied.read(WeightSlot.HEAD, arena);
            assertThat(head.get(5))
                    .isEqualTo(embedding)
                    .isNotEqualTo(untied.read("lm_head.weight", arena).get(5));
        }
    }
}

package io.roseinfer.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.roseinfer.tensor.Tensor;
import java.lang.foreign.Arena;
import org.junit.jupiter.api.Test;

class RandomWeightsTest {
    private static final ModelSpec GPT2 = Gpt2Shapes.named("gpt2").orElseThrow();

    @Test
    void values_have_gpt2s_initial_mean_and_deviation() {
        try (Arena arena = Arena.ofConfined();
                RandomWeights weights = new RandomWeights(GPT2, 0)) {
            assertMoments(weights.read("h.0.attn.c_attn.weight", arena), 0, 0.02);
            assertMoments(weights.read("h.3.mlp.c_proj.weight", arena), 0, 0.02 / Math.sqrt(24));
            assertMoments(weights.read("h.3.ln_1.weight", arena), 1, 0.02);
        }
    }

    private static void assertMoments(Tensor tensor, double mean, double deviation) {
        double sum = 0;
        double squares = 0;
        for (long i = 0; i < tensor.elements(); i++) {
            sum += tensor.get(i);
            squares += (tensor.get(i) - mean) * (tensor.get(i) - mean);
        }
        assertThat(sum / tensor.elements()).isCloseTo(mean, within(deviation * 0.15));
        assertThat(Math.sqrt(squares / tensor.elements())).isCloseTo(deviation, within(deviation * 0.1));
    }

    @Test
    void the_seed_and_the_name_choose_the_values() {
        try (Arena arena = Arena.ofConfined()) {
            float first = new RandomWeights(GPT2, 0).read("ln_f.bias", arena).get(0);
            assertThat(new RandomWeights(GPT2, 0).read("ln_f.bias", arena).get(0))
                    .isEqualTo(first);
            assertThat(new RandomWeights(GPT2, 1).read("ln_f.bias", arena).get(0))
                    .isNotEqualTo(first);
            assertThat(new RandomWeights(GPT2, 0).read("h.0.ln_1.bias", arena).get(0))
                    .isNotEqualTo(first);
        }
    }

    @Test
    void a_tied_model_has_no_head_of_its_own_and_binds() {
        RandomWeights weights = new RandomWeights(GPT2, 0);
        assertThat(weights.info("lm_head.weight")).isEmpty();
        assertThat(Gpt2Weights.bind(GPT2, weights).spec()).isEqualTo(GPT2);
    }
}

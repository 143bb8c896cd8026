package io.roseinfer.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.roseinfer.tensor.Tensor;
import java.lang.foreign.Arena;
import org.junit.jupiter.api.Test;

class RandomWeightsTest {
    private static final ModelSpec SPEC =
            SpecBuilder.named("m").width(768).layers(12).heads(12).build();

    private static RandomWeights weights(long seed) {
        return new RandomWeights("m", seed, tensors -> TestLayout.weights(SPEC, tensors));
    }

    @Test
    void values_have_the_mean_and_the_deviation_that_training_starts_from() {
        try (Arena arena = Arena.ofConfined();
                RandomWeights weights = weights(0)) {
            assertMoments(weights.read("blocks.0.qkv.matrix", arena), 0, 0.02);
            assertMoments(weights.read("blocks.3.down.matrix", arena), 0, 0.02 / Math.sqrt(24));
            assertMoments(weights.read("blocks.3.mlp-norm.gain", arena), 1, 0.02);
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
    void values_depend_on_the_seed_and_the_name() {
        try (Arena arena = Arena.ofConfined()) {
            float first = weights(0).read("norm.bias", arena).get(0);
            assertThat(weights(0).read("norm.bias", arena).get(0)).isEqualTo(first);
            assertThat(weights(1).read("norm.bias", arena).get(0)).isNotEqualTo(first);
            assertThat(weights(0).read("blocks.0.mlp-norm.bias", arena).get(0)).isNotEqualTo(first);
        }
    }

    @Test
    void tied_model_has_no_head_tensor_and_binds() {
        RandomWeights weights = weights(0);
        assertThat(weights.info("head.matrix")).isEmpty();
        CheckpointTensors found = new CheckpointTensors(weights);
        assertThat(TestLayout.weights(SPEC, found).tiedHead()).isTrue();
        found.requireSound();
        assertThat(found.unused(name -> false)).isEmpty();
    }
}

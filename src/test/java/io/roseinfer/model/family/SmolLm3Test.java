package io.roseinfer.model.family;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.model.BlockSpec.Attention;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.model.Positions;
import io.roseinfer.model.Positions.Rope;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** SmolLM3's configurations; goldens test its numbers. */
class SmolLm3Test {
    private static List<Boolean> layersWithRope(String... members) {
        ModelSpec spec = Configs.spec("smollm3", members);
        return IntStream.range(0, spec.layers())
                .mapToObj(layer -> spec.block(layer).positions() instanceof Rope)
                .toList();
    }

    @Test
    void absent_fields_have_transformers_defaults() {
        ModelSpec spec = Configs.spec("smollm3");
        assertThat(spec.layers()).isEqualTo(36);
        assertThat(spec.tiedHead()).isTrue();
        assertThat(spec.block(0).positions()).isEqualTo(Rope.plain(2_000_000, 128));
        assertThat(spec.block(3).positions()).isEqualTo(new Positions.None());
        assertThat(spec.endOfText()).containsExactly(128001);
    }

    @Test
    void every_nth_layer_has_no_positions() {
        assertThat(layersWithRope("\"num_hidden_layers\":5,\"no_rope_layer_interval\":2"))
                .containsExactly(true, false, true, false, true);
    }

    @Test
    void list_of_layers_takes_precedence_over_the_interval_and_may_be_longer_than_the_model() {
        assertThat(layersWithRope("\"num_hidden_layers\":3,\"no_rope_layer_interval\":2,\"no_rope_layers\":[0,1,1,0]"))
                .containsExactly(false, true, true);
    }

    @Test
    void windows_are_those_of_the_layers_without_positions() {
        ModelSpec spec = Configs.spec(
                "smollm3",
                "\"num_hidden_layers\":3,\"no_rope_layers\":[1,0,1],\"use_sliding_window\":true,\"sliding_window\":9");
        assertThat(Configs.windows(spec)).containsExactly(Attention.UNLIMITED, 9, Attention.UNLIMITED);
    }
}

package io.roseinfer.model.family;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.roseinfer.base.RoseException.BadModel;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.model.Positions.Rope;
import io.roseinfer.model.RopeTable;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The context length after RoPE scaling, by vLLM's rule, and the angles beyond the unscaled context. */
class ScaledContextTest {
    private static final String YARN =
            "\"rope_scaling\":{\"rope_type\":\"yarn\",\"factor\":4.0,\"original_max_position_embeddings\":";

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            qwen2    |  32768 | yarn    |  4 |  32768 | 131072
            qwen3    |  40960 | yarn    |  4 |  32768 | 131072
            smollm3  |  65536 | yarn    |  2 |  65536 | 131072
            mistral  |  32768 | yarn    | 16 |   8192 | 131072
            llama    | 131072 | yarn    |  2 |  32768 |  65536
            gpt_neox |   2048 | yarn    |  4 |   2048 |   8192
            llama    |   4096 | linear  |  4 |        |  16384
            llama    |   4096 | linear  | 2.5 |       |  10240
            gpt_neox |   2048 | linear  |  2 |        |   4096
            llama    | 131072 | llama3  |  8 |   8192 | 131072
            llama    |   8192 | default |  4 |        |   8192""")
    void context_follows_the_scaling(
            String type, int max, String scaling, double factor, Integer original, int context) {
        String section = "\"rope_scaling\":{\"rope_type\":\"" + scaling + "\",\"factor\":" + factor
                + ",\"low_freq_factor\":1,\"high_freq_factor\":4"
                + (original == null ? "" : ",\"original_max_position_embeddings\":" + original) + "}";
        String positions = "\"max_position_embeddings\":" + max;
        assertThat(Configs.spec(type, positions, section).contextLength()).isEqualTo(context);
        List<String> warnings =
                Configs.warnings("{\"model_type\":\"" + type + "\"," + positions + "," + section + "}").stream()
                        .filter(warning -> warning.contains("context"))
                        .toList();
        if (context == max) {
            assertThat(warnings).isEmpty();
        } else {
            assertThat(warnings)
                    .singleElement()
                    .asString()
                    .contains("the context is " + context + " tokens", "max_position_embeddings is " + max);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"1e-9", "1e9"})
    void factor_that_gives_no_usable_context_is_rejected(String factor) {
        assertThatThrownBy(
                        () -> Configs.spec("llama", "\"rope_scaling\":{\"type\":\"linear\",\"factor\":" + factor + "}"))
                .isInstanceOf(BadModel.class)
                .hasMessageContaining("gives a context of");
    }

    @Test
    void window_shorter_than_the_extended_context_is_kept() {
        ModelSpec spec = Configs.spec("mistral", "\"max_position_embeddings\":4096", YARN + "4096}");
        assertThat(spec.contextLength()).isEqualTo(16384);
        assertThat(spec.attention().window()).isEqualTo(4096);
    }

    /** Angles are rounded to 32 bits, so they are off by up to the position times a frequency's last place. */
    @ParameterizedTest
    @ValueSource(strings = {"yarn", "linear"})
    void angles_beyond_the_unscaled_context_are_those_of_64_bit_arithmetic(String scaling) {
        ModelSpec spec = Configs.spec(
                "llama",
                "\"max_position_embeddings\":4096,\"rope_theta\":500000.0",
                "\"rope_scaling\":{\"type\":\"" + scaling + "\",\"factor\":4.0}");
        Rope rope = (Rope) spec.block(0).positions();
        int pairs = rope.rotarySize() / 2;
        double scale = scaling.equals("yarn") ? 0.1 * Math.log(4) + 1 : 1;
        for (int position : List.of(4095, 4096, 5000, 8191, 12345, spec.contextLength() - 1)) {
            float[] row = RopeTable.rows(rope, position, 1);
            for (int i = 0; i < pairs; i++) {
                double plain = Math.pow(500_000, -(double) i / pairs);
                double frequency = scaling.equals("yarn") ? yarn(plain, i, 2 * pairs) : plain / 4;
                double tolerance = 1e-6 + 3.0 * position * Math.ulp((float) frequency);
                assertThat((double) row[i])
                        .as("cosine %d at position %d", i, position)
                        .isCloseTo(scale * Math.cos(position * frequency), within(tolerance));
                assertThat((double) row[pairs + i])
                        .as("sine %d at position %d", i, position)
                        .isCloseTo(scale * Math.sin(position * frequency), within(tolerance));
            }
        }
    }

    /**
     * YaRN's ramp as in its paper: pairs that rotate 32 times or more within 4096 positions are kept, those below once
     * are divided by 4.
     */
    private static double yarn(double plain, int pair, int size) {
        double low = Math.floor(size * Math.log(4096 / (32 * 2 * Math.PI)) / (2 * Math.log(500_000)));
        double high = Math.ceil(size * Math.log(4096 / (2 * Math.PI)) / (2 * Math.log(500_000)));
        double divided = Math.clamp((pair - low) / (high - low), 0.0, 1.0);
        return plain * (1 - divided) + plain / 4 * divided;
    }
}

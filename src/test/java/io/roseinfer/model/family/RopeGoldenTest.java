package io.roseinfer.model.family;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.roseinfer.base.StrictJson;
import io.roseinfer.model.ConfigJson;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.model.Positions.Rope;
import io.roseinfer.model.RopeTable;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.JsonNode;

/** Cosines and sines of RoPE compared with Hugging Face's in float32. */
class RopeGoldenTest {
    static Stream<JsonNode> cases() throws IOException {
        try (InputStream in = RopeGoldenTest.class.getResourceAsStream("/golden/rope/expected.json")) {
            return StrictJson.parse(in.readAllBytes()).get("cases").valueStream();
        }
    }

    /**
     * A power may be rounded differently by one unit in the last place; an angle is then off by that times the
     * position. All other differences are within the rounding of a cosine.
     */
    @ParameterizedTest
    @MethodSource("cases")
    void cosines_and_sines_match_hugging_face_up_to_the_last_bit_of_a_frequency(JsonNode golden) {
        String json = "{\"model_type\":\"llama\",\"num_attention_heads\":4,\"hidden_size\":512,\"head_dim\":"
                + golden.get("head_dim") + ",\"max_position_embeddings\":" + golden.get("max_position_embeddings")
                + ",\"rope_parameters\":" + golden.get("rope_parameters") + "}";
        ModelSpec spec = Families.spec(
                "m", new ConfigJson("config.json", json.getBytes(StandardCharsets.UTF_8), new ArrayList<>()));
        int size = spec.attention().headSize();
        int positions = golden.get("max_position_embeddings").intValue();
        float[] table = RopeTable.rows((Rope) spec.block(0).positions(), 0, positions);
        assertThat(table).hasSize(size * positions);
        for (int p = 0; p < golden.get("positions").size(); p++) {
            int position = golden.get("positions").get(p).intValue();
            for (int i = 0; i < size / 2; i++) {
                float frequency = golden.get("frequencies").get(i).floatValue();
                double tolerance = 3e-7 + 1.01 * position * Math.ulp(frequency);
                int row = position * size;
                assertThat((double) table[row + i])
                        .as("cosine %d at position %d", i, position)
                        .isCloseTo(golden.get("cosines").get(p).get(i).doubleValue(), within(tolerance));
                assertThat((double) table[row + size / 2 + i])
                        .as("sine %d at position %d", i, position)
                        .isCloseTo(golden.get("sines").get(p).get(i).doubleValue(), within(tolerance));
            }
        }
    }
}

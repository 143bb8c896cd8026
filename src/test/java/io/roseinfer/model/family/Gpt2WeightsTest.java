package io.roseinfer.model.family;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.base.RoseException.BadModel;
import io.roseinfer.model.ConfigJson;
import io.roseinfer.model.Matrix;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.model.RandomWeights;
import io.roseinfer.model.files.ModelFiles;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A spec bound to weights that were made for another one. */
class Gpt2WeightsTest {
    private static final Family FAMILY = new Gpt2();

    @TempDir
    private Path directory;

    private static ModelSpec spec(int layers, int vocabulary, boolean tied) {
        String json = """
                {"model_type":"gpt2","n_embd":4,"n_head":2,"n_positions":8,"n_layer":%d,"vocab_size":%d,
                 "tie_word_embeddings":%b}""".formatted(layers, vocabulary, tied);
        return Families.spec(
                "m", new ConfigJson("m/config.json", json.getBytes(StandardCharsets.UTF_8), new ArrayList<>()));
    }

    private static RandomWeights weights(ModelSpec spec) {
        return new RandomWeights(spec.name(), 0, tensors -> FAMILY.weights(spec, tensors));
    }

    @Test
    void missing_tensors_are_named_five_of_them_with_their_shapes_and_the_others_counted() {
        assertThatThrownBy(() -> BoundCheckpoint.of(FAMILY, spec(2, 9, true), weights(spec(1, 9, true))))
                .isInstanceOf(BadModel.class)
                .hasMessageContaining("tensor h.1.ln_1.weight [4] is missing")
                .hasMessageContaining("tensor h.1.attn.c_attn.weight [4, 12] is missing")
                .hasMessageContaining("and 7 more");
    }

    @Test
    void tensor_of_another_shape_is_named_with_both_shapes() {
        assertThatThrownBy(() -> BoundCheckpoint.of(FAMILY, spec(1, 9, true), weights(spec(1, 8, true))))
                .isInstanceOf(BadModel.class)
                .hasMessageContaining("tensor wte.weight has shape [8, 4], [9, 4] is expected")
                .hasMessageNotContaining("more");
    }

    @Test
    void unused_tensors_are_one_warning() {
        ModelSpec spec = spec(1, 9, true);
        BoundCheckpoint bound = BoundCheckpoint.of(FAMILY, spec, weights(spec(3, 9, true)));
        assertThat(bound.spec()).isEqualTo(spec);
        assertThat(bound.warnings())
                .singleElement()
                .asString()
                .contains("24 tensors are not used", "\"h.1.ln_1.weight\"", "and 19 more", "config.json");
    }

    @ParameterizedTest
    @ValueSource(strings = {"h.0.attn.bias", "h.1.attn.masked_bias", "transformer.h.11.attn.bias"})
    void mask_buffers_of_old_checkpoints_are_ignored(String name) throws IOException {
        try (ModelFiles files = open(ModelDirectory.at(directory).put(name, new long[] {1}, 0))) {
            assertThat(files.warnings()).isEmpty();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"score.weight", "h.0.attn.bias.x", "xh.0.attn.bias", "h.0.ln_3.weight", "h.2.ln_1.weight"})
    void unused_tensor_is_named(String name) throws IOException {
        try (ModelFiles files = open(ModelDirectory.at(directory).put(name, new long[] {1}, 0))) {
            assertThat(files.warnings()).singleElement().asString().contains("1 tensor is", name);
        }
    }

    private ModelFiles open(ModelDirectory files) throws IOException {
        return ModelFiles.openDirectory("m", files.write());
    }

    @Test
    void untied_head_is_required() {
        assertThatThrownBy(() -> BoundCheckpoint.of(FAMILY, spec(1, 9, false), weights(spec(1, 9, true))))
                .isInstanceOf(BadModel.class)
                .hasMessageContaining("tensor lm_head.weight [9, 4] is missing");
    }

    private static float[] head(ModelFiles files) {
        Matrix head = files.weights().head();
        float[] values = new float[head.outputs() * head.inputs()];
        try (Arena arena = Arena.ofConfined()) {
            head.open(arena).copyRows(values);
        }
        return values;
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1200, 2399})
    void tied_head_that_differs_from_the_embedding_is_used_with_a_warning(int place) throws IOException {
        ModelDirectory model = ModelDirectory.at(directory);
        float[] own = model.values("wte.weight").clone();
        own[place] += 1;
        try (ModelFiles files = open(model.put("lm_head.weight", new long[] {300, 8}, own))) {
            assertThat(files.spec().tiedHead()).isFalse();
            assertThat(head(files)).isEqualTo(own);
            assertThat(files.warnings())
                    .singleElement()
                    .asString()
                    .contains("lm_head.weight", "differs from wte.weight", "tie_word_embeddings", "is used");
        }
    }

    @Test
    void tied_head_that_is_a_copy_of_the_embedding_stays_tied() throws IOException {
        ModelDirectory model = ModelDirectory.at(directory);
        float[] embedding = model.values("wte.weight");
        try (ModelFiles files = open(model.put("lm_head.weight", new long[] {300, 8}, embedding))) {
            assertThat(files.spec().tiedHead()).isTrue();
            assertThat(head(files)).isEqualTo(embedding);
            assertThat(files.warnings()).isEmpty();
        }
    }

    @Test
    void tied_head_of_another_shape_is_rejected() {
        ModelDirectory model = ModelDirectory.at(directory).put("lm_head.weight", new long[] {1, 8}, new float[8]);
        assertThatThrownBy(() -> open(model))
                .isInstanceOf(BadModel.class)
                .hasMessageContaining("tensor lm_head.weight has shape [1, 8], [300, 8] is expected");
    }
}

package io.roseinfer.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.base.RoseException.BadModel;
import io.roseinfer.model.BlockSpec.Norm;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ModelFeatureTest {
    private final ModelSpec plain = SpecBuilder.named("m").heads(2).build();
    private final ModelSpec other = SpecBuilder.named("m")
            .heads(4, 2, 8)
            .norm(Norm.rms(1e-6f))
            .positions(Positions.Rope.plain(1e4, 8))
            .gated()
            .build();

    @Test
    void plain_model_has_no_features() {
        assertThat(ModelFeature.of(plain)).isEmpty();
    }

    @Test
    void model_has_the_features_of_its_parts() {
        assertThat(ModelFeature.of(other))
                .containsExactlyInAnyOrder(
                        ModelFeature.RMS_NORM,
                        ModelFeature.ROPE,
                        ModelFeature.GROUPED_QUERY_ATTENTION,
                        ModelFeature.OTHER_QUERY_WIDTH,
                        ModelFeature.GATED_MLP);
    }

    @Test
    void model_has_the_features_of_its_blocks() {
        ModelSpec mixed = SpecBuilder.named("m")
                .heads(2)
                .layers(2)
                .positions(layer ->
                        layer == 0 ? new Positions.Rope(1e4, 2, new Positions.Scaling.None()) : new Positions.None())
                .window(layer -> layer == 1 ? 3 : BlockSpec.Attention.UNLIMITED)
                .parallel()
                .build();
        assertThat(ModelFeature.of(mixed))
                .containsExactlyInAnyOrder(
                        ModelFeature.ROPE,
                        ModelFeature.PARTIAL_ROPE,
                        ModelFeature.NO_POSITIONS,
                        ModelFeature.WINDOW,
                        ModelFeature.PARALLEL_RESIDUAL);
    }

    @Test
    void unsupported_features_are_reported() {
        ModelFeature.require(plain, Set.of(), "cpu");
        ModelFeature.require(other, ModelFeature.of(other), "cpu");
        assertThatThrownBy(() -> ModelFeature.require(
                        other, Set.of(ModelFeature.GATED_MLP, ModelFeature.OTHER_QUERY_WIDTH), "cpu"))
                .isInstanceOf(BadModel.class)
                .hasMessage("m has RMS norm, RoPE, grouped-query attention;"
                        + " device cpu does not support these; choose another model or another device");
    }
}

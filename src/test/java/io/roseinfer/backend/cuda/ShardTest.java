package io.roseinfer.backend.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.backend.KvPrecision;
import io.roseinfer.base.Check;
import io.roseinfer.base.RoseException.BadModel;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.model.family.Families;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A model's sizes on one of several devices. */
class ShardTest {
    private static final ModelSpec GPT2 = Families.shape("gpt2").orElseThrow();

    private static ModelShape shape(int rank, int of) {
        return ModelShape.of(GPT2, ElementType.F16, KvPrecision.AUTO, new Shard(rank, of));
    }

    @ParameterizedTest
    @CsvSource({"1, 12, 768, 3072", "2, 6, 384, 1536", "4, 3, 192, 768"})
    void shard_has_its_share_of_heads_and_inner_columns(int of, int heads, int attention, int inner) {
        for (int rank = 0; rank < of; rank++) {
            ModelShape part = shape(rank, of);
            assertThat(part.heads()).isEqualTo(heads);
            assertThat(part.attention()).isEqualTo(attention);
            assertThat(part.paddedInner()).isEqualTo(inner);
            assertThat(part.layerBlockBytes(16) * of).isEqualTo(shape(0, 1).layerBlockBytes(16));
        }
    }

    @Test
    void residual_stream_is_not_sharded() {
        assertThat(shape(1, 2).stride()).isEqualTo(shape(0, 1).stride());
    }

    @Test
    void indivisible_heads_are_rejected() {
        assertThatThrownBy(() -> shape(0, 5))
                .isInstanceOf(BadModel.class)
                .hasMessageContaining("has 12 heads, which 5 devices cannot share evenly");
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 2})
    void rank_out_of_range_is_a_bug(int rank) {
        assertThatThrownBy(() -> new Shard(rank, 2)).isInstanceOf(Check.Failure.class);
    }
}

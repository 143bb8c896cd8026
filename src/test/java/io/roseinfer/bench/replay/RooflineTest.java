package io.roseinfer.bench.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.model.SpecBuilder;
import org.junit.jupiter.api.Test;

class RooflineTest {
    private static final DeviceRates DEVICE = new DeviceRates("test", 1000, 100_000, 10e9);
    private static final ModelSpec MODEL =
            SpecBuilder.named("sim").vocabulary(50_000).context(512).build();

    private static Roofline roofline(int weightBytes) {
        return new Roofline(MODEL, DEVICE, weightBytes);
    }

    private static StepShape decode(int rows, int context) {
        return new StepShape(rows, rows, 0, (long) rows * context, context);
    }

    private static StepShape prompt(int tokens) {
        return new StepShape(1, tokens, tokens, tokens * (tokens + 1L) / 2, 0);
    }

    /** Returns the weights of all matrices that a step reads. */
    private static double weights() {
        var attention = MODEL.attention();
        double layer = (double) MODEL.width() * (attention.qkvWidth() + attention.queryWidth())
                + (double) MODEL.width() * (MODEL.mlp().outputs() + MODEL.mlp().inner());
        return MODEL.layers() * layer + (double) MODEL.width() * MODEL.vocabularySize();
    }

    @Test
    void decode_of_one_row_takes_the_time_to_read_weights() {
        double bf16 = roofline(2).nanos(decode(1, 1));
        double int8 = roofline(1).nanos(decode(1, 1));
        assertThat(bf16 - int8).isCloseTo(weights() / (0.85 * DEVICE.bytesPerNano()), within(1.0));
    }

    @Test
    void long_prompt_takes_the_time_to_compute_products() {
        double matrices = 2 * (weights() - (double) MODEL.width() * MODEL.vocabularySize());
        double attended = 4.0 * MODEL.layers() * MODEL.attention().queryWidth();
        double flops = matrices * 10_000
                + attended * (prompt(20_000).attended() - prompt(10_000).attended());
        assertThat(roofline(2).nanos(prompt(20_000)) - roofline(2).nanos(prompt(10_000)))
                .isCloseTo(flops / (0.5 * DEVICE.flopsPerNano()), within(1.0));
    }

    @Test
    void cost_increases_with_rows_and_context() {
        assertThat(roofline(2).nanos(decode(64, 100)))
                .isGreaterThan(roofline(2).nanos(decode(32, 100)))
                .isLessThan(roofline(2).nanos(decode(64, 400)));
    }

    @Test
    void pool_fills_the_memory_beside_weights() {
        double block = 4.0 * 16 * MODEL.layers() * MODEL.attention().kvWidth();
        double tables = (MODEL.tiedHead() ? 0 : 1.0) * MODEL.width() * MODEL.vocabularySize();
        assertThat(roofline(2).costs().kvBlocks())
                .isCloseTo((int) ((9e9 - 2 * (weights() + tables)) / block), within(1));
    }

    @Test
    void model_that_does_not_fit_is_rejected() {
        DeviceRates small = new DeviceRates("small", 1000, 1000, 2 * weights());
        assertThatThrownBy(() -> new Roofline(MODEL, small, 2).costs())
                .isInstanceOf(BadInput.class)
                .hasMessageContaining("GB, but small has ")
                .hasMessageEndingWith("choose a larger device, or int8 weights");
    }

    @Test
    void unknown_device_is_rejected_with_the_known_ones() {
        assertThat(DeviceRates.named("h100").bytesPerNano()).isEqualTo(3350);
        assertThatThrownBy(() -> DeviceRates.named("h1000"))
                .isInstanceOf(BadInput.class)
                .hasMessageContaining("known are a100-80gb, h100, h200, l4, l40s");
    }
}

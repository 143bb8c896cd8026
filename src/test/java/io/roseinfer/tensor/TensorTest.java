package io.roseinfer.tensor;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TensorTest {

    @Test
    void bf16_widens_and_narrows_without_loss_for_every_bit_pattern() {
        for (int bits = 0; bits < 1 << 16; bits++) {
            float value = Tensor.bf16ToFloat((short) bits);
            if (!Float.isNaN(value)) {
                assertThat(Tensor.floatToBf16(value)).as("bits %04x", bits).isEqualTo((short) bits);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0x3f80_8000, 0x3f81_8000, 0x3f80_8001, 0x3f80_7fff})
    void bf16_rounds_to_nearest_with_ties_to_even(int floatBits) {
        float value = Float.intBitsToFloat(floatBits);
        float below = Float.intBitsToFloat(floatBits & 0xffff0000);
        float above = Float.intBitsToFloat((floatBits & 0xffff0000) + 0x10000);
        float rounded = Tensor.bf16ToFloat(Tensor.floatToBf16(value));
        float toBelow = value - below;
        float toAbove = above - value;
        boolean belowIsEven = ((floatBits >>> 16) & 1) == 0;
        float expected = toBelow < toAbove || (toBelow == toAbove && belowIsEven) ? below : above;
        assertThat(rounded).isEqualTo(expected);
    }

    @Test
    void nan_stays_nan_in_bf16() {
        assertThat(Tensor.bf16ToFloat(Tensor.floatToBf16(Float.NaN))).isNaN();
        assertThat(Tensor.bf16ToFloat(Tensor.floatToBf16(Float.intBitsToFloat(0x7f800001))))
                .isNaN();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3})
    void elements_are_read_at_any_byte_alignment(int padding) {
        byte[] bytes = new byte[padding + 8];
        MemorySegment memory = MemorySegment.ofArray(bytes).asSlice(padding);
        memory.set(ValueLayout.JAVA_FLOAT_UNALIGNED, 0, 1.5f);
        memory.set(ValueLayout.JAVA_FLOAT_UNALIGNED, 4, -2.25f);
        Tensor tensor = new Tensor(DType.F32, new long[] {2}, memory);
        float[] copy = new float[2];
        tensor.copyTo(0, copy, 0, 2);
        assertThat(copy).containsExactly(1.5f, -2.25f);
        assertThat(tensor.get(1)).isEqualTo(-2.25f);
    }
}

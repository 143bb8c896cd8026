package io.roseinfer.backend.cpu.kernel;

import io.roseinfer.backend.Precision;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Fp32 weights: a word is a weight. */
public record Fp32Weights() implements WeightFormat {
    @Override
    public Precision precision() {
        return Precision.FP32;
    }

    @Override
    public int perWord() {
        return 1;
    }

    @Override
    public float decode(int word, int which) {
        return Float.intBitsToFloat(word);
    }

    @Override
    public Packer packer() {
        return (weights, packed, panel) -> MemorySegment.copy(
                weights,
                0,
                packed.memory(),
                ValueLayout.JAVA_FLOAT,
                packed.panelStart(panel),
                packed.inputs() * PackedMatrix.COLUMNS);
    }

    @Override
    public String label() {
        return "f32";
    }
}

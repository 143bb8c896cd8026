package io.roseinfer.backend.cpu.kernel;

import static io.roseinfer.backend.cpu.kernel.PackedMatrix.COLUMNS;

import io.roseinfer.backend.Precision;
import io.roseinfer.tensor.Tensor;

/** Bfloat16 weights: a word has two inputs, the first in its lower half. */
public record Bf16Weights() implements WeightFormat {
    @Override
    public Precision precision() {
        return Precision.BF16;
    }

    @Override
    public int perWord() {
        return 2;
    }

    @Override
    public float decode(int word, int which) {
        return Float.intBitsToFloat(word << (16 - 16 * which) & 0xffff0000);
    }

    @Override
    public void decode(int[] words, int count, int which, float[] target, int from) {
        int shift = 16 - 16 * which;
        for (int i = 0; i < count; i++) {
            target[from + i] = Float.intBitsToFloat(words[i] << shift & 0xffff0000);
        }
    }

    @Override
    public Packer packer() {
        return new WordPacker() {
            @Override
            void join(float[] weights, int from, int[] words, int at) {
                for (int c = 0; c < COLUMNS; c++) {
                    int low = Tensor.floatToBf16(weights[from + c]) & 0xffff;
                    words[at + c] = low | Tensor.floatToBf16(weights[from + COLUMNS + c]) << 16;
                }
            }
        };
    }
}

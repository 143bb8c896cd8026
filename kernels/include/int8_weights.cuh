#pragma once
// Weights of one byte: how they rest in memory, and how they become operands of wgmma.
//
// An output n has one scale, and a weight is an integer from -127 to 127: W[n][k] = scale[n] · q[n][k]. These are the CPU's numbers
// (PanelPacker): scale = largest |W[n][k]| / 127 and q = W · (127 / largest), rounded to nearest, halves to even. bf16 holds q
// exactly, so a GEMM multiplies integers and takes the scale at its end, in float: nothing is rounded but the activations.
//
// A panel is 128 weights of k, 128 bytes as every panel (panel.cuh), and in it 64 rows are one piece of 8 KB, laid out for the threads
// of a warpgroup rather than by row: [quarter of 32 k][thread][four words]. Word j of thread t in quarter c holds, with lane = t % 32,
//
//      rows  16 · (t / 32) + lane / 4 and that + 8,      k = 32c + 16 · (j / 2) + 8 · (j % 2) + 2 · (lane % 4) and that + 1
//
// which is half of what wgmma wants of this thread for 16 k: a thread reads 16 bytes at a time, its neighbours the 16 bytes beside
// them, and nothing is moved between threads. In the word a weight is a sign and seven bits of magnitude, and from the top:
//
//      bits 31 … 16, k + 1:  sign of row r | magnitude of row r + 8 | sign of row r + 8 | magnitude of row r
//      bits 15 … 0,  k:      the same
//
// Why: without an exponent the fields of row r are bf16 as they lie, numbers below the normal ones, and a product with 2^127 makes the
// weight times 2^-6 of them, exactly; those of row r + 8 are so once the bytes of each half have changed places. That is five
// instructions for four weights, three of which are of the half rate of integer instructions.
#include "ptx.cuh"

namespace rose {

constexpr int INT8_PANEL = 128;  // weights along k
constexpr int INT8_STRIP = 64;   // rows of a piece
constexpr int INT8_LARGEST = 127;
// Outputs whose weights are all smaller become zero: their scale would lose bits.
constexpr float INT8_VANISHING = 1e-25f;
constexpr float INT8_UNIT = 64;  // what sums of products must be multiplied by

// A word of the packed matrix, and the weights in it.
struct Int8Word {
    size_t index;
    int row;  // and row + 8
    int k;    // and k + 1

    // The word with this number, of a matrix of `paddedN` rows.
    __host__ __device__ __forceinline__ static Int8Word at(size_t index, int paddedN) {
        const int word = static_cast<int>(index % 4);
        const int thread = static_cast<int>(index / 4 % 128);
        const int quarter = static_cast<int>(index / 512 % 4);
        const size_t piece = index / 2048;
        const int strips = paddedN / INT8_STRIP;
        const int lane = thread % 32;
        const int row = static_cast<int>(piece % strips) * INT8_STRIP + thread / 32 * 16 + lane / 4;
        const int panel = static_cast<int>(piece / strips);
        return {index, row, panel * INT8_PANEL + quarter * 32 + word / 2 * 16 + word % 2 * 8 + lane % 4 * 2};
    }
};

// The bits of a word that are the lower row's (upper = false), or those of the row eight below.
__host__ __device__ __forceinline__ uint32_t int8_mask(bool upper) { return upper ? 0x7f807f80u : 0x807f807fu; }

// Two weights of one row at k and k + 1 in their places.
__host__ __device__ __forceinline__ uint32_t int8_bits(int first, int second, bool upper) {
    auto half = [&](int q) {
        const uint32_t sign = q < 0, magnitude = q < 0 ? -q : q;
        return upper ? magnitude << 8 | sign << 7 : sign << 15 | magnitude;
    };
    return half(second) << 16 | half(first);
}

// The weight in a word at k + `second`, of the row `upper` says.
__host__ __device__ __forceinline__ int int8_weight(uint32_t word, int second, bool upper) {
    const uint32_t half = word >> (16 * second) & 0xffff;
    const int magnitude = upper ? half >> 8 & 127 : half & 127;
    return (upper ? half >> 7 & 1 : half >> 15) ? -magnitude : magnitude;
}

#if __CUDA_ARCH__ >= 900
// Two weights over INT8_UNIT in bf16, whose fields lie as those of row r do.
__device__ __forceinline__ uint32_t int8_pair(uint32_t word) {
    constexpr uint32_t TWO_TO_127 = 0x7f007f00u;
    uint32_t pair;
    asm("mul.rn.bf16x2 %0, %1, %2;" : "=r"(pair) : "r"(word & int8_mask(false)), "r"(TWO_TO_127));
    return pair;
}

// The operands of two products of 16 k, of a thread's four words.
__device__ __forceinline__ void int8_operands(uint4 words, uint32_t (&first)[4], uint32_t (&second)[4]) {
    auto widen = [](uint32_t word, uint32_t& row, uint32_t& below) {
        row = int8_pair(word);
        below = int8_pair(__byte_perm(word, 0, 0x2301));
    };
    widen(words.x, first[0], first[1]);
    widen(words.y, first[2], first[3]);
    widen(words.z, second[0], second[1]);
    widen(words.w, second[2], second[3]);
}
#endif

}  // namespace rose

#pragma once
// int8 weights (W8A16): their layout in memory and their conversion to wgmma operands.
//
// An output n has one scale, and a weight is an integer from -127 to 127: W[n][k] = scale[n] · q[n][k]. The numbers are
// bit-identical to the CPU's (PanelPacker): scale = max |W[n][k]| / 127 and q = W · (127 / max), rounded to nearest even. bf16
// represents q exactly, so a GEMM multiplies integers and applies the scale in float at the end: only activations are rounded.
//
// A panel is 128 k, 128 bytes wide like every panel (panel.cuh). Within it, 64 rows are a contiguous 8 KB, laid out by thread of
// a warpgroup rather than by row: [quarter of 32 k][thread][four words]. Word j of thread t in quarter c holds, with lane = t %
// 32,
//
//      rows  16 · (t / 32) + lane / 4 and that + 8,      k = 32c + 16 · (j / 2) + 8 · (j % 2) + 2 · (lane % 4) and that + 1
//
// which is half of wgmma's register operand of this thread for 16 k. Reads are 16 bytes per thread, coalesced, without shuffles.
// In a word, a weight is a sign and a 7-bit magnitude, from the top:
//
//      bits 31 … 16, k + 1:  sign of row r | magnitude of row r + 8 | sign of row r + 8 | magnitude of row r
//      bits 15 … 0,  k:      the same
//
// Why: without exponent bits the fields of row r are bf16 subnormals as stored, and a product with 2^127 gives the weight times
// 2^-6 exactly. The fields of row r + 8 are too, once the bytes of each half are swapped. That is five instructions for four
// weights, three of them at half rate (integer).
#include "ptx.cuh"

namespace rose {

constexpr int INT8_PANEL = 128;  // weights along k
constexpr int INT8_STRIP = 64;   // rows per contiguous 8 KB
constexpr int INT8_LARGEST = 127;
// Outputs with all weights below this become zero: their scale would lose bits.
constexpr float INT8_VANISHING = 1e-25f;
constexpr float INT8_UNIT = 64;  // factor to apply to accumulators

// A word of the packed matrix and the position of its weights.
struct Int8Word {
    size_t index;
    int row;  // and row + 8
    int k;    // and k + 1

    // Returns the word at `index` of a matrix of `paddedN` rows.
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

// Returns the bits of a word that belong to row r, or with `upper` to row r + 8.
__host__ __device__ __forceinline__ uint32_t int8_mask(bool upper) { return upper ? 0x7f807f80u : 0x807f807fu; }

// Returns the bits of two weights of one row, at k and k + 1.
__host__ __device__ __forceinline__ uint32_t int8_bits(int first, int second, bool upper) {
    auto half = [&](int q) {
        const uint32_t sign = q < 0, magnitude = q < 0 ? -q : q;
        return upper ? magnitude << 8 | sign << 7 : sign << 15 | magnitude;
    };
    return half(second) << 16 | half(first);
}

// Returns the weight at k + `second`, of row r or with `upper` of row r + 8.
__host__ __device__ __forceinline__ int int8_weight(uint32_t word, int second, bool upper) {
    const uint32_t half = word >> (16 * second) & 0xffff;
    const int magnitude = upper ? half >> 8 & 127 : half & 127;
    return (upper ? half >> 7 & 1 : half >> 15) ? -magnitude : magnitude;
}

#if __CUDA_ARCH__ >= 900
// Returns two weights divided by INT8_UNIT as bf16, from fields in the position of row r.
__device__ __forceinline__ uint32_t int8_pair(uint32_t word) {
    constexpr uint32_t TWO_TO_127 = 0x7f007f00u;
    uint32_t pair;
    asm("mul.rn.bf16x2 %0, %1, %2;" : "=r"(pair) : "r"(word & int8_mask(false)), "r"(TWO_TO_127));
    return pair;
}

// Converts a thread's four words to the operands of two products of 16 k.
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

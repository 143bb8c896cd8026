#pragma once
// Operands of attention: queries, block tables and the paged KV pool.
//
// A row (one sequence) has tokens rowStarts[r] … rowStarts[r + 1] - 1 of the step, the last ones of contextLengths[r] tokens.
// Their keys and values are in blocks[blockStarts[r] …], blockSize tokens each. A layer's pool is [block][head][key,
// value][token in block][head size]: one head's part of a block is contiguous. With GQA, query head h reads KV head h / (heads
// / kvHeads).
//
// Rows of one token may share a block table: consecutive tokens of a sequence, each a row with its own context. Kernels that read
// the past before they wait for this step's keys ask `new_tokens` where it ends.
//
// Queries are row-major [tokens][heads · headPad], scaled by attention scale · log2(e). The output goes to panels. K and V have
// type KV: the queries' type or fp8.
#include "panel.cuh"

namespace rose {

template <class T, class KV = T>
struct PagedAttention {
    const T* queries;
    const KV* pool;
    const int* rowStarts;
    const int* contextLengths;
    const int* blockStarts;
    const int* blocks;
    T* out;
    int panelRows;
    int heads;
    int kvHeads;
    int headPad;
    int blockSize;

    // Returns the key of token `index` in the row whose block table starts at `list`; its value is `valueOffset()` elements
    // further.
    __device__ __forceinline__ const KV* key(const int* list, int index, int kvHead) const {
        size_t place = (static_cast<size_t>(__ldg(list + index / blockSize)) * kvHeads + kvHead) * 2 * blockSize;
        return pool + (place + index % blockSize) * headPad;
    }

    __device__ __forceinline__ int valueOffset() const { return blockSize * headPad; }
};

// Returns how many of the last tokens of decode row `row` this step computes: its own, and one per row right before it with the
// same block table. At most 31; all lanes of a warp take part.
__device__ __forceinline__ int new_tokens(const int* blockStarts, int row, int lane) {
    const int start = __ldg(blockStarts + max(row - lane, 0));
    const int own = __shfl_sync(~0u, start, 0);
    const unsigned same = __ballot_sync(~0u, lane <= row && start == own);
    return __ffs(~same | 1u << 31) - 1;  // padding rows all have the same start
}

// Score of masked and absent keys: their weight 2^(NO_SCORE - largest) is 0.
constexpr float NO_SCORE = -1e30f;

}  // namespace rose

#pragma once
// The operands of attention: where each row's queries are and where its keys and values rest.
//
// A row (one sequence) has the tokens rowStarts[r] … rowStarts[r + 1] - 1 of the step, the last ones of a context of
// contextLengths[r] tokens, whose keys and values rest in blocks[blockStarts[r] …], blockSize tokens each. A layer's pool is laid
// out [block][head][key, value][token in block][head size]: what one head needs of one block is one contiguous piece. Heads of keys
// and values may be fewer than those of queries: query head h reads head h / (heads / kvHeads).
//
// Queries are row-major [tokens][heads · headSize], scaled by the attention scale · log2(e). The result goes to panels. Keys and
// values are of type KV, which is that of the queries or fp8.
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
    int headSize;
    int blockSize;

    // The key of token `index` of the row whose blocks start at `list`, of a head of keys and values; its value is `valueOffset()`
    // elements further.
    __device__ __forceinline__ const KV* key(const int* list, int index, int kvHead) const {
        size_t place = (static_cast<size_t>(__ldg(list + index / blockSize)) * kvHeads + kvHead) * 2 * blockSize;
        return pool + (place + index % blockSize) * headSize;
    }

    __device__ __forceinline__ int valueOffset() const { return blockSize * headSize; }
};

// The score of a key that a query does not see, and of no key at all: its weight is 2^(NO_SCORE - largest), which is 0.
constexpr float NO_SCORE = -1e30f;

}  // namespace rose

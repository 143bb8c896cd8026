// Attention for all other shapes: prefill and decode, MHA and GQA, full context or the last `window` tokens. Head sizes are
// multiples of 16 up to 256. Any block size; f32, f16 and bf16; K and V of the same type or fp8.
//
// One warp per (token, head), by include/attend_token.cuh. A token's result depends on its own context only and is summed in one
// order, so it is bit-identical in any batch and chunking.
//
// Launch: grid (tokens, ⌈heads / 4⌉), block 128.
#include "include/attend_token.cuh"
#include "include/ptx.cuh"

using namespace rose;

// Returns the row of token `t`: the last r with rowStarts[r] <= t.
__device__ __forceinline__ int row_of(const int* rowStarts, int rows, int t) {
    int low = 0;
    int high = rows;
    while (high - low > 1) {
        int middle = (low + high) / 2;
        (__ldg(rowStarts + middle) <= t ? low : high) = middle;
    }
    return low;
}

template <class T, class KV>
__device__ __forceinline__ void attend(const PagedAttention<T, KV>& p, int rows, int window) {
    release_dependents();
    wait_for_predecessors();
    const int token = blockIdx.x;
    const int head = blockIdx.y * 4 + threadIdx.x / 32;
    if (head >= p.heads || token >= __ldg(p.rowStarts + rows)) return;
    const int row = row_of(p.rowStarts, rows, token);
    const int after = __ldg(p.rowStarts + row + 1) - 1 - token;  // tokens of the row after this one
    const int context = __ldg(p.contextLengths + row) - after;
    attend_token(p, p.blocks + __ldg(p.blockStarts + row), token, head, max(0, context - window), context);
}

#define ATTEND(T, KV, NAME)                                                                                                     \
    extern "C" __global__ void __launch_bounds__(128) attention_generic_##NAME(                                                 \
        const T* queries, const KV* pool, const int* rowStarts, const int* contextLengths, const int* blockStarts,              \
        const int* blocks, T* out, int panelRows, int heads, int kvHeads, int headPad, int blockSize, int rows, int window) {   \
        attend<T, KV>({queries, pool, rowStarts, contextLengths, blockStarts, blocks, out, panelRows, heads, kvHeads, headPad,  \
                       blockSize},                                                                                              \
                      rows, window);                                                                                            \
    }

ATTEND(float, float, f32)
ATTEND(f16, f16, f16)
ATTEND(bf16, bf16, bf16)
#if __CUDA_ARCH__ >= 900 || !defined(__CUDA_ARCH__)
ATTEND(float, fp8, fp8_f32)
ATTEND(f16, fp8, fp8_f16)
ATTEND(bf16, fp8, fp8_bf16)
#endif

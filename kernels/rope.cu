// QK norm and RoPE: normalizes each query and key head (head_norm.cuh), then rotates it. Reads the raw rows that gemm_qkv_rope
// left, and writes queries and KV pool in the layouts of StoreQkvRope (epilogue.cuh). One warp per head of one token.
//
// Steps of decode rows alone do the same in attention_decode_gqa_rope.
//
// Launch: grid (tokens, ⌈query and key heads / 4⌉), block 128.
#include "include/epilogue.cuh"
#include "include/head_norm.cuh"

using namespace rose;

constexpr int WARPS = 4;
constexpr int MAX_GROUPS = 2;  // groups of four elements per lane: head size up to 256

// `normWeights` is [2][headPad]: the query norm's, then the key norm's, in the order of packed heads, zero in the padding.
template <class T, class KV>
__device__ __forceinline__ void norm_rope(const T* raw, const float* normWeights, int headSize, float epsilon,
                                          const StoreQkvRope<T, KV>& store) {
    release_dependents();
    const int token = blockIdx.x;
    const int head = blockIdx.y * WARPS + threadIdx.x / 32;
    const int headPad = store.headPad;
    const int column = head * headPad;
    const bool present = column < store.width + store.kvWidth;
    const int first = threadIdx.x % 32 * 4;
    typename StoreQkvRope<T, KV>::Context context[MAX_GROUPS];
    float4 normWeight[MAX_GROUPS];
#pragma unroll
    for (int i = 0; i < MAX_GROUPS; i++) {
        const int d = first + 128 * i;
        if (!present || d >= headPad) continue;
        store.early(context[i], token, column + d);
        normWeight[i] = __ldg(reinterpret_cast<const float4*>(normWeights + (column < store.width ? 0 : headPad) + d));
    }
    wait_for_predecessors();
    if (!present) return;
    const T* from = raw + static_cast<size_t>(token) * (store.width + store.kvWidth) + column;
    float4 x[MAX_GROUPS];
    float squares = 0;
#pragma unroll
    for (int i = 0; i < MAX_GROUPS; i++) {
        const int d = first + 128 * i;
        x[i] = d < headPad ? load4(from + d) : make_float4(0, 0, 0, 0);
        squares = add_squares(squares, x[i]);
    }
    const float norm = head_norm(squares, headSize, epsilon);
#pragma unroll
    for (int i = 0; i < MAX_GROUPS; i++) {
        const int d = first + 128 * i;
        if (d >= headPad) continue;
        store.store(context[i], token, column + d, weighted(x[i], norm, normWeight[i]));
    }
}

#define ROPE(T, KV, NAME)                                                                                                 \
    extern "C" __global__ void __launch_bounds__(128)                                                                     \
        rope_##NAME(const T* raw, const float* normWeights, T* queries, KV* pool, const int* slots, const int* positions, \
                    const float* ropeTable, int queryWidth, int kvWidth, int headSize, int headPad, int blockSize,        \
                    float queryScale, float epsilon) {                                                                    \
        norm_rope<T, KV>(                                                                                                 \
            raw, normWeights, headSize, epsilon,                                                                          \
            {queries, nullptr, pool, slots, positions, ropeTable, queryWidth, kvWidth, headPad, blockSize, queryScale});  \
    }

ROPE(float, float, f32)
ROPE(f16, f16, f16)
ROPE(bf16, bf16, bf16)
#if __CUDA_ARCH__ >= 900 || !defined(__CUDA_ARCH__)
ROPE(float, fp8, fp8_f32)
ROPE(f16, fp8, fp8_f16)
ROPE(bf16, fp8, fp8_bf16)
#endif

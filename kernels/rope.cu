// QK norm and RoPE: normalizes each query and key head (RMS norm with a weight), then rotates it. Reads the raw rows that
// gemm_qkv_rope left, and writes queries and KV pool in the layouts of StoreQkvRope (epilogue.cuh):
//
//      y = rope( x / √(mean of x² + epsilon) · weight )
//
// One warp per head of one token. A lane holds up to eight elements, in groups of four neighbors, so a rotated pair is always in
// one lane.
//
// Launch: grid (tokens, ⌈query and key heads / 4⌉), block 128.
#include "include/epilogue.cuh"

using namespace rose;

constexpr int WARPS = 4;
constexpr int MAX_GROUPS = 2;  // groups of four elements per lane: head size up to 256

template <class T>
__device__ __forceinline__ float4 load4(const T* from) {
    if constexpr (sizeof(T) == 4) {
        return __ldcg(reinterpret_cast<const float4*>(from));
    } else {
        const uint2 v = __ldcg(reinterpret_cast<const uint2*>(from));
        const float2 lower = unpack2<T>(v.x), upper = unpack2<T>(v.y);
        return make_float4(lower.x, lower.y, upper.x, upper.y);
    }
}

// `normWeights` is [2][headPad]: the query norm's, then the key norm's, in the order of packed heads, zero in the padding.
template <class T, class KV>
__device__ __forceinline__ void norm_rope(const T* raw, const float* normWeights, int headSize, float epsilon,
                                          const StoreQkvRope<T, KV>& store) {
    release_dependents();
    const int token = blockIdx.x;
    const int head = blockIdx.y * WARPS + threadIdx.x / 32;
    const int headPad = store.headSize;
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
        squares = fmaf(x[i].x, x[i].x, fmaf(x[i].y, x[i].y, fmaf(x[i].z, x[i].z, fmaf(x[i].w, x[i].w, squares))));
    }
    const float inverse = rsqrtf(sum_over_lanes<32>(squares) / headSize + epsilon);
#pragma unroll
    for (int i = 0; i < MAX_GROUPS; i++) {
        const int d = first + 128 * i;
        if (d >= headPad) continue;
        const float4 g = normWeight[i];
        store.store(context[i], token, column + d,
                    make_float4(x[i].x * inverse * g.x, x[i].y * inverse * g.y, x[i].z * inverse * g.z, x[i].w * inverse * g.w));
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

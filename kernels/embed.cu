// Embedding, the step's first kernel: x = tokenEmbedding[id] + positionEmbedding[position], the float residual stream. For GEMMs
// with a fused norm it also writes a copy in panels of T and the row's moments (Σ x, Σ x²) as one part.
//
// A negative token id ~id is a token that the host has not seen yet, the previous step's sample with index id. It is read from
// `sampled` on the device, so a step can be launched before the previous one has ended.
//
// `embed_tokens` is for models without learned positions: x = tokenEmbedding[id]. `embed_tokens_int8` has an int8 table with a
// scale per token. It multiplies the bf16 copy by the first norm's weights, since int8 weights do not include them.
//
// Launch: grid (tokens), block 128.
#include "include/panel.cuh"
#include "include/ptx.cuh"

using namespace rose;

constexpr int THREADS = 128;

// Reduces the threads' moments of a row over the block and stores them.
__device__ __forceinline__ void store_moments(float2 sum, float2* to) {
    __shared__ float2 parts[THREADS / 32];
    sum = make_float2(sum_over_lanes<32>(sum.x), sum_over_lanes<32>(sum.y));
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int i = 1; i < THREADS / 32; i++) sum = make_float2(sum.x + parts[i].x, sum.y + parts[i].y);
        *to = sum;
    }
}

template <class T, bool POSITIONS>
__device__ __forceinline__ void embed(const int* tokenIds, const int* positions, const int* sampled, const T* tokenEmbedding,
                                      const T* positionEmbedding, float* x, T* xPanels, float2* moments, int width, int stride,
                                      int panelRows) {
    release_dependents();
    wait_for_predecessors();
    const int m = blockIdx.x;
    const int id = tokenIds[m];
    const int token = id >= 0 ? id : __ldcg(sampled + ~id);
    const T* t = tokenEmbedding + static_cast<size_t>(token) * width;
    const T* p = POSITIONS ? positionEmbedding + static_cast<size_t>(positions[m]) * width : nullptr;
    float2 sum = make_float2(0, 0);
    for (int column = threadIdx.x; column < stride; column += THREADS) {
        float v = 0;
        if constexpr (POSITIONS) v = column < width ? to_float(t[column]) + to_float(p[column]) : 0.f;
        else v = column < width ? to_float(t[column]) : 0.f;
        x[static_cast<size_t>(m) * stride + column] = v;
        sum = make_float2(sum.x + v, fmaf(v, v, sum.y));
        if (xPanels != nullptr) *panel_at(xPanels, m, column, panelRows) = from_float<T>(v);
    }
    if (xPanels != nullptr) store_moments(sum, moments + m);
}

__device__ __forceinline__ void embed_int8(const int* tokenIds, const int* sampled, const int8_t* table, const float* scales,
                                           float* x, bf16* xPanels, float2* moments, const float* normWeights, int width,
                                           int stride, int panelRows) {
    release_dependents();
    wait_for_predecessors();
    const int m = blockIdx.x;
    const int id = tokenIds[m];
    const int token = id >= 0 ? id : __ldcg(sampled + ~id);
    const int8_t* t = table + static_cast<size_t>(token) * width;
    const float scale = scales[token];
    float2 sum = make_float2(0, 0);
    for (int column = threadIdx.x; column < stride; column += THREADS) {
        const float v = column < width ? t[column] * scale : 0.f;
        x[static_cast<size_t>(m) * stride + column] = v;
        sum = make_float2(sum.x + v, fmaf(v, v, sum.y));
        *panel_at(xPanels, m, column, panelRows) = from_float<bf16>(v * normWeights[column]);
    }
    store_moments(sum, moments + m);
}

#define EMBED(T, NAME)                                                                                                          \
    extern "C" __global__ void __launch_bounds__(128)                                                                           \
        embed_##NAME(const int* tokenIds, const int* positions, const int* sampled, const T* tokenEmbedding,                    \
                     const T* positionEmbedding, float* x, T* xPanels, float2* moments, int width, int stride, int panelRows) { \
        embed<T, true>(tokenIds, positions, sampled, tokenEmbedding, positionEmbedding, x, xPanels, moments, width, stride,     \
                       panelRows);                                                                                              \
    }                                                                                                                           \
    extern "C" __global__ void __launch_bounds__(128)                                                                           \
        embed_tokens_##NAME(const int* tokenIds, const int* sampled, const T* tokenEmbedding, float* x, T* xPanels,             \
                            float2* moments, int width, int stride, int panelRows) {                                            \
        embed<T, false>(tokenIds, nullptr, sampled, tokenEmbedding, nullptr, x, xPanels, moments, width, stride, panelRows);    \
    }

EMBED(float, f32)
EMBED(f16, f16)
EMBED(bf16, bf16)

extern "C" __global__ void __launch_bounds__(128)
    embed_tokens_int8(const int* tokenIds, const int* sampled, const int8_t* tokenEmbedding, const float* scales, float* x,
                      bf16* xPanels, float2* moments, const float* normWeights, int width, int stride, int panelRows) {
    embed_int8(tokenIds, sampled, tokenEmbedding, scales, x, xPanels, moments, normWeights, width, stride, panelRows);
}

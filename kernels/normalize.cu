// Layer norm without weight and bias, which are folded into the next matrix (load.cu):
//
//      out = (x - mean) / √(variance + epsilon)
//
// and RMS norm (`normalize_rms`), without its weight or, given `normWeights`, with it:
//
//      out = x / √(mean of x² + epsilon)
//
// Reads the float residual stream, writes panels of T. Used where the norm is not fused into a GEMM (`ModelShape.fusesNorm`), and
// before the LM head, with `sampleTokens` to gather the tokens to sample after.
//
// `gather` copies those tokens' rows of the residual stream and of attention's output (panels): after the last attention only they
// matter. Launch: grid (samples), block 256.
//
// One warp per row. Rows of up to 1024 columns stay in registers: they are read once, and the variance takes a second pass over
// registers. Wider rows are read again.
//
// Launch: grid (⌈rows / 8⌉), block 256. With `sampleTokens`, output row i is token sampleTokens[i]; else token i.
#include "include/panel.cuh"
#include "include/ptx.cuh"

using namespace rose;

constexpr int MAX_GROUPS = 8;  // float4 groups per lane: 1024 columns

template <class T, bool RMS>
__device__ __forceinline__ void normalize(const float* x, int rows, int width, int stride, float epsilon, const int* sampleTokens,
                                          T* out, int panelRows, const float* normWeights = nullptr) {
    release_dependents();
    wait_for_predecessors();
    const int m = blockIdx.x * 8 + threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    if (m >= rows) return;
    const int token = sampleTokens != nullptr ? sampleTokens[m] : m;
    const float* row = x + static_cast<size_t>(token) * stride;
    const int groups = stride / 4;  // padding columns of x are zero and add nothing below
    auto load = [&](int group) { return __ldcg(reinterpret_cast<const float4*>(row) + group); };

    float4 kept[MAX_GROUPS];
#pragma unroll
    for (int i = 0; i < MAX_GROUPS; i++) {
        int group = lane + 32 * i;
        kept[i] = group < groups ? load(group) : make_float4(0, 0, 0, 0);
    }
    float mean = 0;
    if constexpr (!RMS) {
        float sum = 0;
#pragma unroll
        for (int i = 0; i < MAX_GROUPS; i++) sum += kept[i].x + kept[i].y + kept[i].z + kept[i].w;
        for (int group = lane + 32 * MAX_GROUPS; group < groups; group += 32) {
            float4 v = load(group);
            sum += v.x + v.y + v.z + v.w;
        }
        mean = sum_over_lanes<32>(sum) / width;
    }

    auto deviation = [&](float v, int column) {
        float d = column < width ? v - mean : 0.f;
        return d * d;
    };
    auto deviations = [&](float4 v, int group) {
        return deviation(v.x, 4 * group) + deviation(v.y, 4 * group + 1) + deviation(v.z, 4 * group + 2) +
               deviation(v.w, 4 * group + 3);
    };
    float squares = 0;
#pragma unroll
    for (int i = 0; i < MAX_GROUPS; i++) squares += deviations(kept[i], lane + 32 * i);
    for (int group = lane + 32 * MAX_GROUPS; group < groups; group += 32) squares += deviations(load(group), group);
    const float inverse = rsqrtf(sum_over_lanes<32>(squares) / width + epsilon);

    auto store = [&](float4 v, int group) {
        float4 y = make_float4((v.x - mean) * inverse, (v.y - mean) * inverse, (v.z - mean) * inverse, (v.w - mean) * inverse);
        if constexpr (RMS) {
            if (normWeights != nullptr) {
                const float4 normWeight = __ldg(reinterpret_cast<const float4*>(normWeights) + group);
                y = make_float4(y.x * normWeight.x, y.y * normWeight.y, y.z * normWeight.z, y.w * normWeight.w);
            }
        }
        store4(panel_at(out, m, 4 * group, panelRows), y);
    };
#pragma unroll
    for (int i = 0; i < MAX_GROUPS; i++) {
        if (lane + 32 * i < groups) store(kept[i], lane + 32 * i);
    }
    for (int group = lane + 32 * MAX_GROUPS; group < groups; group += 32) store(load(group), group);
}

template <class T>
__device__ __forceinline__ void gather(const float* x, const T* attended, const int* sampleTokens, int stride, int width,
                                       int panelRows, float* sampledX, T* sampledAttended, int sampledRows) {
    release_dependents();
    const int m = blockIdx.x;
    const int token = __ldg(sampleTokens + m);
    wait_for_predecessors();
    const float4* from = reinterpret_cast<const float4*>(x + static_cast<size_t>(token) * stride);
    float4* to = reinterpret_cast<float4*>(sampledX + static_cast<size_t>(m) * stride);
    for (int i = threadIdx.x; i < stride / 4; i += blockDim.x) to[i] = __ldcg(from + i);
    constexpr int CHUNK = 16 / sizeof(T);
    for (int column = threadIdx.x * CHUNK; column < width; column += blockDim.x * CHUNK) {
        const uint4* chunk = reinterpret_cast<const uint4*>(panel_at(const_cast<T*>(attended), token, column, panelRows));
        *reinterpret_cast<uint4*>(panel_at(sampledAttended, m, column, sampledRows)) = __ldcg(chunk);
    }
}

#define NORMALIZE(T, NAME)                                                                                                    \
    extern "C" __global__ void __launch_bounds__(256)                                                                         \
        normalize_##NAME(const float* x, int rows, int width, int stride, float epsilon, const int* sampleTokens, T* out,     \
                         int panelRows) {                                                                                     \
        normalize<T, false>(x, rows, width, stride, epsilon, sampleTokens, out, panelRows);                                   \
    }                                                                                                                         \
    extern "C" __global__ void __launch_bounds__(256)                                                                         \
        normalize_rms_##NAME(const float* x, int rows, int width, int stride, float epsilon, const int* sampleTokens, T* out, \
                             int panelRows, const float* normWeights) {                                                       \
        normalize<T, true>(x, rows, width, stride, epsilon, sampleTokens, out, panelRows, normWeights);                       \
    }                                                                                                                         \
    extern "C" __global__ void __launch_bounds__(256)                                                                         \
        gather_##NAME(const float* x, const T* attended, const int* sampleTokens, int stride, int width, int panelRows,       \
                      float* sampledX, T* sampledAttended, int sampledRows) {                                                 \
        gather<T>(x, attended, sampleTokens, stride, width, panelRows, sampledX, sampledAttended, sampledRows);               \
    }

NORMALIZE(float, f32)
NORMALIZE(f16, f16)
NORMALIZE(bf16, bf16)

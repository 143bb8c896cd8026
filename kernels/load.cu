// Load-time kernels: bring checkpoint tensors into the layouts that a step's kernels read.
//
// pack_*         a stored matrix, or part of one, to panels, with the preceding norm's weight folded in:
//                W'[n][k] = normWeight[k] · W[k][order[n]]
// column_sums_*  Σ_k W'[n][k] of the packed (rounded) weights; GEMMs with a fused layer norm subtract the mean with it
// fold_bias      b'[n] += Σ_k normBias[k] · W[k][order[n]]
// convert_*      a plain array (embeddings) to T
//
// For int8 weights (include/int8_weights.cuh), into which norm weights are not folded:
//
// int8_scales    the scale of each output, and its inverse, which quantizes the weights
// pack_int8      a stored matrix, or part of one, to the panels that GEMMs read
// int8_table     a lookup table, row by row as stored, to integers
//
// `order[n]` is the stored tensor's output for packed row n; below zero the row is not in this tensor and stays unchanged. So a
// matrix may be assembled from several tensors in any row order; padding rows are zeroed before. The k axis of the attention
// output consists of heads of `kHeadSize` elements padded to `kHeadPad`; both are 1 for other matrices. Types are the sources'
// ElementType.
//
// Launch: grid (⌈elements / 256⌉), block 256, ordinary edges; elements as noted at each kernel.
#include "include/int8_weights.cuh"
#include "include/panel.cuh"

using namespace rose;

// Returns the source index of a padded index, or -1 in padding.
__device__ __forceinline__ int source_index(int padded, int count, int headSize, int headPad) {
    if (headSize == headPad) return padded < count ? padded : -1;
    int index = padded / headPad * headSize + padded % headPad;
    return padded % headPad < headSize && index < count ? index : -1;
}

// A checkpoint matrix W[k][n], stored [k][n] (Conv1D) or [n][k] (Linear, embeddings).
struct Matrix {
    const void* data;
    int type;
    int k;
    int n;
    bool kMajor;

    __device__ __forceinline__ float at(int kIndex, int nIndex) const {
        size_t index = kMajor ? static_cast<size_t>(kIndex) * n + nIndex : static_cast<size_t>(nIndex) * k + kIndex;
        return load_as_float(data, type, index);
    }
};

// elements: paddedK · paddedN
template <class T>
__device__ __forceinline__ void pack(Matrix w, const float* normWeight, const int* order, int kHeadSize, int kHeadPad, T* out,
                                     int paddedN, int paddedK) {
    size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
    if (i >= static_cast<size_t>(paddedN) * paddedK) return;
    // Consecutive threads read consecutive elements of the source.
    int outK = static_cast<int>(w.kMajor ? i / paddedN : i % paddedK);
    int outN = static_cast<int>(w.kMajor ? i % paddedN : i / paddedK);
    int k = source_index(outK, w.k, kHeadSize, kHeadPad);
    int n = order[outN];
    if (n < 0) return;
    float v = k < 0 ? 0.f : w.at(k, n) * (normWeight != nullptr ? normWeight[k] : 1.f);
    *panel_at(out, outN, outK, paddedN) = from_float<T>(v);
}

// elements: 32 · paddedN; a warp per column
template <class T>
__device__ __forceinline__ void column_sums(const T* packed, int paddedN, int paddedK, float* sums) {
    int n = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (n >= paddedN) return;
    float sum = 0;
    for (int k = threadIdx.x % 32; k < paddedK; k += 32) { sum += to_float(*panel_at(const_cast<T*>(packed), n, k, paddedN)); }
    sum = sum_over_lanes<32>(sum);
    if (threadIdx.x % 32 == 0) sums[n] = sum;
}

// elements: 32 · paddedN; a warp per column
extern "C" __global__ void __launch_bounds__(256) fold_bias(const void* w, int type, int k, int n, int kMajor,
                                                            const float* normBias, const int* order, float* bias, int paddedN) {
    Matrix matrix{w, type, k, n, kMajor != 0};
    int outN = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (outN >= paddedN || order[outN] < 0) return;
    float sum = 0;
    for (int i = threadIdx.x % 32; i < k; i += 32) sum += normBias[i] * matrix.at(i, order[outN]);
    sum = sum_over_lanes<32>(sum);
    if (threadIdx.x % 32 == 0) bias[outN] += sum;
}

// elements: count
template <class T>
__device__ __forceinline__ void convert(const void* from, int type, T* to, size_t count) {
    size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
    if (i < count) to[i] = from_float<T>(load_as_float(from, type, i));
}

// elements: 32 · paddedN; a warp per output
extern "C" __global__ void __launch_bounds__(256) int8_scales(const void* w, int type, int k, int n, int kMajor, const int* order,
                                                              float* scales, float* inverses, int paddedN) {
    Matrix matrix{w, type, k, n, kMajor != 0};
    int outN = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (outN >= paddedN || order[outN] < 0) return;
    float largest = 0;
    for (int i = threadIdx.x % 32; i < k; i += 32) {
        float magnitude = fabsf(matrix.at(i, order[outN]));
        if (!(magnitude <= largest)) largest = magnitude;  // keeps NaN
        if (largest != largest) break;
    }
    for (int step = 16; step > 0; step /= 2) {
        float other = __shfl_xor_sync(~0u, largest, step);
        if (!(other <= largest) && largest == largest) largest = other;
    }
    if (threadIdx.x % 32 != 0) return;
    scales[outN] = largest / INT8_LARGEST;
    inverses[outN] = largest < INT8_VANISHING ? 0.f : INT8_LARGEST / largest;
}

// elements: paddedK · paddedN / 4; a thread per word
extern "C" __global__ void __launch_bounds__(256)
    pack_int8(const void* w, int type, int k, int n, int kMajor, const int* order, int kHeadSize, int kHeadPad,
              const float* inverses, uint32_t* out, int paddedN, int paddedK) {
    size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
    if (i >= static_cast<size_t>(paddedN) * paddedK / 4) return;
    Matrix matrix{w, type, k, n, kMajor != 0};
    const Int8Word word = Int8Word::at(i, paddedN);
    uint32_t bits = out[i];
    for (int upper = 0; upper < 2; upper++) {
        const int row = word.row + 8 * upper;
        if (order[row] < 0) continue;
        int q[2];
        for (int second = 0; second < 2; second++) {
            const int from = source_index(word.k + second, k, kHeadSize, kHeadPad);
            q[second] = from < 0 ? 0 : __float2int_rn(matrix.at(from, order[row]) * inverses[row]);
        }
        bits = (bits & ~int8_mask(upper)) | int8_bits(q[0], q[1], upper);
    }
    out[i] = bits;
}

// elements: columns · rows
extern "C" __global__ void __launch_bounds__(256)
    int8_table(const void* from, int type, int columns, const float* inverses, int8_t* to, size_t count) {
    size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
    if (i < count) to[i] = static_cast<int8_t>(__float2int_rn(load_as_float(from, type, i) * inverses[i / columns]));
}

#define LOADERS(T, NAME)                                                                                                         \
    extern "C" __global__ void __launch_bounds__(256)                                                                            \
        pack_##NAME(const void* w, int type, int k, int n, int kMajor, const float* normWeight, const int* order, int kHeadSize, \
                    int kHeadPad, T* out, int paddedN, int paddedK) {                                                            \
        pack<T>({w, type, k, n, kMajor != 0}, normWeight, order, kHeadSize, kHeadPad, out, paddedN, paddedK);                    \
    }                                                                                                                            \
    extern "C" __global__ void __launch_bounds__(256)                                                                            \
        column_sums_##NAME(const T* packed, int paddedN, int paddedK, float* sums) {                                             \
        column_sums(packed, paddedN, paddedK, sums);                                                                             \
    }                                                                                                                            \
    extern "C" __global__ void __launch_bounds__(256) convert_##NAME(const void* from, int type, T* to, size_t count) {          \
        convert(from, type, to, count);                                                                                          \
    }

LOADERS(float, f32)
LOADERS(f16, f16)
LOADERS(bf16, bf16)

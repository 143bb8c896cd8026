#pragma once
// Reference implementation: the model's equations, one thread per output, float activations, checkpoint-layout weights. No tiles,
// no paging, no fusion; norms accumulate in double.
#include "device.cuh"

namespace reference {

template <class T>
__global__ void embed(float* x, const int* ids, const int* positions, const T* tokens, const T* places, int width) {
    for (int c = threadIdx.x; c < width; c += blockDim.x) {
        x[static_cast<size_t>(blockIdx.x) * width + c] =
            rose::to_float(tokens[static_cast<size_t>(ids[blockIdx.x]) * width + c]) +
            (places != nullptr ? rose::to_float(places[static_cast<size_t>(positions[blockIdx.x]) * width + c]) : 0.f);
    }
}

// y = (x - mean) / √(variance + epsilon) · weight + bias. Without a bias the norm is an RMS norm, whose mean is zero.
template <class T>
__global__ void norm(float* y, const float* x, const T* weight, const T* bias, int width, float epsilon) {
    const float* row = x + static_cast<size_t>(blockIdx.x) * width;
    double sum = 0, squares = 0;
    for (int c = 0; c < width; c++) sum += row[c];
    double mean = bias != nullptr ? sum / width : 0;
    for (int c = 0; c < width; c++) squares += (row[c] - mean) * (row[c] - mean);
    double inverse = 1 / sqrt(squares / width + epsilon);
    for (int c = threadIdx.x; c < width; c += blockDim.x) {
        float v = static_cast<float>((row[c] - mean) * inverse);
        v = v * rose::to_float(weight[c]) + (bias != nullptr ? rose::to_float(bias[c]) : 0.f);
        y[static_cast<size_t>(blockIdx.x) * width + c] = v;
    }
}

static __device__ float activate(float x, int kind) {
    switch (kind) {
        case rose::GELU_TANH: return 0.5f * x * (1 + tanhf(0.7978845608f * (x + 0.044715f * x * x * x)));
        case rose::GELU_ERF: return 0.5f * x * (1 + erff(x * 0.70710678f));
        case rose::RELU: return fmaxf(x, 0.f);
        case rose::SILU: return x / (1 + expf(-x));
        default: return NAN;
    }
}

// y[m][n] = Σ_k x[m][k] · w(k, n) + bias[n], then the activation if kind >= 0, then + residual.
template <class T>
__global__ void matmul(float* y, const float* x, const T* w, bool kMajor, const T* bias, const float* residual, int k, int n,
                       int kind) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    size_t m = blockIdx.y;
    if (column >= n) return;
    float sum = 0;
    for (int i = 0; i < k; i++) {
        size_t index = kMajor ? static_cast<size_t>(i) * n + column : static_cast<size_t>(column) * k + i;
        sum = fmaf(x[m * k + i], rose::to_float(w[index]), sum);
    }
    if (bias != nullptr) sum += rose::to_float(bias[column]);
    if (kind >= 0) sum = activate(sum, kind);
    if (residual != nullptr) sum += residual[m * n + column];
    y[m * n + column] = sum;
}

// y[m][i] = activation(x[m][i]) · x[m][inner + i].
static __global__ void gate(float* y, const float* x, int inner, int kind) {
    for (int i = threadIdx.x; i < inner; i += blockDim.x) {
        float g = x[static_cast<size_t>(blockIdx.x) * 2 * inner + i];
        float up = x[static_cast<size_t>(blockIdx.x) * 2 * inner + inner + i];
        y[static_cast<size_t>(blockIdx.x) * inner + i] = activate(g, kind) * up;
    }
}

// QK norm and RoPE in place: rotates elements i and i + rotarySize / 2 of a head by position · 10000^(-2i / rotarySize). One
// block per (token, head), one thread.
template <class T>
__global__ void norm_rope_heads(float* qkv, const int* positions, int stride, int heads, int headSize, int rotarySize,
                                const T* queryNormWeight, const T* keyNormWeight, float epsilon) {
    float* x = qkv + static_cast<size_t>(blockIdx.x) * stride + blockIdx.y * headSize;
    const T* weight = static_cast<int>(blockIdx.y) < heads ? queryNormWeight : keyNormWeight;
    if (weight != nullptr) {
        double squares = 0;
        for (int i = 0; i < headSize; i++) squares += static_cast<double>(x[i]) * x[i];
        const double inverse = 1 / sqrt(squares / headSize + epsilon);
        for (int i = 0; i < headSize; i++) x[i] = static_cast<float>(x[i] * inverse) * rose::to_float(weight[i]);
    }
    for (int i = 0; i < rotarySize / 2; i++) {
        const double angle = positions[blockIdx.x] * pow(10000., -2. * i / rotarySize);
        const float c = static_cast<float>(cos(angle)), s = static_cast<float>(sin(angle));
        const float a = x[i], b = x[i + rotarySize / 2];
        x[i] = a * c - b * s;
        x[i + rotarySize / 2] = b * c + a * s;
    }
}

// Rounds keys and values, the columns after `queries` of a row, to fp8. One block per token.
static __global__ void round_keys(float* qkv, int stride, int queries) {
    float* row = qkv + static_cast<size_t>(blockIdx.x) * stride;
    for (int i = queries + threadIdx.x; i < stride; i += blockDim.x) row[i] = static_cast<float>(__nv_fp8_e4m3(row[i]));
}

// Causal attention over qkv [tokens][(heads + 2 · kvHeads) · headSize] of consecutive rows, limited to the last `window` tokens;
// one block per (token, head).
static __global__ void attention(float* out, const float* qkv, const int* rowOf, const int* rowStart, int heads, int kvHeads,
                                 int headSize, int window, float scale) {
    extern __shared__ float score[];
    int token = blockIdx.x;
    int head = blockIdx.y;
    int start = max(rowStart[rowOf[token]], token - min(window, token + 1) + 1);
    int count = token - start + 1;
    size_t stride = static_cast<size_t>(heads + 2 * kvHeads) * headSize;
    const float* q = qkv + token * stride + head * headSize;
    const float* keys = qkv + (heads + head / (heads / kvHeads)) * headSize;
    const float* values = keys + kvHeads * headSize;
    for (int i = threadIdx.x; i < count; i += blockDim.x) {
        const float* key = keys + (start + i) * stride;
        float sum = 0;
        for (int d = 0; d < headSize; d++) sum += q[d] * key[d];
        score[i] = sum * scale;
    }
    __syncthreads();
    float largest = -INFINITY;
    for (int i = 0; i < count; i++) largest = fmaxf(largest, score[i]);
    float total = 0;
    for (int i = 0; i < count; i++) total += expf(score[i] - largest);
    for (int d = threadIdx.x; d < headSize; d += blockDim.x) {
        float sum = 0;
        for (int i = 0; i < count; i++) sum += expf(score[i] - largest) * values[(start + i) * stride + d];
        out[static_cast<size_t>(token) * heads * headSize + head * headSize + d] = sum / total;
    }
}

}  // namespace reference

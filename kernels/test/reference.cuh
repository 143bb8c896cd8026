#pragma once
// The model as its equations say it, one thread per output, float activations and checkpoint-layout weights: what every kernel is
// held against. No tiles, no paging, no fusion; sums of norms in double.
#include "device.cuh"

namespace reference {

template <class T>
__global__ void embed(float* x, const int* ids, const int* positions, const T* tokens, const T* places, int width) {
    for (int c = threadIdx.x; c < width; c += blockDim.x) {
        x[static_cast<size_t>(blockIdx.x) * width + c] =
            rose::to_float(tokens[static_cast<size_t>(ids[blockIdx.x]) * width + c]) +
            rose::to_float(places[static_cast<size_t>(positions[blockIdx.x]) * width + c]);
    }
}

// y = (x - mean) / √(variance + epsilon) · gain + bias; gain and bias may be null.
template <class T>
__global__ void layer_norm(float* y, const float* x, const T* gain, const T* bias, int width, float epsilon) {
    const float* row = x + static_cast<size_t>(blockIdx.x) * width;
    double sum = 0, squares = 0;
    for (int c = 0; c < width; c++) sum += row[c];
    double mean = sum / width;
    for (int c = 0; c < width; c++) squares += (row[c] - mean) * (row[c] - mean);
    double inverse = 1 / sqrt(squares / width + epsilon);
    for (int c = threadIdx.x; c < width; c += blockDim.x) {
        float v = static_cast<float>((row[c] - mean) * inverse);
        if (gain != nullptr) v = v * rose::to_float(gain[c]) + rose::to_float(bias[c]);
        y[static_cast<size_t>(blockIdx.x) * width + c] = v;
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
    if (kind == rose::GELU_TANH) sum = 0.5f * sum * (1 + tanhf(0.7978845608f * (sum + 0.044715f * sum * sum * sum)));
    if (kind == rose::GELU_ERF) sum = 0.5f * sum * (1 + erff(sum * 0.70710678f));
    if (kind == rose::RELU) sum = fmaxf(sum, 0.f);
    if (residual != nullptr) sum += residual[m * n + column];
    y[m * n + column] = sum;
}

// Causal attention over qkv [tokens][3 · width] of rows that lie side by side; one block per (token, head).
static __global__ void attention(float* out, const float* qkv, const int* rowOf, const int* rowStart, int width, int headSize,
                                 float scale) {
    extern __shared__ float score[];
    int token = blockIdx.x;
    int head = blockIdx.y;
    int start = rowStart[rowOf[token]];
    int count = token - start + 1;
    const float* q = qkv + static_cast<size_t>(token) * 3 * width + head * headSize;
    for (int i = threadIdx.x; i < count; i += blockDim.x) {
        const float* key = qkv + static_cast<size_t>(start + i) * 3 * width + width + head * headSize;
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
        for (int i = 0; i < count; i++) {
            sum += expf(score[i] - largest) * qkv[static_cast<size_t>(start + i) * 3 * width + 2 * width + head * headSize + d];
        }
        out[static_cast<size_t>(token) * width + head * headSize + d] = sum / total;
    }
}

}  // namespace reference

// GEMMs for every GPU from sm_80 on, in f32, f16 and bf16. The tile is in include/gemm_generic.cuh.
//
// Launch: grid (columns / 64, ⌈rows / 64⌉), block 128, no dynamic shared memory.
#include "include/gemm_generic.cuh"

using namespace rose;

#define OPERANDS(T) const T *weights, const T *activations, int rows, int panelRows, int columns, int panels, const float *bias
#define RUN(T, ...) GenericTile<T>::run({weights, activations, rows, panelRows, columns, panels, bias}, __VA_ARGS__)

#define GEMMS(T, NAME)                                                                                                       \
    extern "C" __global__ void __launch_bounds__(128) gemm_qkv_##NAME##_generic(                                             \
        OPERANDS(T), T* queries, T* pool, const int* slots, int queryWidth, int headPad, int blockSize, float queryScale) {  \
        RUN(T, StoreQkv<T>{queries, pool, slots, queryWidth, headPad, blockSize, queryScale});                               \
    }                                                                                                                        \
    extern "C" __global__ void __launch_bounds__(128)                                                                        \
        gemm_residual_##NAME##_generic(OPERANDS(T), float* x, T* xPanels, float2* xMoments, int xStride) {                   \
        RUN(T, AddResidual<T, 64>{x, xPanels, xMoments, xStride, panelRows});                                                \
    }                                                                                                                        \
    extern "C" __global__ void __launch_bounds__(128) gemm_activation_##NAME##_generic(OPERANDS(T), T* hidden, int kind) {   \
        RUN(T, Activate<T>{hidden, panelRows, kind});                                                                        \
    }                                                                                                                        \
    extern "C" __global__ void __launch_bounds__(128) gemm_gated_##NAME##_generic(OPERANDS(T), T* hidden, int kind) {        \
        RUN(T, Gate<T>{hidden, panelRows, kind});                                                                            \
    }                                                                                                                        \
    extern "C" __global__ void __launch_bounds__(128) gemm_head_##NAME##_generic(                                            \
        OPERANDS(T), unsigned long long* best, float* logits, int vocabulary, int stride, int tiles) {                       \
        RUN(T, BestToken<64>{best, logits, vocabulary, stride, tiles});                                                      \
    }

#define QKV_ROPE(T, KV, NAME)                                                                                                 \
    extern "C" __global__ void __launch_bounds__(128) gemm_qkv_rope_##NAME##_generic(                                         \
        OPERANDS(T), T* queries, T* raw, KV* pool, const int* slots, const int* positions, const float* ropeTable,            \
        int queryWidth, int kvWidth, int headPad, int blockSize, float queryScale) {                                          \
        RUN(T, StoreQkvRope<T, KV>{queries, raw, pool, slots, positions, ropeTable, queryWidth, kvWidth, headPad, blockSize,  \
                                   queryScale});                                                                              \
    }

GEMMS(float, f32)
GEMMS(f16, f16)
GEMMS(bf16, bf16)
QKV_ROPE(float, float, f32)
QKV_ROPE(f16, f16, f16)
QKV_ROPE(bf16, bf16, bf16)
#if __CUDA_ARCH__ >= 900 || !defined(__CUDA_ARCH__)
QKV_ROPE(float, fp8, fp8_f32)
QKV_ROPE(f16, fp8, fp8_f16)
QKV_ROPE(bf16, fp8, fp8_bf16)
#endif

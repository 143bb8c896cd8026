#pragma once
// Entry points of the prompt GEMM for one element type: PROMPT_ENTRIES(f16, f16) in gemm_prompt_f16.cu, and bf16 in
// gemm_prompt_bf16.cu. contract/prompt_tiles.csv lists the tiles.
//
// Launch: one block of 384 threads per SM or tile, whichever is fewer, with PAIR 2 in clusters of two; with SPLIT 2 two blocks in a
// cluster per tile. README.md has
// the dynamic shared memory.
#include "gemm_prompt.cuh"

#define OPERANDS(T)                                                                                                            \
    const T *weights, const T *activations, int rows, int panelRows, int columns, int panels, const float *bias,               \
        const float *columnSums, const float2 *moments, int momentParts, float width, float epsilon
#define PASS {weights, activations, rows, panelRows, columns, panels, bias, columnSums, moments, momentParts, width, epsilon}

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define RUN(TILE, ...) TILE::run(PASS, __VA_ARGS__)
#define BOUNDS __launch_bounds__(PROMPT_THREADS, 1)
#else
#define RUN(TILE, ...)
#define BOUNDS
#endif

// KV: element type of the KV pool.
#define PROMPT_QKV_ROPE(T, KV, NAME, TILE_NAME, TILE)                                                                       \
    extern "C" __global__ void BOUNDS gemm_qkv_rope_##NAME##_##TILE_NAME(                                                   \
        OPERANDS(T), T* queries, T* raw, KV* pool, const int* slots, const int* positions, const float* ropeTable,          \
        int queryWidth, int kvWidth, int headPad, int blockSize, float queryScale) {                                        \
        using Qkv = PromptQkv<T, KV, true>;                                                                                 \
        RUN(TILE, Qkv{queries, raw, pool, slots, positions, ropeTable, queryWidth, kvWidth, headPad, blockSize, queryScale});  \
    }

// With QK norm of heads of 64 or 128; for tiles that have whole heads.
#define PROMPT_QKV_NORM_ROPE(T, KV, NAME, TILE_NAME, TILE)                                                                   \
    extern "C" __global__ void BOUNDS gemm_qkv_norm_rope_##NAME##_##TILE_NAME(                                               \
        OPERANDS(T), T* queries, KV* pool, const int* slots, const int* positions, const float* ropeTable, int queryWidth,   \
        int kvWidth, int headPad, int blockSize, float queryScale, const float* normWeights, int headSize,                   \
        float normEpsilon) {                                                                                                 \
        using Qkv = PromptQkvNorm<T, KV>;                                                                                    \
        RUN(TILE, Qkv{{queries, nullptr, pool, slots, positions, ropeTable, queryWidth, kvWidth, headPad, blockSize,         \
                       queryScale},                                                                                          \
                      normWeights,                                                                                           \
                      headSize,                                                                                              \
                      normEpsilon});                                                                                         \
    }

#define PROMPT_GEMMS(T, NAME, TILE_NAME, ...)                                                                                \
    using Prompt_##NAME##_##TILE_NAME = __VA_ARGS__;                                                                         \
    extern "C" __global__ void BOUNDS gemm_qkv_##NAME##_##TILE_NAME(                                                         \
        OPERANDS(T), T* queries, T* pool, const int* slots, int queryWidth, int headPad, int blockSize, float queryScale) {  \
        using Qkv = PromptQkv<T, T, false>;                                                                                  \
        RUN(Prompt_##NAME##_##TILE_NAME, Qkv{queries, nullptr, pool, slots, nullptr, nullptr, queryWidth, queryWidth,        \
                                             headPad, blockSize, queryScale});                                               \
    }                                                                                                                        \
    extern "C" __global__ void BOUNDS gemm_residual_##NAME##_##TILE_NAME(OPERANDS(T), float* x, T* xPanels,                  \
                                                                         float2* xMoments, int xStride) {                    \
        RUN(Prompt_##NAME##_##TILE_NAME, PromptResidual<T>{x, xPanels, xMoments, xStride, panelRows});                       \
    }                                                                                                                        \
    extern "C" __global__ void BOUNDS gemm_activation_##NAME##_##TILE_NAME(OPERANDS(T), T* hidden, int kind) {               \
        RUN(Prompt_##NAME##_##TILE_NAME, PromptActivate<T>{hidden, panelRows, kind});                                        \
    }                                                                                                                        \
    PROMPT_QKV_ROPE(T, T, NAME, TILE_NAME, Prompt_##NAME##_##TILE_NAME)                                                      \
    PROMPT_QKV_ROPE(T, fp8, fp8_##NAME, TILE_NAME, Prompt_##NAME##_##TILE_NAME)                                              \
    extern "C" __global__ void BOUNDS gemm_gated_##NAME##_##TILE_NAME(OPERANDS(T), T* hidden, int kind) {                    \
        RUN(Prompt_##NAME##_##TILE_NAME, PromptGate<T>{hidden, panelRows, kind});                                            \
    }

#define PROMPT_ENTRIES(T, NAME)                               \
    PROMPT_GEMMS(T, NAME, coop128, Cooperative<T, 128, 6, 1>) \
    PROMPT_GEMMS(T, NAME, coop192, Cooperative<T, 192, 5, 1>) \
    PROMPT_GEMMS(T, NAME, coop256, Cooperative<T, 256, 4, 1>) \
    PROMPT_GEMMS(T, NAME, pair256, Cooperative<T, 256, 4, 1, 2>) \
    PROMPT_GEMMS(T, NAME, split128, Cooperative<T, 128, 5, 2>) \
    PROMPT_QKV_NORM_ROPE(T, T, NAME, coop128, Prompt_##NAME##_coop128) \
    PROMPT_QKV_NORM_ROPE(T, fp8, fp8_##NAME, coop128, Prompt_##NAME##_coop128) \
    PROMPT_QKV_NORM_ROPE(T, T, NAME, coop256, Prompt_##NAME##_coop256) \
    PROMPT_QKV_NORM_ROPE(T, fp8, fp8_##NAME, coop256, Prompt_##NAME##_coop256)

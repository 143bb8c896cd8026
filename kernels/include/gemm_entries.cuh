#pragma once
// Entry points of the Hopper GEMMs for one element type: GEMM_ENTRIES(f16, f16) in gemm_f16.cu, and bf16 in gemm_bf16.cu. They
// are two files so that a model loads only its own.
//
// Launch: grid (⌈rows / BATCH⌉ · cluster, columns / N), for the head of 128 rows (⌈rows / 128⌉, as many as run at once). Block
// and dynamic shared memory are in README.md's launch table.
#include "gemm_head.cuh"

#define OPERANDS(T)                                                                                                          \
    const T *weights, const T *activations, int rows, int panelRows, int columns, int panels, int stages, const float *bias, \
        const float *columnSums, const float2 *moments, int momentParts, float width, float epsilon
#define PASS \
    { weights, activations, rows, panelRows, columns, panels, stages, bias, columnSums, moments, momentParts, width, epsilon }

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define RUN(TILE, ...) TILE::run(PASS, __VA_ARGS__)
#define BOUNDS(TILE, BLOCKS) __launch_bounds__(TILE::THREADS, BLOCKS)
#else
#define RUN(TILE, ...)
#define BOUNDS(TILE, BLOCKS)
#endif

// KV: element type of the KV pool.
#define QKV_ROPE(T, KV, TILE, NAME, BATCH, BLOCKS)                                                                            \
    extern "C" __global__ void BOUNDS(Tile_##TILE##_b##BATCH, BLOCKS) gemm_qkv_rope_##NAME##_b##BATCH(                        \
        OPERANDS(T), T* queries, T* raw, KV* pool, const int* slots, const int* positions, const float* ropeTable,            \
        int queryWidth, int kvWidth, int headPad, int blockSize, float queryScale) {                                          \
        RUN(Tile_##TILE##_b##BATCH, StoreQkvRope<T, KV>{queries, raw, pool, slots, positions, ropeTable, queryWidth, kvWidth, \
                                                        headPad, blockSize, queryScale});                                     \
    }

#define GEMMS(T, NAME, BATCH, N_GROUPS, K_GROUPS, BLOCKS)                                                                    \
    using Tile_##NAME##_b##BATCH = GemmTile<T, BATCH, N_GROUPS, K_GROUPS>;                                                   \
    extern "C" __global__ void BOUNDS(Tile_##NAME##_b##BATCH, BLOCKS) gemm_qkv_##NAME##_b##BATCH(                            \
        OPERANDS(T), T* queries, T* pool, const int* slots, int queryWidth, int headPad, int blockSize, float queryScale) {  \
        RUN(Tile_##NAME##_b##BATCH, StoreQkv<T>{queries, pool, slots, queryWidth, headPad, blockSize, queryScale});          \
    }                                                                                                                        \
    extern "C" __global__ void BOUNDS(Tile_##NAME##_b##BATCH, BLOCKS)                                                        \
        gemm_residual_##NAME##_b##BATCH(OPERANDS(T), float* x, T* xPanels, float2* xMoments, int xStride) {                  \
        RUN(Tile_##NAME##_b##BATCH, AddResidual<T, 64 * N_GROUPS>{x, xPanels, xMoments, xStride, panelRows});                \
    }                                                                                                                        \
    extern "C" __global__ void BOUNDS(Tile_##NAME##_b##BATCH, BLOCKS)                                                        \
        gemm_activation_##NAME##_b##BATCH(OPERANDS(T), T* hidden, int kind) {                                                \
        RUN(Tile_##NAME##_b##BATCH, Activate<T>{hidden, panelRows, kind});                                                   \
    }                                                                                                                        \
    QKV_ROPE(T, T, NAME, NAME, BATCH, BLOCKS)                                                                                \
    QKV_ROPE(T, fp8, NAME, fp8_##NAME, BATCH, BLOCKS)                                                                        \
    extern "C" __global__ void BOUNDS(Tile_##NAME##_b##BATCH, BLOCKS)                                                        \
        gemm_gated_##NAME##_b##BATCH(OPERANDS(T), T* hidden, int kind) {                                                     \
        RUN(Tile_##NAME##_b##BATCH, Gate<T>{hidden, panelRows, kind});                                                       \
    }

#define HEADS(T, NAME, BATCH, BLOCKS)                                                                  \
    using Head_##NAME##_b##BATCH = GemmTile<T, BATCH, 2, 1>;                                           \
    extern "C" __global__ void BOUNDS(Head_##NAME##_b##BATCH, BLOCKS) gemm_head_##NAME##_b##BATCH(     \
        OPERANDS(T), unsigned long long* best, float* logits, int vocabulary, int stride, int tiles) { \
        RUN(Head_##NAME##_b##BATCH, BestToken<128>{best, logits, vocabulary, stride, tiles});          \
    }

#define WIDE_HEAD(T, NAME)                                                                                                     \
    using WideHead_##NAME = WideHead<T>;                                                                                       \
    extern "C" __global__ void BOUNDS(WideHead_##NAME, 1)                                                                      \
        gemm_head_##NAME##_b128(OPERANDS(T), unsigned long long* best, float* logits, int vocabulary, int stride, int tiles) { \
        RUN(WideHead_##NAME, WideHead_##NAME::Output{best, logits, vocabulary, stride, tiles});                                \
    }

#define GEMM_ENTRIES(T, NAME)    \
    GEMMS(T, NAME, 8, 1, 2, 3)   \
    GEMMS(T, NAME, 16, 1, 2, 3)  \
    GEMMS(T, NAME, 32, 1, 2, 3)  \
    GEMMS(T, NAME, 64, 1, 2, 2)  \
    GEMMS(T, NAME, 128, 2, 1, 2) \
    HEADS(T, NAME, 8, 3)         \
    HEADS(T, NAME, 16, 3)        \
    HEADS(T, NAME, 32, 3)        \
    HEADS(T, NAME, 64, 3)        \
    WIDE_HEAD(T, NAME)

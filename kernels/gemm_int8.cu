// Hopper GEMMs with int8 weights, one scale per output (include/int8_weights.cuh), and bf16 activations, for blocks with RMS
// norm, RoPE and a gated MLP. Tiles are as in gemm_tile.cuh; the LM head has no tile of 128 rows.
//
// Why it is fast: a step of few rows is bound by reading weights, so half the bytes take half the time. The tensor cores multiply
// bf16; with swap-AB the weights are wgmma's 64-row operand, which may come from registers. The consumer converts them there,
// five instructions for four weights, while other warpgroups multiply.
//
// Norm weights are not folded in: the weights stay bit-identical to the CPU's. The kernel that writes the panel copy of the
// residual stream multiplies it by the next norm's weights.
//
// Launch: as gemm_entries.cuh, with weight panels of 128 k and stages of one weight panel and two activation panels.
#include "include/gemm_tile.cuh"

using namespace rose;

#define OPERANDS                                                                                                  \
    const int8_t *weights, const bf16 *activations, int rows, int panelRows, int columns, int panels, int stages, \
        const float *bias, const float *scales, const float2 *moments, int momentParts, float width, float epsilon
#define PASS \
    { weights, activations, rows, panelRows, columns, panels, stages, bias, scales, moments, momentParts, width, epsilon }

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define RUN(TILE, ...) TILE::run(PASS, __VA_ARGS__)
#define BOUNDS(TILE, BLOCKS) __launch_bounds__(TILE::THREADS, BLOCKS)
#else
#define RUN(TILE, ...)
#define BOUNDS(TILE, BLOCKS)
#endif

#define QKV_ROPE(KV, NAME, BATCH, BLOCKS)                                                                               \
    extern "C" __global__ void BOUNDS(Tile_b##BATCH, BLOCKS) gemm_qkv_rope_##NAME##_b##BATCH(                           \
        OPERANDS, bf16* queries, bf16* raw, KV* pool, const int* slots, const int* positions, const float* ropeTable,   \
        int queryWidth, int kvWidth, int headPad, int blockSize, float queryScale) {                                    \
        RUN(Tile_b##BATCH, StoreQkvRope<bf16, KV>{queries, raw, pool, slots, positions, ropeTable, queryWidth, kvWidth, \
                                                  headPad, blockSize, queryScale});                                     \
    }

#define GEMMS(BATCH, N_GROUPS, K_GROUPS, BLOCKS)                                                                               \
    using Tile_b##BATCH = GemmTile<bf16, BATCH, N_GROUPS, K_GROUPS, int8_t>;                                                   \
    QKV_ROPE(bf16, int8, BATCH, BLOCKS)                                                                                        \
    QKV_ROPE(fp8, fp8_int8, BATCH, BLOCKS)                                                                                     \
    extern "C" __global__ void BOUNDS(Tile_b##BATCH, BLOCKS) gemm_residual_int8_b##BATCH(                                      \
        OPERANDS, float* x, bf16* xPanels, float2* xMoments, int xStride, const float* normWeights) {                          \
        RUN(Tile_b##BATCH, AddResidualWeighted<bf16, 64 * N_GROUPS>{{x, xPanels, xMoments, xStride, panelRows}, normWeights}); \
    }                                                                                                                          \
    extern "C" __global__ void BOUNDS(Tile_b##BATCH, BLOCKS) gemm_gated_int8_b##BATCH(OPERANDS, bf16* hidden, int kind) {      \
        RUN(Tile_b##BATCH, Gate<bf16>{hidden, panelRows, kind});                                                               \
    }

#define HEADS(BATCH, BLOCKS)                                                                                                \
    using Head_b##BATCH = GemmTile<bf16, BATCH, 2, 1, int8_t>;                                                              \
    extern "C" __global__ void BOUNDS(Head_b##BATCH, BLOCKS)                                                                \
        gemm_head_int8_b##BATCH(OPERANDS, unsigned long long* best, float* logits, int vocabulary, int stride, int tiles) { \
        RUN(Head_b##BATCH, BestToken<128>{best, logits, vocabulary, stride, tiles});                                        \
    }

GEMMS(8, 1, 2, 3)
GEMMS(16, 1, 2, 2)
GEMMS(32, 1, 2, 2)
GEMMS(64, 1, 2, 2)
GEMMS(128, 2, 1, 1)
HEADS(8, 3)
HEADS(16, 2)
HEADS(32, 2)
HEADS(64, 2)

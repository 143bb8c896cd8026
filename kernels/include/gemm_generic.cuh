#pragma once
// The GEMM for every GPU from sm_80 on, in f16, bf16 and f32; on Hopper only f32 uses it.
//
//      out[m][n] = epilogue( Σ_k activations[m][k] · weights[n][k] + bias[n] )
//
// A block of four warps computes 64 × 64 outputs. Panels of 64 rows stream through three cp.async stages. A panel is contiguous
// and already swizzled, so a stage is a straight copy. 16-bit types use ldmatrix and mma.sync, each warp a 32 × 32 quarter. f32
// uses CUDA cores, each thread 8 × 4 outputs. Epilogues: include/epilogue.cuh.
#include "epilogue.cuh"

namespace rose {

template <class T>
struct GenericOperands {
    const T* weights;      // panels of `columns` rows
    const T* activations;  // panels of `panelRows` rows
    int rows;
    int panelRows;
    int columns;
    int panels;
    const float* bias;  // [columns]; null is zero
};

template <class T>
struct GenericTile {
    static constexpr int SIDE = 64;
    static constexpr int THREADS = 128;
    static constexpr int STAGES = 3;
    static constexpr int TILE_BYTES = SIDE * PANEL_BYTES;
    // Stages are in static shared memory, 48 KB per block: three fit.
    static_assert(STAGES * 2 * TILE_BYTES <= 48 * 1024);
    // Row stride of the accumulators in shared memory, in floats: avoids bank conflicts, keeps float4 alignment.
    static constexpr int SUM_STRIDE = SIDE + 4;

    // Accumulators: [2][4] fragments of 16 x 8 per warp, or 8 x 4 outputs per thread (f32).
    float d[32] = {};

    static __device__ __forceinline__ void load(const GenericOperands<T>& g, char* stage, int panel, int n0, int m0) {
        const char* weights =
            reinterpret_cast<const char*>(g.weights) + (static_cast<size_t>(panel) * g.columns + n0) * PANEL_BYTES;
        const char* activations =
            reinterpret_cast<const char*>(g.activations) + (static_cast<size_t>(panel) * g.panelRows + m0) * PANEL_BYTES;
        for (int byte = threadIdx.x * 16; byte < TILE_BYTES; byte += THREADS * 16) {
            copy_async16(shared_address(stage + byte), weights + byte, true);
            bool present = m0 + byte / PANEL_BYTES < g.rows;
            copy_async16(shared_address(stage + TILE_BYTES + byte), present ? activations + byte : activations, present);
        }
    }

    static __device__ __forceinline__ uint32_t chunk_address(const char* tile, int row, int chunk) {
        return shared_address(tile + row * PANEL_BYTES + (chunk ^ (row & 7)) * 16);
    }

    __device__ __forceinline__ void multiply_fragments(const char* weights, const char* activations) {
        const int lane = threadIdx.x % 32;
        const int m = threadIdx.x / 32 % 2 * 32;
        const int n = threadIdx.x / 64 * 32;
#pragma unroll
        for (int chunk = 0; chunk < 8; chunk += 2) {
            uint32_t a[2][4];
            uint32_t b[2][4];
#pragma unroll
            for (int i = 0; i < 2; i++) {
                load_matrix4(a[i], chunk_address(activations, m + 16 * i + lane % 16, chunk + lane / 16));
                load_matrix4(b[i], chunk_address(weights, n + 16 * i + lane / 16 * 8 + lane % 8, chunk + lane / 8 % 2));
            }
#pragma unroll
            for (int i = 0; i < 8; i++) {
                auto& fragment = reinterpret_cast<float(&)[4]>(d[4 * i]);
                mma_16x8x16<T>(fragment, a[i / 4], b[i % 4 / 2][i % 2 * 2], b[i % 4 / 2][i % 2 * 2 + 1]);
            }
        }
    }

    __device__ __forceinline__ void multiply_floats(const char* weights, const char* activations) {
        const int m = threadIdx.x / 16;
        const int n = threadIdx.x % 16;
        auto at = [](const char* tile, int row, int chunk) {
            return *reinterpret_cast<const float4*>(tile + row * PANEL_BYTES + (chunk ^ (row & 7)) * 16);
        };
        for (int chunk = 0; chunk < 8; chunk++) {
            float4 w[4];
#pragma unroll
            for (int j = 0; j < 4; j++) w[j] = at(weights, n + 16 * j, chunk);
#pragma unroll
            for (int i = 0; i < 8; i++) {
                float4 a = at(activations, m + 8 * i, chunk);
#pragma unroll
                for (int j = 0; j < 4; j++) {
                    float& sum = d[4 * i + j];
                    sum = fmaf(a.x, w[j].x, fmaf(a.y, w[j].y, fmaf(a.z, w[j].z, fmaf(a.w, w[j].w, sum))));
                }
            }
        }
    }

    // Stores the accumulators to shared memory by row, so that the epilogue reads four neighboring outputs at once. In f16 and
    // bf16 a lane has two neighbors in row lane / 4 of each fragment, and two in the row eight below.
    __device__ __forceinline__ void leave(float* sums) const {
        if constexpr (sizeof(T) == 4) {
#pragma unroll
            for (int i = 0; i < 32; i++) {
                sums[(threadIdx.x / 16 + i / 4 * 8) * SUM_STRIDE + threadIdx.x % 16 + i % 4 * 16] = d[i];
            }
        } else {
            const int lane = threadIdx.x % 32;
            const int m = threadIdx.x / 32 % 2 * 32 + lane / 4;
            const int n = threadIdx.x / 64 * 32 + lane % 4 * 2;
#pragma unroll
            for (int i = 0; i < 8; i++) {
                float* at = sums + (m + i / 4 * 16) * SUM_STRIDE + n + i % 4 * 8;
                *reinterpret_cast<float2*>(at) = make_float2(d[4 * i], d[4 * i + 1]);
                *reinterpret_cast<float2*>(at + 8 * SUM_STRIDE) = make_float2(d[4 * i + 2], d[4 * i + 3]);
            }
        }
    }

    template <class Epilogue>
    static __device__ __forceinline__ void run(const GenericOperands<T>& g, const Epilogue& epilogue) {
        __shared__ __align__(128) char ring[STAGES * 2 * TILE_BYTES];
        release_dependents();
        wait_for_predecessors();
        const int n0 = blockIdx.x * SIDE;
        const int m0 = blockIdx.y * SIDE;
        GenericTile tile;
        auto stage = [&](int i) { return ring + i % STAGES * 2 * TILE_BYTES; };
        for (int i = 0; i < STAGES - 1; i++) {
            if (i < g.panels) load(g, stage(i), i, n0, m0);
            copy_async_commit();
        }
        for (int i = 0; i < g.panels; i++) {
            copy_async_wait<STAGES - 2>();
            __syncthreads();
            if (i + STAGES - 1 < g.panels) load(g, stage(i + STAGES - 1), i + STAGES - 1, n0, m0);
            copy_async_commit();
            if constexpr (sizeof(T) == 4) {
                tile.multiply_floats(stage(i), stage(i) + TILE_BYTES);
            } else {
                tile.multiply_fragments(stage(i), stage(i) + TILE_BYTES);
            }
        }
        copy_async_wait<0>();
        __syncthreads();
        float* sums = reinterpret_cast<float*>(ring);
        tile.leave(sums);
        __syncthreads();
        for (int item = threadIdx.x; item < SIDE * SIDE / 4; item += THREADS) {
            int m = item / (SIDE / 4);
            int n = item % (SIDE / 4) * 4;
            if (m0 + m >= g.rows) continue;
            float4 v = *reinterpret_cast<const float4*>(sums + m * SUM_STRIDE + n);
            if (g.bias != nullptr) v = v + __ldg(reinterpret_cast<const float4*>(g.bias + n0 + n));
            typename Epilogue::Context context;
            epilogue.early(context, m0 + m, n0 + n);
            epilogue.late(context);
            epilogue.store(context, m0 + m, n0 + n, v);
        }
    }
};

}  // namespace rose

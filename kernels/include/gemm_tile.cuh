#pragma once
// The GEMM of Hopper GPUs, one templated tile for a batch of 1 row as for 4096:
//
//      out[m][n] = epilogue( Σ_k activations[m][k] · weights[n][k] + bias[n] )
//
// The operands are swapped (swap-AB): wgmma's 64-row operand is a strip of 64 *weight* rows, and the batch is the N side, which may
// be as narrow as 8. A decode step of one row thus pays for 8, not for 64. Shape parameters:
//
//      BATCH      rows of activations per tile: 8, 16, 32, 64, 128 or 256
//      N_GROUPS   warpgroups side by side along n; the tile is 64 · N_GROUPS outputs wide
//      K_GROUPS   warpgroups that take turns at the panels of k, their sums added at the end
//      cluster    blocks that share one tile and split k between them; a launch attribute (1, 2, 4 or 8), not a template
//
// One producer thread streams panels of weights and activations through a ring of stages by bulk copy; consumer warpgroups
// multiply them. Why it is fast where decode spends its time, on latency: the ring may hold a block's whole share of the weights,
// and all of it is requested before the block waits for its predecessor, so when the activations arrive the weights are there.
// Splitting k over a cluster spreads the reading of one tile over several SMs without a second kernel: each block finishes a
// share of the tile's rows and is sent the others' partial sums of them, by stores that report to its barrier.
//
// The norm can ride along (epilogue.cuh): a warp of its own turns moments into norms while the tensor cores work.
//
// Every sum has one order, fixed by (K_GROUPS, cluster size): rows do not see each other, nor BATCH.
//
// Weights of one byte (int8_weights.cuh, W = int8_t) travel as they are, 128 of k in a stage beside two panels of activations, become
// bf16 in the registers of who multiplies them, and the sums are scaled at the end. Up to 16 rows that is each warp by itself, by
// mma.sync: a product of wgmma must wait until four warps have their operands ready, and they until it is done with them.
#include "epilogue.cuh"
#include "int8_weights.cuh"
#include "wgmma.cuh"

namespace rose {

constexpr int MAX_STAGES = 16;

// Barriers among some of a block's warps, by their numbers; 0 is __syncthreads.
constexpr int RING_READ = 1;    // the consumers have read all of the ring, whose place their sums take
constexpr int NORMS_READY = 2;  // the norms of the tile's rows are in shared memory: one warp arrives, the consumers wait

template <class T, class W = T>
struct GemmOperands {
    const W* weights;      // panels of `columns` rows
    const T* activations;  // panels of `panelRows` rows
    int rows;              // of the batch
    int panelRows;         // rows the activation buffer was laid out for, a multiple of 8
    int columns;           // outputs, padded to a multiple of 128
    int panels;            // of weights, along k
    int stages;            // of the ring, at most MAX_STAGES; if a block has more panels, a multiple of K_GROUPS, twice or more
    const float* bias;     // [columns]; null is zero
    // [columns], Σ_k weights[n][k], zero for an RMS norm; null: the activations are taken as they are. With weights of one byte, which
    // know RMS norms alone, their scales.
    const float* columnTerms;
    const float2* moments;  // [momentParts][panelRows]; with weights of one byte null: the activations are taken as they are
    int momentParts;
    float width;  // of the normalised row, without padding
    float epsilon;

    static constexpr bool BYTES = sizeof(W) == 1;

    __device__ __forceinline__ bool normalises() const {
        if constexpr (BYTES) return moments != nullptr;
        else return columnTerms != nullptr;
    }
};

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

template <class T, int BATCH, int N_GROUPS, int K_GROUPS, class W = T>
struct GemmTile {
    using Operands = GemmOperands<T, W>;
    static constexpr bool BYTES = Operands::BYTES;
    static constexpr int ACTIVATION_PANELS = BYTES ? 2 : 1;  // of a stage
    static constexpr bool BY_WARP = BYTES && BATCH <= 16;
    static constexpr int BYTE_PARTS = 4;  // of a stage's weights, 32 along k each
    static constexpr int N = 64 * N_GROUPS;
    static constexpr int CONSUMERS = 128 * N_GROUPS * K_GROUPS;
    static constexpr int PRODUCER = CONSUMERS;         // a warp that starts the copies
    static constexpr int NORMALISER = CONSUMERS + 32;  // a warp that prepares the norms
    static constexpr int THREADS = CONSUMERS + 64;
    static constexpr int WEIGHT_BYTES = N * PANEL_BYTES;
    static constexpr int STAGE_BYTES = WEIGHT_BYTES + ACTIVATION_PANELS * BATCH * PANEL_BYTES;
    static constexpr int SUM_STRIDE = N + 4;  // floats; the padding avoids bank conflicts
    static constexpr int SUM_BYTES = BATCH * SUM_STRIDE * 4;
    // Finishing: a thread keeps to four columns and takes every PASS_ROWS-th row of the block's share.
    static constexpr int PASS_ROWS = CONSUMERS / (N / 4);
    static constexpr int PASSES = (BATCH + PASS_ROWS - 1) / PASS_ROWS;
    static constexpr bool KEEP_CONTEXT = PASSES <= 4;

    struct Shared {
        uint64_t full[MAX_STAGES];
        uint64_t empty[MAX_STAGES];
        uint64_t received;
        alignas(16) float bias[N];
        alignas(16) float columnTerms[N];
        RowNorm norms[BATCH];
    };

    // One thread. Weights of the first ring are under way before the wait; only then may activations be touched.
    static __device__ void produce(const Operands& g, Shared& shared, char* ring, int n0, int m0, int first, int count) {
        const int tileRows = min(BATCH, (g.rows - m0 + 7) / 8 * 8);
        const uint32_t activationBytes = tileRows * PANEL_BYTES;
        auto load_weights = [&](int i, int stage) {
            barrier_expect(&shared.full[stage], WEIGHT_BYTES + ACTIVATION_PANELS * activationBytes);
            const char* from =
                reinterpret_cast<const char*>(g.weights) + (static_cast<size_t>(first + i) * g.columns + n0) * PANEL_BYTES;
            bulk_load(ring + stage * STAGE_BYTES, from, WEIGHT_BYTES, &shared.full[stage]);
        };
        auto load_activations = [&](int i, int stage) {
#pragma unroll
            for (int part = 0; part < ACTIVATION_PANELS; part++) {
                const size_t panel = static_cast<size_t>(first + i) * ACTIVATION_PANELS + part;
                const char* from = reinterpret_cast<const char*>(g.activations) + (panel * g.panelRows + m0) * PANEL_BYTES;
                char* to = ring + stage * STAGE_BYTES + WEIGHT_BYTES + part * BATCH * PANEL_BYTES;
                bulk_load(to, from, activationBytes, &shared.full[stage]);
            }
        };
        const int ahead = min(count, g.stages);
        for (int i = 0; i < ahead; i++) load_weights(i, i);
        wait_for_predecessors();
        for (int i = 0; i < ahead; i++) load_activations(i, i);
        for (int i = ahead, stage = 0, parity = 0; i < count; i++) {
            barrier_wait(&shared.empty[stage], parity);
            load_weights(i, stage);
            load_activations(i, stage);
            if (++stage == g.stages) stage = 0, parity ^= 1;
        }
    }

    // The second of the row's two moments, which is all that an RMS norm needs.
    static __device__ __forceinline__ float sum_of_squares(const Operands& g, const float2* parts) {
        constexpr int PARTS = 32;  // in flight: few rows wait for them
        float all = 0;
        for (int first = 0; first < g.momentParts; first += PARTS) {
            float part[PARTS];
#pragma unroll
            for (int i = 0; i < PARTS; i++, parts += g.panelRows) part[i] = first + i < g.momentParts ? __ldcg(&parts->y) : 0.f;
#pragma unroll
            for (int i = 0; i < PARTS; i++) all += part[i];
        }
        return all;
    }

    // One warp, a lane to a row: adds up the parts of the row's moments.
    template <bool RMS>
    static __device__ __forceinline__ void prepare_norms(const Operands& g, RowNorm (&norms)[BATCH], int m0) {
        constexpr int PARTS = 12;  // in flight
        const float perWidth = 1.f / g.width;
        wait_for_predecessors();
        for (int row = threadIdx.x % 32; row < BATCH && m0 + row < g.rows; row += 32) {
            const float2* parts = g.moments + m0 + row;
            if constexpr (BYTES) {
                norms[row] = row_norm<RMS>(make_float2(0, sum_of_squares(g, parts)), perWidth, g.epsilon);
                continue;
            }
            float2 all = make_float2(0, 0);
            for (int first = 0; first < g.momentParts; first += PARTS) {
                float2 part[PARTS];
#pragma unroll
                for (int i = 0; i < PARTS; i++) {
                    int p = first + i;
                    part[i] = p < g.momentParts ? __ldcg(parts + static_cast<size_t>(p) * g.panelRows) : make_float2(0, 0);
                }
#pragma unroll
                for (int i = 0; i < PARTS; i++) all = make_float2(all.x + part[i].x, all.y + part[i].y);
            }
            norms[row] = row_norm<RMS>(all, perWidth, g.epsilon);
        }
    }

    // Starts the products of a stage of weights of one byte, of which `words` are this thread's, part by part: while one is made ready,
    // the one before it is multiplied.
    static __device__ __forceinline__ void multiply_bytes(float (&d)[BATCH / 2], const char* words, uint64_t activations) {
#pragma unroll
        for (int part = 0; part < BYTE_PARTS; part++) {
            const uint4 loaded = *reinterpret_cast<const uint4*>(words + part * 2048);
            wgmma_wait<1>();
            uint32_t operands[2][4];
            int8_operands(loaded, operands[0], operands[1]);
            // Arithmetic touches no memory, so it would sink below the fence.
#pragma unroll
            for (int i = 0; i < 8; i++) asm volatile("" : "+r"(operands[i / 4][i % 4])::"memory");
            wgmma_fence();
#pragma unroll
            for (int i = 0; i < 2; i++) {
                const int k = 2 * part + i;
                WgmmaFromRegisters<BATCH>::multiply(d, operands[i], activations + k / 4 * (BATCH * PANEL_BYTES / 16) + k % 4 * 2);
            }
            wgmma_commit();
        }
    }

    // The same by the warp alone; `activations` is where they lie in shared memory. All is read before the first product.
    static __device__ __forceinline__ void multiply_bytes_by_warp(float (&d)[BATCH / 2], const char* words,
                                                                  uint32_t activations) {
        const int row = threadIdx.x % 8;
        const int matrix = threadIdx.x % 32 / 8;
        uint4 loaded[BYTE_PARTS];
        uint32_t b[BYTE_PARTS][BATCH / 8][4];
#pragma unroll
        for (int part = 0; part < BYTE_PARTS; part++) {
            loaded[part] = *reinterpret_cast<const uint4*>(words + part * 2048);
#pragma unroll
            for (int j = 0; j < BATCH / 8; j++) {
                const int chunk = part % 2 * 4 + matrix;
                load_matrix4(b[part][j], activations + (part / 2 * BATCH + 8 * j + row) * PANEL_BYTES + (chunk ^ row) * 16);
            }
        }
#pragma unroll
        for (int part = 0; part < BYTE_PARTS; part++) {
            uint32_t operands[2][4];
            int8_operands(loaded[part], operands[0], operands[1]);
#pragma unroll
            for (int j = 0; j < BATCH / 8; j++) {
                float(&sums)[4] = reinterpret_cast<float(&)[4]>(d[4 * j]);
                mma_16x8x16<T>(sums, operands[0], b[part][j][0], b[part][j][1]);
                mma_16x8x16<T>(sums, operands[1], b[part][j][2], b[part][j][3]);
            }
        }
    }

    // A warpgroup multiplies the panels that are its turn, one product in flight behind the other, then leaves its sums,
    // transposed to [m][n], in its part of `sums`. A stage that is used again must come back to the same warpgroup: a wait for a
    // phase is only sound for who has seen the phase before.
    static __device__ __forceinline__ void consume(const Operands& g, Shared& shared, char* ring, float* sums, int count) {
        const int thread = threadIdx.x % 128;
        const int group = __shfl_sync(~0u, threadIdx.x / 128, 0);  // the same for the whole warp, and the compiler may know it
        const int nGroup = group % N_GROUPS;
        const int kGroup = group / N_GROUPS;
        const bool recycle = count > g.stages;
        float d[BATCH / 2];
#pragma unroll
        for (int i = 0; i < BATCH / 2; i++) d[i] = 0;

        const uint64_t weights = tile_descriptor(shared_address(ring) + nGroup * 64 * PANEL_BYTES);
        const uint64_t activations = tile_descriptor(shared_address(ring) + WEIGHT_BYTES);
        int stage = kGroup;
        int parity = 0;
        int previous = -1;
        for (int i = kGroup; i < count; i += K_GROUPS) {
            const int at = stage * (STAGE_BYTES / 16);  // descriptors count in 16 bytes
            barrier_wait(&shared.full[stage], parity);
            const char* words = ring + stage * STAGE_BYTES + nGroup * 64 * PANEL_BYTES + thread * 16;
            if constexpr (BY_WARP) {
                multiply_bytes_by_warp(d, words, shared_address(ring) + stage * STAGE_BYTES + WEIGHT_BYTES);
            } else if constexpr (BYTES) {
                multiply_bytes(d, words, activations + at);
            } else {
                wgmma_fence();
#pragma unroll
                for (int k = 0; k < PANEL_BYTES / 16; k += 2)
                    Wgmma<T, BATCH>::multiply(d, weights + at + k, activations + at + k);
                wgmma_commit();
                wgmma_wait<1>();
            }
            if (BY_WARP && recycle) {
                __syncwarp();
                if (thread % 32 == 0) barrier_arrive(&shared.empty[stage]);
            } else if (recycle) {
                if (previous >= 0 && thread % 32 == 0) barrier_arrive(&shared.empty[previous]);
                previous = stage;
            }
            stage += K_GROUPS;
            if (stage >= g.stages) stage -= g.stages, parity ^= 1;
        }
        wgmma_wait<0>();
        named_barrier(RING_READ, CONSUMERS);

        float* at =
            sums + kGroup * BATCH * SUM_STRIDE + thread % 4 * 2 * SUM_STRIDE + nGroup * 64 + thread / 32 * 16 + thread % 32 / 4;
#pragma unroll
        for (int j = 0; j < BATCH / 8; j++, at += 8 * SUM_STRIDE) {
            at[0] = d[4 * j];
            at[SUM_STRIDE] = d[4 * j + 1];
            at[8] = d[4 * j + 2];
            at[SUM_STRIDE + 8] = d[4 * j + 3];
        }
    }

    // The block's own sums of the four outputs at (m, n) of the tile: its warpgroups along k.
    static __device__ __forceinline__ float4 own_sums(const float* sums, int m, int n) {
        float4 v = *reinterpret_cast<const float4*>(sums + m * SUM_STRIDE + n);
#pragma unroll
        for (int k = 1; k < K_GROUPS; k++) { v = v + *reinterpret_cast<const float4*>(sums + (k * BATCH + m) * SUM_STRIDE + n); }
        return v;
    }

    // Sends every row's sums to the block that finishes the row, and waits for the sums of its own: received[block][row][n].
    static __device__ __forceinline__ void exchange(Shared& shared, const float* sums, const float* received, int blocks,
                                                    int rank, int tileRows, int liveRows) {
        const uint32_t barrier = shared_address(&shared.received);
        const int mine = min(max(liveRows - rank * tileRows, 0), tileRows);
        if (threadIdx.x == 0) barrier_expect(&shared.received, blocks * mine * N * 4);
        cluster_wait();  // every block is there and has set up its barrier
        for (int item = threadIdx.x; item < liveRows * N / 4; item += CONSUMERS) {
            int m = item / (N / 4);
            int n = item % (N / 4) * 4;
            int owner = m / tileRows;
            const float* to = received + (rank * tileRows + m - owner * tileRows) * N + n;
            store_peer4(peer_address(shared_address(to), owner), own_sums(sums, m, n), peer_address(barrier, owner));
        }
        barrier_wait(&shared.received, 0);
    }

    template <class Epilogue>
    static __device__ __forceinline__ void run(const Operands& g, const Epilogue& epilogue) {
        extern __shared__ char dynamic[];
        __shared__ Shared shared;
        release_dependents();
        char* ring = dynamic + (1024 - shared_address(dynamic) % 1024) % 1024;
        const int blocks = cluster_size();
        const int rank = cluster_rank();
        const int n0 = blockIdx.y * N;
        const int m0 = blockIdx.x / blocks * BATCH;  // blocks with the same weights follow each other
        const int share = (g.panels + blocks - 1) / blocks;
        const int first = rank * share;
        const int count = min(share, g.panels - first);

        if (threadIdx.x == PRODUCER) {
            for (int i = 0; i < g.stages; i++) {
                barrier_init(&shared.full[i], 1);
                barrier_init(&shared.empty[i], 4 * N_GROUPS);
            }
            barrier_init(&shared.received, 1);
            barrier_init_fence();
        }
        if (threadIdx.x < N) {
            shared.bias[threadIdx.x] = g.bias != nullptr ? g.bias[n0 + threadIdx.x] : 0.f;
            shared.columnTerms[threadIdx.x] = g.columnTerms != nullptr ? g.columnTerms[n0 + threadIdx.x] : 0.f;
        }
        __syncthreads();
        if (blocks > 1) cluster_arrive();
        if (threadIdx.x >= NORMALISER) {
            if (g.normalises()) prepare_norms<Epilogue::RMS>(g, shared.norms, m0);
            named_barrier_arrive(NORMS_READY, CONSUMERS + 32);
            return;
        }
        if (threadIdx.x >= PRODUCER) {
            if (elect_lane()) produce(g, shared, ring, n0, m0, first, count);
            return;
        }

        const int tileRows = BATCH / blocks;  // that this block finishes
        const int liveRows = min(BATCH, g.rows - m0);
        const int n = threadIdx.x % (N / 4) * 4;
        auto row_of = [&](int pass) { return threadIdx.x / (N / 4) + pass * PASS_ROWS; };
        auto live = [&](int row) { return row < tileRows && rank * tileRows + row < liveRows; };
        const int myM = m0 + rank * tileRows;
        typename Epilogue::Context context[KEEP_CONTEXT ? PASSES : 1];
        if constexpr (KEEP_CONTEXT) {
#pragma unroll
            for (int i = 0; i < PASSES; i++) {
                if (live(row_of(i))) epilogue.early(context[i], myM + row_of(i), n0 + n);
            }
        }
        wait_for_predecessors();
        if constexpr (KEEP_CONTEXT) {
#pragma unroll
            for (int i = 0; i < PASSES; i++) {
                if (live(row_of(i))) epilogue.late(context[i]);
            }
        }

        float* sums = reinterpret_cast<float*>(ring);
        const float* received = reinterpret_cast<const float*>(ring + max(g.stages * STAGE_BYTES, K_GROUPS * SUM_BYTES));
        consume(g, shared, ring, sums, count);
        named_barrier(NORMS_READY, CONSUMERS + 32);
        if (blocks > 1) exchange(shared, sums, received, blocks, rank, tileRows, liveRows);
        const float4 bias = *reinterpret_cast<const float4*>(shared.bias + n);
        const float4 columnTerms = *reinterpret_cast<const float4*>(shared.columnTerms + n);
#pragma unroll(KEEP_CONTEXT ? PASSES : 2)
        for (int i = 0; i < PASSES; i++) {
            const int row = row_of(i);
            if (!live(row)) break;
            float4 v;
            if (blocks == 1) {
                v = own_sums(sums, row, n);
            } else {
                v = *reinterpret_cast<const float4*>(received + row * N + n);
                for (int r = 1; r < blocks; r++) {
                    v = v + *reinterpret_cast<const float4*>(received + (r * tileRows + row) * N + n);
                }
            }
            if constexpr (BYTES) {
                v = scaled(v, columnTerms, INT8_UNIT * (g.normalises() ? shared.norms[rank * tileRows + row].inverse : 1.f));
            }
            if (!BYTES && g.normalises()) v = normalised(v, columnTerms, shared.norms[rank * tileRows + row]);
            if constexpr (!KEEP_CONTEXT) {
                epilogue.early(context[0], myM + row, n0 + n);
                epilogue.late(context[0]);
            }
            epilogue.store(context[KEEP_CONTEXT ? i : 0], myM + row, n0 + n, v + bias);
        }
    }
};

#endif

}  // namespace rose

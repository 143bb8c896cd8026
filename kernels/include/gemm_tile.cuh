#pragma once
// The Hopper GEMM of decode steps and short prompts: one templated tile for a batch of 1 row to several hundred.
//
//      out[m][n] = epilogue( Σ_k activations[m][k] · weights[n][k] + bias[n] )
//
// Operands are swapped (swap-AB): wgmma's 64-row operand is 64 *weight* rows, and the batch is the N side, which may be as narrow
// as 8. So a decode step of one row pays for 8 rows, not for 64. Shape parameters:
//
//      BATCH      rows of activations per tile: 8, 16, 32, 64 or 128
//      N_GROUPS   consumer warpgroups side by side along n; the tile is 64 · N_GROUPS outputs wide
//      K_GROUPS   consumer warpgroups that alternate over the k panels; their accumulators are added at the end
//      cluster    split-K: thread blocks that share one tile and split k; a launch attribute (1, 2, 4 or 8), not a template
//
// Warp-specialized: a producer thread streams weight and activation panels through a ring of stages by bulk copy; consumer
// warpgroups multiply them.
//
// Why it is fast: decode is bound by latency. The ring can hold a block's whole share of the weights, requested before the
// block waits for its predecessor. When the activations arrive, the weights are there. Split-K over a cluster spreads one
// tile's reads over several SMs without a second kernel. Each block finishes a share of the tile's rows. It receives the
// others' partial accumulators through distributed shared memory, by stores that complete on its mbarrier.
//
// The norm can be fused (epilogue.cuh): a dedicated warp computes norms from moments while the tensor cores run.
//
// Every accumulator has one order of additions, fixed by (K_GROUPS, cluster): it is independent of other rows and of BATCH.
//
// int8 weights (int8_weights.cuh, W = int8_t) stream as int8, 128 k per stage next to two activation panels. The consumer
// converts them to bf16 in registers and scales the accumulators at the end. Up to 16 rows each warp works alone with mma.sync:
// a wgmma would wait for the operands of four warps, and the warps for the wgmma.
#include "epilogue.cuh"
#include "int8_weights.cuh"
#include "wgmma.cuh"

namespace rose {

constexpr int MAX_STAGES = 16;

// Named barriers among some of a block's warps; 0 is __syncthreads.
constexpr int RING_READ = 1;    // the consumers have read the whole ring; accumulators overwrite it
constexpr int NORMS_READY = 2;  // row norms are in shared memory: one warp arrives, consumers wait

template <class T, class W = T>
struct GemmOperands {
    const W* weights;      // panels of `columns` rows
    const T* activations;  // panels of `panelRows` rows
    int rows;              // activation rows
    int panelRows;         // rows of the activation buffer's layout, a multiple of 8
    int columns;           // outputs, padded to a multiple of 128
    int panels;            // of weights, along k
    int stages;         // of the ring, at most MAX_STAGES; if a block has more panels, a multiple of K_GROUPS, at least twice it
    const float* bias;  // [columns]; null is zero
    // [columns]: Σ_k weights[n][k], zero for RMS norm; null: no fused norm. For int8 weights (RMS norm only): their scales.
    const float* columnTerms;
    const float2* moments;  // [momentParts][panelRows]; for int8 weights null: no fused norm
    int momentParts;
    float width;  // of the normalized row, unpadded
    float epsilon;

    static constexpr bool BYTES = sizeof(W) == 1;

    __device__ __forceinline__ bool fuses_norm() const {
        if constexpr (BYTES) return moments != nullptr;
        else return columnTerms != nullptr;
    }
};

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

template <class T, int BATCH, int N_GROUPS, int K_GROUPS, class W = T>
struct GemmTile {
    using Operands = GemmOperands<T, W>;
    static constexpr bool BYTES = Operands::BYTES;
    static constexpr int ACTIVATION_PANELS = BYTES ? 2 : 1;  // per stage
    static constexpr bool BY_WARP = BYTES && BATCH <= 16;
    static constexpr int BYTE_PARTS = 4;  // parts of a stage's weights, 32 k each
    static constexpr int N = 64 * N_GROUPS;
    static constexpr int CONSUMERS = 128 * N_GROUPS * K_GROUPS;
    static constexpr int PRODUCER = CONSUMERS;         // warp that issues the copies
    static constexpr int NORMALIZER = CONSUMERS + 32;  // warp that prepares the norms
    static constexpr int THREADS = CONSUMERS + 64;
    static constexpr int WEIGHT_BYTES = N * PANEL_BYTES;
    static constexpr int STAGE_BYTES = WEIGHT_BYTES + ACTIVATION_PANELS * BATCH * PANEL_BYTES;
    static constexpr int SUM_STRIDE = N + 4;  // floats; the padding avoids bank conflicts
    static constexpr int SUM_BYTES = BATCH * SUM_STRIDE * 4;
    // Epilogue: a thread handles four columns of every PASS_ROWS-th row in the block's share.
    static constexpr int PASS_ROWS = CONSUMERS / (N / 4);
    static constexpr int PASSES = (BATCH + PASS_ROWS - 1) / PASS_ROWS;
    static constexpr bool KEEP_CONTEXT = PASSES <= 4;

    struct Shared {
        uint64_t full[MAX_STAGES];
        uint64_t empty[MAX_STAGES];
        uint64_t received;
        const char* from;  // the producer's first activations
        uint32_t to;       // their place in the ring
        uint32_t last;     // barrier after the last of them
        alignas(16) float bias[N];
        alignas(16) float columnTerms[N];
        RowNorm norms[BATCH];
    };

    // Producer thread. Requests weights for the whole ring before the wait; activations only after it.
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
        const int ahead = max(min(count, g.stages), 0);  // a cluster may have more blocks than panels
        for (int i = 0; i < ahead; i++) load_weights(i, i);
        // The first addresses pass through shared memory: the compiler would compute them after the wait, when every thread waits
        // for the copies.
        shared.from = reinterpret_cast<const char*>(g.activations) +
                      (static_cast<size_t>(first) * ACTIVATION_PANELS * g.panelRows + m0) * PANEL_BYTES;
        shared.to = shared_address(ring) + WEIGHT_BYTES;
        shared.last = shared_address(shared.full + ahead);
        const size_t panelBytes = static_cast<size_t>(g.panelRows) * PANEL_BYTES;
        wait_for_predecessors();
        const char* from = *const_cast<const char* volatile*>(&shared.from);
        uint32_t to = *const_cast<volatile uint32_t*>(&shared.to);
        const uint32_t last = *const_cast<volatile uint32_t*>(&shared.last);
#pragma unroll 1
        for (uint32_t full = shared_address(shared.full); full != last; full += 8, to += STAGE_BYTES) {
#pragma unroll
            for (int part = 0; part < ACTIVATION_PANELS; part++, from += panelBytes) {
                bulk_load(to + part * BATCH * PANEL_BYTES, from, activationBytes, full);
            }
        }
        for (int i = ahead, stage = 0, parity = 0; i < count; i++) {
            barrier_wait(&shared.empty[stage], parity);
            load_weights(i, stage);
            load_activations(i, stage);
            if (++stage == g.stages) stage = 0, parity ^= 1;
        }
    }

    // Returns Σ x² of a row, all that an RMS norm needs.
    static __device__ __forceinline__ float sum_of_squares(const Operands& g, const float2* parts) {
        constexpr int PARTS = 32;  // loads in flight
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

    // One warp, a lane per row: sums the parts of the row's moments.
    template <bool RMS>
    static __device__ __forceinline__ void prepare_norms(const Operands& g, RowNorm (&norms)[BATCH], int m0) {
        constexpr int PARTS = 12;  // loads in flight
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

    // Issues the wgmmas of an int8 stage part by part; `words` are this thread's. Converts one part while the previous is
    // multiplied.
    static __device__ __forceinline__ void multiply_bytes(float (&d)[BATCH / 2], const char* words, uint64_t activations) {
#pragma unroll
        for (int part = 0; part < BYTE_PARTS; part++) {
            const uint4 loaded = *reinterpret_cast<const uint4*>(words + part * 2048);
            wgmma_wait<1>();
            uint32_t operands[2][4];
            int8_operands(loaded, operands[0], operands[1]);
            // Pins the conversions above the fence, which orders memory only.
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

    // The same by one warp with mma.sync; `activations` is their shared memory address. Reads everything before the first
    // product.
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

    // Consumer warpgroup: multiplies every K_GROUPS-th panel with one wgmma in flight, then stores its accumulators, transposed
    // to [m][n], in its part of `sums`. A reused stage must return to the same warpgroup: waiting for an mbarrier phase is only
    // sound for a waiter that saw the previous phase.
    static __device__ __forceinline__ void consume(const Operands& g, Shared& shared, char* ring, float* sums, int count) {
        const int thread = threadIdx.x % 128;
        const int group = __shfl_sync(~0u, threadIdx.x / 128, 0);  // warp-uniform, also to the compiler
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
            const int at = stage * (STAGE_BYTES / 16);  // descriptors count 16-byte units
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

    // Returns the block's accumulators of the four outputs at (m, n), summed over its K_GROUPS warpgroups.
    static __device__ __forceinline__ float4 own_sums(const float* sums, int m, int n) {
        float4 v = *reinterpret_cast<const float4*>(sums + m * SUM_STRIDE + n);
#pragma unroll
        for (int k = 1; k < K_GROUPS; k++) { v = v + *reinterpret_cast<const float4*>(sums + (k * BATCH + m) * SUM_STRIDE + n); }
        return v;
    }

    // Split-K: sends each row's accumulators to the block that finishes the row, and waits for the accumulators of this block's
    // rows: received[block][row][n]. A block finishes 2^rowBits rows.
    template <class RowOf>
    static __device__ __forceinline__ void exchange(Shared& shared, const float* sums, const float* received, int rank,
                                                    int rowBits, int liveRows, int n, const RowOf& row_of) {
        const uint32_t barrier = shared_address(&shared.received);
        const uint32_t to = shared_address(received + (rank << rowBits) * N + n);
#pragma unroll(KEEP_CONTEXT ? PASSES : 2)
        for (int i = 0; i < PASSES; i++) {
            const int m = row_of(i);
            if (m >= liveRows) break;
            const int owner = m >> rowBits;
            const int row = m - (owner << rowBits);
            store_peer4(peer_address(to + row * N * 4, owner), own_sums(sums, m, n), peer_address(barrier, owner));
        }
        barrier_wait(&shared.received, 0);
    }

    // Returns the sum of the blocks' accumulators of four outputs, `stride` floats apart.
    static __device__ __forceinline__ float4 received_sums(const float* received, int stride, int blocks) {
        constexpr int AHEAD = PASSES > 1 ? 2 : BYTES ? 4 : 8;  // loads in flight
        float4 sum = make_float4(0, 0, 0, 0);
#pragma unroll 1
        for (int first = 0; first < blocks; first += AHEAD) {
            float4 part[AHEAD];
#pragma unroll
            for (int i = 0; i < AHEAD; i++) {
                if (first + i < blocks) part[i] = *reinterpret_cast<const float4*>(received + (first + i) * stride);
            }
#pragma unroll
            for (int i = 0; i < AHEAD; i++) {
                if (first + i < blocks) sum = first + i == 0 ? part[i] : sum + part[i];
            }
        }
        return sum;
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
        const int m0 = blockIdx.x / blocks * BATCH;  // blocks with equal weights are adjacent
        const int tileRows = BATCH / blocks;  // rows that this block finishes
        const int liveRows = min(BATCH, g.rows - m0);
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
        if (blocks > 1) {
            const int mine = min(max(liveRows - rank * tileRows, 0), tileRows);
            if (threadIdx.x == 0) barrier_expect(&shared.received, blocks * mine * N * 4);
            cluster_arrive();
        }
        if (threadIdx.x >= NORMALIZER) {
            if (g.fuses_norm()) prepare_norms<Epilogue::RMS>(g, shared.norms, m0);
            named_barrier_arrive(NORMS_READY, CONSUMERS + 32);
            return;
        }
        if (threadIdx.x >= PRODUCER) {
            if (elect_lane()) produce(g, shared, ring, n0, m0, first, count);
            return;
        }

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
        if (blocks > 1) cluster_wait();  // every block has started and initialized its barrier; invalidates L1, so not later
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
        if (blocks > 1) exchange(shared, sums, received, rank, __ffs(tileRows) - 1, liveRows, n, row_of);
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
                v = received_sums(received + row * N + n, tileRows * N, blocks);
            }
            if constexpr (BYTES) {
                v = scaled(v, columnTerms, INT8_UNIT * (g.fuses_norm() ? shared.norms[rank * tileRows + row].inverse : 1.f));
            }
            if (!BYTES && g.fuses_norm()) v = normalized(v, columnTerms, shared.norms[rank * tileRows + row]);
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

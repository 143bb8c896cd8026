#pragma once
// LM head GEMM for more than 64 rows: logits[m][n] = Σ_k activations[m][k] · weights[n][k] + bias[n], and the argmax of each row
// within every 128 columns.
//
// Why it is fast: a vocabulary of 50,257 is 393 column tiles of 128. Under gemm_tile.cuh a tile is a block that fills its ring,
// multiplies, then spends a third of its time moving outputs to shared memory. Here thread blocks are persistent: block y takes
// column tiles y, y + gridDim.y, …, and the producer fetches the next tile during the argmax of the last. The *rows* are
// wgmma's 64-row operand, 64 per warpgroup, so a thread holds 32 columns of two rows. It finds their argmax in registers; four
// lanes then combine theirs.
//
// Every accumulator is one chain along k, for any number of rows.
#include "gemm_tile.cuh"

namespace rose {

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

template <class T>
struct WideHead {
    static constexpr int ROWS = 128;
    static constexpr int COLUMNS = 128;
    static constexpr int CONSUMERS = ROWS * 2;  // one warpgroup per 64 rows
    static constexpr int PRODUCER = CONSUMERS;
    static constexpr int NORMALIZER = CONSUMERS + 32;
    static constexpr int THREADS = CONSUMERS + 64;
    static constexpr int CONSUMER_WARPS = CONSUMERS / 32;
    static constexpr int WEIGHT_BYTES = COLUMNS * PANEL_BYTES;
    static constexpr int STAGE_BYTES = WEIGHT_BYTES + ROWS * PANEL_BYTES;

    // Per-column terms added to a column tile's accumulators.
    struct Terms {
        alignas(16) float bias[COLUMNS];
        alignas(16) float columnSums[COLUMNS];
    };
    struct Shared {
        uint64_t full[MAX_STAGES];
        uint64_t empty[MAX_STAGES];
        uint64_t termsFull[2];
        uint64_t termsEmpty[2];
        Terms terms[2];  // double-buffered: this column tile and the next
        RowNorm norms[ROWS];
    };

    struct Output {
        unsigned long long* best;  // [rows][strips]
        float* logits;             // [rows][stride], or null
        int vocabulary;
        int stride;
        int strips;
    };

    // Producer thread. Requests weights for the whole ring before the wait.
    static __device__ void produce(const GemmOperands<T>& g, Shared& shared, char* ring, int m0, int strips) {
        const uint32_t activationBytes = min(ROWS, (g.rows - m0 + 7) / 8 * 8) * PANEL_BYTES;
        auto load_weights = [&](int strip, int i, int stage) {
            const char* from =
                reinterpret_cast<const char*>(g.weights) + (static_cast<size_t>(i) * g.columns + strip * COLUMNS) * PANEL_BYTES;
            barrier_expect(&shared.full[stage], WEIGHT_BYTES + activationBytes);
            bulk_load(ring + stage * STAGE_BYTES, from, WEIGHT_BYTES, &shared.full[stage]);
        };
        auto load_activations = [&](int i, int stage) {
            const char* from =
                reinterpret_cast<const char*>(g.activations) + (static_cast<size_t>(i) * g.panelRows + m0) * PANEL_BYTES;
            bulk_load(ring + stage * STAGE_BYTES + WEIGHT_BYTES, from, activationBytes, &shared.full[stage]);
        };
        auto load_terms = [&](int strip, int iteration) {
            const int slot = iteration % 2;
            constexpr uint32_t BYTES = COLUMNS * 4;
            if (iteration >= 2) barrier_wait(&shared.termsEmpty[slot], (iteration / 2 - 1) % 2);
            barrier_expect(&shared.termsFull[slot], ((g.bias != nullptr) + (g.columnTerms != nullptr)) * BYTES);
            auto load = [&](float* to, const float* from) {
                if (from != nullptr) bulk_load(to, from + strip * COLUMNS, BYTES, &shared.termsFull[slot]);
            };
            load(shared.terms[slot].bias, g.bias);
            load(shared.terms[slot].columnSums, g.columnTerms);
        };
        const int first = blockIdx.y;
        const int ahead = min(g.panels, g.stages);
        for (int i = 0; i < ahead; i++) load_weights(first, i, i);
        wait_for_predecessors();
        for (int i = 0; i < ahead; i++) load_activations(i, i);
        int stage = ahead % g.stages;
        int parity = ahead == g.stages ? 0 : 1;  // of the phase to wait for; before first use, the preceding one
        for (int strip = first, iteration = 0; strip < strips; strip += gridDim.y, iteration++) {
            load_terms(strip, iteration);
            for (int i = iteration == 0 ? ahead : 0; i < g.panels; i++) {
                barrier_wait(&shared.empty[stage], parity);
                load_weights(strip, i, stage);
                load_activations(i, stage);
                if (++stage == g.stages) stage = 0, parity ^= 1;
            }
        }
    }

    // One warp, a lane per row; rows that are already normalized get the identity norm.
    static __device__ __forceinline__ void prepare_norms(const GemmOperands<T>& g, Shared& shared, int m0) {
        if (g.columnTerms != nullptr) return GemmTile<T, ROWS, 2, 1>::template prepare_norms<false>(g, shared.norms, m0);
        for (int row = threadIdx.x % 32; row < ROWS; row += 32) shared.norms[row] = {0, 1};
    }

    // Argmax over a thread's columns of one row.
    struct Best {
        float logit = __int_as_float(0xff800000);
        int token = -1;
        bool bad = false;  // saw NaN or +∞

        __device__ __forceinline__ void take(float v, int n) {
            bad |= !(v < __int_as_float(0x7f800000));
            if (v > logit) logit = v, token = n;
        }
        __device__ __forceinline__ unsigned long long key(int vocabulary) const {
            if (bad) return ranked_token(NOT_A_LOGIT, 0);
            return ranked_token(token < 0 ? NO_LOGIT : logit_rank(logit, token, vocabulary), token);
        }
    };

    // Turns accumulators into logits and their argmax, for rows m and m + 8. Only the last column tile is PADDED.
    template <bool PADDED>
    static __device__ __forceinline__ void finish(const float (&d)[COLUMNS / 2], const Terms& terms, const RowNorm (&norm)[2],
                                                  const Output& out, int rows, int m, int strip) {
        const int lane = threadIdx.x % 32;
        Best best[2];
#pragma unroll
        for (int j = 0; j < COLUMNS / 8; j++) {
            const int n = 8 * j + lane % 4 * 2;
            const int token = strip * COLUMNS + n;
            const float2 bias = *reinterpret_cast<const float2*>(terms.bias + n);
            const float2 sums = *reinterpret_cast<const float2*>(terms.columnSums + n);
#pragma unroll
            for (int r = 0; r < 2; r++) {
                const float x = fmaf(-norm[r].mean, sums.x, d[4 * j + 2 * r]) * norm[r].inverse + bias.x;
                const float y = fmaf(-norm[r].mean, sums.y, d[4 * j + 2 * r + 1]) * norm[r].inverse + bias.y;
                if (out.logits != nullptr && m + 8 * r < rows) {
                    float* to = out.logits + static_cast<size_t>(m + 8 * r) * out.stride + token;
                    *reinterpret_cast<float2*>(to) = make_float2(x, y);
                }
                if (!PADDED || token < out.vocabulary) best[r].take(x, token);
                if (!PADDED || token + 1 < out.vocabulary) best[r].take(y, token + 1);
            }
        }
#pragma unroll
        for (int r = 0; r < 2; r++) {
            unsigned long long key = best[r].key(out.vocabulary);
            key = max(key, __shfl_xor_sync(~0u, key, 1));
            key = max(key, __shfl_xor_sync(~0u, key, 2));
            if (lane % 4 == 0 && m + 8 * r < rows) out.best[static_cast<size_t>(m + 8 * r) * out.strips + strip] = key;
        }
    }

    static __device__ __forceinline__ void consume(const GemmOperands<T>& g, Shared& shared, char* ring, int m0,
                                                   const Output& out) {
        const int warp = __shfl_sync(~0u, threadIdx.x / 32, 0);
        const int lane = threadIdx.x % 32;
        const int row = warp * 16 + lane / 4;
        const uint64_t weights = tile_descriptor(shared_address(ring));
        const uint64_t activations = tile_descriptor(shared_address(ring) + WEIGHT_BYTES + warp / 4 * 64 * PANEL_BYTES);
        named_barrier(NORMS_READY, CONSUMERS + 32);
        const RowNorm norm[2] = {shared.norms[row], shared.norms[row + 8]};
        int stage = 0;
        int parity = 0;
        for (int strip = blockIdx.y, iteration = 0; strip < out.strips; strip += gridDim.y, iteration++) {
            float d[COLUMNS / 2];
#pragma unroll
            for (int i = 0; i < COLUMNS / 2; i++) d[i] = 0;
            int previous = -1;
            for (int i = 0; i < g.panels; i++) {
                const int at = stage * (STAGE_BYTES / 16);  // descriptors count 16-byte units
                barrier_wait(&shared.full[stage], parity);
                wgmma_fence();
#pragma unroll
                for (int k = 0; k < PANEL_BYTES / 16; k += 2) {
                    Wgmma<T, COLUMNS>::multiply(d, activations + at + k, weights + at + k);
                }
                wgmma_commit();
                wgmma_wait<1>();
                if (previous >= 0 && lane == 0) barrier_arrive(&shared.empty[previous]);
                previous = stage;
                if (++stage == g.stages) stage = 0, parity ^= 1;
            }
            wgmma_wait_for(d);
            if (lane == 0) barrier_arrive(&shared.empty[previous]);
            barrier_wait(&shared.termsFull[iteration % 2], iteration / 2 % 2);
            const Terms& terms = shared.terms[iteration % 2];
            if ((strip + 1) * COLUMNS <= out.vocabulary) finish<false>(d, terms, norm, out, g.rows, m0 + row, strip);
            else finish<true>(d, terms, norm, out, g.rows, m0 + row, strip);
            __syncwarp();
            if (lane == 0) barrier_arrive(&shared.termsEmpty[iteration % 2]);
        }
    }

    static __device__ __forceinline__ void run(const GemmOperands<T>& g, const Output& out) {
        extern __shared__ char dynamic[];
        __shared__ Shared shared;
        release_dependents();
        char* ring = dynamic + (1024 - shared_address(dynamic) % 1024) % 1024;
        const int m0 = blockIdx.x * ROWS;
        if (threadIdx.x == PRODUCER) {
            for (int i = 0; i < g.stages; i++) {
                barrier_init(&shared.full[i], 1);
                barrier_init(&shared.empty[i], CONSUMER_WARPS);
            }
            for (int i = 0; i < 2; i++) {
                barrier_init(&shared.termsFull[i], 1);
                barrier_init(&shared.termsEmpty[i], CONSUMER_WARPS);
            }
            barrier_init_fence();
        }
        for (int i = threadIdx.x; i < 2 * COLUMNS; i += THREADS) {  // bytes that no copy fills
            Terms& terms = shared.terms[i / COLUMNS];
            if (g.bias == nullptr) terms.bias[i % COLUMNS] = 0;
            if (g.columnTerms == nullptr) terms.columnSums[i % COLUMNS] = 0;
        }
        __syncthreads();
        if (threadIdx.x >= NORMALIZER) {
            wait_for_predecessors();
            prepare_norms(g, shared, m0);
            named_barrier_arrive(NORMS_READY, CONSUMERS + 32);
        } else if (threadIdx.x >= PRODUCER) {
            if (elect_lane()) produce(g, shared, ring, m0, out.strips);
        } else {
            wait_for_predecessors();
            consume(g, shared, ring, m0, out);
        }
    }
};

#endif

}  // namespace rose

#pragma once
// The Hopper GEMM of prompts: tiles of 128 rows for steps of hundreds of tokens.
//
//      out[m][n] = epilogue( Σ_k activations[m][k] · weights[n][k] + bias[n] )
//
// A block has three warpgroups. Two multiply by wgmma, activations as its first operand, and end their tiles straight from the
// accumulators (prompt_epilogue.cuh). The third has few registers: a producer thread streams stages of one activation and one
// weight panel through a ring by bulk copies, and three assistant warps prepare each tile's norms, bias and column sums in shared
// memory. The grid is persistent: producer and assistants run ahead into the block's next tile.
//
// Each of the two has 64 rows of a tile of 128 x N. With SPLIT 2 a pair of blocks shares a tile, each with half of k, and each
// finishes half of the columns with the other's accumulators. With PAIR 2 a pair has neighboring row tiles: each block fetches half
// of a weight panel for both, and a stage is free when both have read it.
//
// Why it is fast: no accumulator passes through shared memory. Neither the next tile's first fill of the ring nor its norms wait
// for a tile's end. A tile of 128 x 256 reads the least shared memory per product.
//
// Every accumulator is one sum over ascending k, or two with SPLIT 2. So a row's bits depend on SPLIT alone.
#include "prompt_epilogue.cuh"
#include "wgmma.cuh"

namespace rose {

template <class T>
struct PromptOperands {
    const T* weights;      // panels of `columns` rows
    const T* activations;  // panels of `panelRows` rows
    int rows;
    int panelRows;
    int columns;              // outputs, a multiple of 128
    int panels;               // along k
    const float* bias;        // [columns]; null is zero
    const float* columnSums;  // as in GemmOperands; null: no fused norm
    const float2* moments;    // [momentParts][panelRows]
    int momentParts;
    float width;
    float epsilon;
};

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

constexpr int PROMPT_ROWS = 128;
constexpr int PROMPT_THREADS = 384;
constexpr int PROMPT_GROUP = 16;  // row tiles that run next to each other over the columns, so that L2 serves their weights
constexpr int PRODUCER_REGISTERS = 40;
constexpr int CONSUMER_REGISTERS = 232;
constexpr int ASSISTANTS = 96;
constexpr int LOAD_AHEAD = 4;  // steps before the end of a tile at which the epilogue's first loads start

// The base of prompt tiles: ring, producer, assistants, and the end of a tile. FINISHED: columns of a tile that a block ends.
template <class T, int N, int STAGES, int SPLIT, int PAIR, class Epilogue>
struct PromptTile {
    using Operands = PromptOperands<T>;
    static constexpr int A_BYTES = PROMPT_ROWS * PANEL_BYTES;
    static constexpr int STAGE_BYTES = A_BYTES + N * PANEL_BYTES;
    static constexpr int FINISHED = N / SPLIT;

    // A tile's terms. Two tiles alternate.
    struct Terms {
        alignas(16) float bias[FINISHED];
        alignas(16) float columnSums[Epilogue::NORM && !Epilogue::RMS ? FINISHED : 4];
        alignas(16) float headWeights[Epilogue::QK_NORM ? FINISHED : 4];
        RowNorm norms[Epilogue::NORM ? PROMPT_ROWS : 1];
    };
    struct Shared {
        uint64_t full[STAGES];
        uint64_t empty[STAGES];
        uint64_t termsFull[2];
        uint64_t termsEmpty[2];
        uint64_t received;
        Terms terms[2];
    };

    struct Place {
        int m0;
        int n0;
    };
    static __device__ __forceinline__ int row_tiles(const Operands& g) {  // of a pair, with PAIR 2
        return (g.rows + PAIR * PROMPT_ROWS - 1) / (PAIR * PROMPT_ROWS);
    }
    static __device__ __forceinline__ int tiles(const Operands& g) { return row_tiles(g) * ((g.columns + N - 1) / N); }
    // The tile of a block, or of the block `rank` of a pair. The last row tile of a pair may be past the rows.
    static __device__ __forceinline__ Place place_of(const Operands& g, int tile, int rank) {
        constexpr int GROUP = PROMPT_GROUP / PAIR;
        const int rowTiles = row_tiles(g);
        const int perGroup = GROUP * ((g.columns + N - 1) / N);
        const int group = tile / perGroup;
        const int within = tile - group * perGroup;
        const int height = min(GROUP, rowTiles - group * GROUP);
        const int n = within / height;
        const int m = group * GROUP + within - n * height;
        return {(PAIR == 2 ? 2 * m + rank : m) * PROMPT_ROWS, n * N};
    }
    static __device__ __forceinline__ bool has_terms(const Operands& g) {
        return Epilogue::QK_NORM || g.bias != nullptr || g.columnSums != nullptr;
    }

    static __device__ __forceinline__ void initialize(Shared& shared) {
        constexpr int CONSUMERS = 8;  // warps
        if (threadIdx.x == 0) {
            for (int i = 0; i < STAGES; i++) {
                barrier_init(&shared.full[i], 1);
                barrier_init(&shared.empty[i], CONSUMERS * PAIR);
            }
            for (int i = 0; i < 2; i++) {
                barrier_init(&shared.termsFull[i], ASSISTANTS / 32);
                barrier_init(&shared.termsEmpty[i], CONSUMERS);
            }
            barrier_init(&shared.received, 1);
            barrier_init_fence();
            if constexpr (SPLIT == 2) barrier_expect(&shared.received, N * 256);
        }
        __syncthreads();
    }

    // Producer thread. Requests the weights of the first ring before the wait.
    static __device__ __forceinline__ void produce(const Operands& g, Shared& shared, char* ring, int first, int stride,
                                                   int kBegin, int count, int rank) {
        const size_t aPanel = static_cast<size_t>(g.panelRows) * PANEL_BYTES;
        const size_t bPanel = static_cast<size_t>(g.columns) * PANEL_BYTES;
        const int end = tiles(g);
        RingPosition<STAGES> at;
        bool fresh = true;
        for (int tile = first; tile < end; tile += stride) {
            const Place place = place_of(g, tile, rank);
            const uint32_t aBytes = max(min(PROMPT_ROWS, (g.rows - place.m0 + 7) / 8 * 8), 0) * PANEL_BYTES;
            const uint32_t bBytes = min(N, g.columns - place.n0) * PANEL_BYTES;
            const size_t aFirst = kBegin * aPanel + static_cast<size_t>(place.m0) * PANEL_BYTES;
            const size_t bFirst = kBegin * bPanel + static_cast<size_t>(place.n0) * PANEL_BYTES;
            const char* a = reinterpret_cast<const char*>(g.activations) + aFirst;
            const char* b = reinterpret_cast<const char*>(g.weights) + bFirst;
            auto load_a = [&](int k, int s) {
                if (PAIR == 1 || aBytes > 0) bulk_load(ring + s * STAGE_BYTES, a + k * aPanel, aBytes, &shared.full[s]);
            };
            auto load_b = [&](int k, int s) {
                barrier_expect(&shared.full[s], aBytes + bBytes);
                char* const to = ring + s * STAGE_BYTES + A_BYTES;
                if constexpr (PAIR == 1) {
                    bulk_load(to, b + k * bPanel, bBytes, &shared.full[s]);
                } else {
                    const uint32_t half = bBytes / 2;
                    bulk_load_pair(to + rank * half, b + k * bPanel + rank * half, half, &shared.full[s]);
                }
            };
            int k = 0;
            if (fresh) {
                fresh = false;
                k = min(count, STAGES);
                for (int i = 0; i < k; i++) load_b(i, i);
                wait_for_predecessors();
                for (int i = 0; i < k; i++) load_a(i, i);
                at.advance(k);
            }
            for (; k < count; k++) {
                barrier_wait(&shared.empty[at.index], at.parity ^ 1);
                load_b(k, at.index);
                load_a(k, at.index);
                at.advance();
            }
        }
        // Stays until the other block has released every stage: it arrives here.
        for (int i = 0; i < STAGES && PAIR == 2; i++) {
            barrier_wait(&shared.empty[at.index], at.parity ^ 1);
            at.advance();
        }
    }

    // Assistant warps: write the terms of each tile.
    static __device__ __forceinline__ void assist(const Operands& g, const Epilogue& epilogue, Shared& shared, int first,
                                                  int stride, int rank) {
        constexpr int PARTS = 6;  // loads in flight
        const int thread = threadIdx.x - (PROMPT_THREADS - ASSISTANTS);
        const float perWidth = 1.f / g.width;
        const int end = tiles(g);
        wait_for_predecessors();
        int index = 0;
        for (int tile = first; tile < end; tile += stride, index++) {
            Terms& terms = shared.terms[index & 1];
            const Place place = place_of(g, tile, rank);
            barrier_wait(&shared.termsEmpty[index & 1], (index >> 1 & 1) ^ 1);
            for (int i = thread; i < FINISHED; i += ASSISTANTS) {
                const int n = place.n0 + (SPLIT == 2 ? rank * FINISHED : 0) + i;
                terms.bias[i] = g.bias != nullptr && n < g.columns ? __ldg(g.bias + n) : 0.f;
                if constexpr (Epilogue::NORM && !Epilogue::RMS) {
                    terms.columnSums[i] = g.columnSums != nullptr && n < g.columns ? __ldg(g.columnSums + n) : 0.f;
                }
                if constexpr (Epilogue::QK_NORM) terms.headWeights[i] = epilogue.head_weight(n);
            }
            if constexpr (Epilogue::NORM) {
                for (int row = thread; row < PROMPT_ROWS && g.columnSums != nullptr; row += ASSISTANTS) {
                    if (place.m0 + row >= g.rows) break;
                    const float2* parts = g.moments + place.m0 + row;
                    float2 all = make_float2(0, 0);
                    for (int p = 0; p < g.momentParts; p += PARTS) {
                        float2 part[PARTS];
#pragma unroll
                        for (int i = 0; i < PARTS; i++) {
                            const float2* from = parts + static_cast<size_t>(p + i) * g.panelRows;
                            part[i] = make_float2(0, 0);
                            if (p + i < g.momentParts) {
                                if constexpr (Epilogue::RMS) part[i].y = __ldcg(&from->y);
                                else part[i] = __ldcg(from);
                            }
                        }
#pragma unroll
                        for (int i = 0; i < PARTS; i++) all = make_float2(all.x + part[i].x, all.y + part[i].y);
                    }
                    terms.norms[row] = row_norm<Epilogue::RMS>(all, perWidth, g.epsilon);
                }
            }
            __syncwarp();
            if (thread % 32 == 0) barrier_arrive(&shared.termsFull[index & 1]);
        }
    }

    // The end of 64 rows by 64 · CHUNKS columns of a warpgroup. The Contexts of EARLY chunks are loaded before the accumulators
    // are complete, of two from then on. Stores that load nothing are a loop, which moves each chunk to the first registers: in a
    // step the instruction cache holds none of a kernel, and reading unrolled code takes longer than the moves.
    template <int CHUNKS, int EARLY>
    struct Finish {
        typename Epilogue::RowContext rows;
        typename Epilogue::Context context[CHUNKS < 2 ? 1 : 2];

        __device__ __forceinline__ void prepare(const Epilogue& e, int m, int n, Bounds bounds) {
#pragma unroll
            for (int c = 0; c < EARLY; c++) e.load(context[c], rows, m, n + 64 * c, bounds);
        }
        // `terms` is null without bias and norm; `row` is m within the tile.
        __device__ __forceinline__ void store(const Epilogue& e, const Operands& g, const Terms* terms, float* d, int row,
                                              int m, int n, Bounds bounds) {
#pragma unroll
            for (int c = EARLY; c < CHUNKS && c < 2; c++) e.load(context[c], rows, m, n + 64 * c, bounds);
            if constexpr (Epilogue::QK_NORM) {  // over heads of up to two chunks
#pragma unroll
                for (int c = 0; c < CHUNKS; c++) add_terms(g, *terms, chunk(d, c), row, 64 * c);
                e.template normalize<CHUNKS>(d, terms->headWeights, n);
            }
            if constexpr (Epilogue::ROTATES) {
#pragma unroll
                for (int c = 0; c < CHUNKS; c++) {
                    if (!Epilogue::QK_NORM && terms != nullptr) add_terms(g, *terms, chunk(d, c), row, 64 * c);
                    e.rotate(context[c % 2], chunk(d, c), n + 64 * c);
                    if (c + 2 < CHUNKS && !e.repeats()) e.load(context[c % 2], rows, m, n + 64 * (c + 2), bounds);
                }
            }
            if constexpr (Epilogue::LOADS) {
#pragma unroll
                for (int c = 0; c < CHUNKS; c++) {
                    if (terms != nullptr) add_terms(g, *terms, chunk(d, c), row, 64 * c);
                    e.store(context[c % 2], rows, chunk(d, c), m, n + 64 * c, bounds);
                    if (c + 2 < CHUNKS) e.load(context[c % 2], rows, m, n + 64 * (c + 2), bounds);
                }
            } else {
#pragma unroll 1
                for (int c = 0; c < CHUNKS; c++) {
                    if (!Epilogue::ROTATES && terms != nullptr) add_terms(g, *terms, chunk(d, 0), row, 64 * c);
                    e.store(context[0], rows, chunk(d, 0), m, n + 64 * c, bounds);
#pragma unroll
                    for (int i = 0; i < 32 * (CHUNKS - 1); i++) d[i] = d[i + 32];
                }
            }
        }
    };

    static __device__ __forceinline__ float (&chunk(float* d, int c))[32] { return reinterpret_cast<float(&)[32]>(d[32 * c]); }

    static __device__ __forceinline__ void add_terms(const Operands& g, const Terms& terms, float (&v)[32], int row,
                                                     int column) {
        if constexpr (Epilogue::NORM) {
            if (g.columnSums != nullptr) {
#pragma unroll
                for (int h = 0; h < 2; h++) {
                    const RowNorm norm = terms.norms[row + 8 * h];
#pragma unroll
                    for (int j = 0; j < 8; j++) {
                        float &a = v[4 * j + 2 * h], &b = v[4 * j + 2 * h + 1];
                        if constexpr (!Epilogue::RMS) {
                            const float2 sums =
                                *reinterpret_cast<const float2*>(&terms.columnSums[column + 8 * j + threadIdx.x % 4 * 2]);
                            a = fmaf(-norm.mean, sums.x, a), b = fmaf(-norm.mean, sums.y, b);
                        }
                        a *= norm.inverse, b *= norm.inverse;
                    }
                }
            }
        }
        if (g.bias == nullptr) return;
#pragma unroll
        for (int j = 0; j < 8; j++) {
            const float2 bias = *reinterpret_cast<const float2*>(&terms.bias[column + 8 * j + threadIdx.x % 4 * 2]);
#pragma unroll
            for (int h = 0; h < 2; h++) v[4 * j + 2 * h] += bias.x, v[4 * j + 2 * h + 1] += bias.y;
        }
    }
};

template <class T, int N, int STAGES, int SPLIT, int PAIR = 1>
struct Cooperative {
    static_assert(SPLIT == 1 || PAIR == 1, "one use of a cluster");
    static constexpr int BLOCKS = SPLIT * PAIR;  // of a cluster
    template <class Epilogue>
    using Tile = PromptTile<T, N, STAGES, SPLIT, PAIR, Epilogue>;
    static constexpr int RING_BYTES = STAGES * (PROMPT_ROWS + N) * PANEL_BYTES;

    template <class Epilogue>
    static __device__ __forceinline__ void run(const PromptOperands<T>& g, const Epilogue& epilogue) {
        using Base = Tile<Epilogue>;
        extern __shared__ char dynamic[];
        __shared__ typename Base::Shared shared;
        release_dependents();
        char* ring = dynamic + (1024 - shared_address(dynamic) % 1024) % 1024;
        const int rank = BLOCKS == 2 ? cluster_rank() : 0;
        const int group = __shfl_sync(~0u, threadIdx.x / 128, 0);
        Base::initialize(shared);
        if constexpr (BLOCKS == 2) {
            cluster_arrive();
            cluster_wait();
        }
        const int first = blockIdx.x / BLOCKS;
        const int stride = gridDim.x / BLOCKS;
        const int share = (g.panels + SPLIT - 1) / SPLIT;
        const int kBegin = SPLIT == 2 ? rank * share : 0;
        const int count = min(share, g.panels - kBegin);
        if (group == 2) {
            give_registers<PRODUCER_REGISTERS>();
            if (threadIdx.x >= PROMPT_THREADS - ASSISTANTS) {
                if (Base::has_terms(g)) Base::assist(g, epilogue, shared, first, stride, rank);
            } else if (elect_lane()) {
                Base::produce(g, shared, ring, first, stride, kBegin, count, rank);
            }
        } else {
            take_registers<CONSUMER_REGISTERS>();
            consume<Epilogue>(g, epilogue, shared, ring, rank, group, first, stride, count);
        }
    }

    template <class Epilogue>
    static __device__ __forceinline__ void consume(const PromptOperands<T>& g, const Epilogue& epilogue,
                                                   typename Tile<Epilogue>::Shared& shared, char* ring, int rank, int group,
                                                   int first, int stride, int count) {
        using Base = Tile<Epilogue>;
        constexpr int FINISHED = Base::FINISHED;
        const int thread = threadIdx.x % 128;
        const int lane = threadIdx.x % 32;
        const int end = Base::tiles(g);
        const Bounds bounds{g.rows, g.columns};
        const uint64_t a = tile_descriptor(shared_address(ring) + group * 64 * PANEL_BYTES);
        const uint64_t b = tile_descriptor(shared_address(ring) + Base::A_BYTES);
        const bool terms = Base::has_terms(g);
        const uint32_t emptyOfPeer = PAIR == 2 ? peer_address(shared_address(shared.empty), rank ^ 1) : 0;
        auto release = [&](int stage) {
            if (lane == 0) barrier_arrive(&shared.empty[stage]);
            if (PAIR == 2 && lane == 1) barrier_arrive_peer(emptyOfPeer + 8 * stage);
        };

        float d[N / 2];
#pragma unroll
        for (int i = 0; i < N / 2; i++) d[i] = 0;
        RingPosition<STAGES> at;
        wait_for_predecessors();
        int index = 0;
        for (int tile = first; tile < end; tile += stride, index++) {
            const typename Base::Place place = Base::place_of(g, tile, rank);
            const int row = group * 64 + thread / 32 * 16 + lane / 4;
            const int m = place.m0 + row;
            const int n = place.n0 + (SPLIT == 2 ? rank * FINISHED : 0);
            typename Base::template Finish<FINISHED / 64, N == 128 && SPLIT == 1 ? 2 : 1> finish;
            epilogue.rows(finish.rows, m, bounds);
            int previous = 0;
            auto step = [&](int k) {
                const int offset = at.index * (Base::STAGE_BYTES / 16);
                barrier_wait(&shared.full[at.index], at.parity);
                wgmma_fence();
#pragma unroll
                for (int i = 0; i < 4; i++) {
                    Wgmma<T, N>::multiply(d, a + offset + 2 * i, b + offset + 2 * i, i > 0 || k > 0);
                }
                wgmma_commit();
                wgmma_wait<1>();
                if (k > 0) release(previous);
                previous = at.index;
                at.advance();
            };
            const int ahead = max(count - LOAD_AHEAD, 0);
            for (int k = 0; k < ahead; k++) step(k);
            finish.prepare(epilogue, m, n, bounds);
            for (int k = ahead; k < count; k++) step(k);
            wgmma_wait_for(d);
            release(previous);
            if (terms) barrier_wait(&shared.termsFull[index & 1], index >> 1 & 1);
            const typename Base::Terms* own = terms ? &shared.terms[index & 1] : nullptr;
            if constexpr (SPLIT == 1) {
                finish.store(epilogue, g, own, d, row, m, n, bounds);
            } else {
                // Sends the peer the accumulators of its columns, receives this block's.
                constexpr int HALF = N / 4;
                char* buffer = ring + RING_BYTES;
                const uint32_t slot = shared_address(buffer) + threadIdx.x * 16;
                const uint32_t to = peer_address(slot, rank ^ 1);
                const uint32_t received = peer_address(shared_address(&shared.received), rank ^ 1);
                float mine[HALF];
#pragma unroll
                for (int i = 0; i < HALF; i += 4) {
                    float v[4];
#pragma unroll
                    for (int j = 0; j < 4; j++) {
                        v[j] = rank == 0 ? d[HALF + i + j] : d[i + j];
                        mine[i + j] = rank == 0 ? d[i + j] : d[HALF + i + j];
                    }
                    store_peer4(to + i / 4 * (256 * 16), make_float4(v[0], v[1], v[2], v[3]), received);
                }
                barrier_wait(&shared.received, 0);
#pragma unroll
                for (int i = 0; i < HALF; i += 4) {
                    const float4 v = *reinterpret_cast<const float4*>(buffer + threadIdx.x * 16 + i / 4 * (256 * 16));
                    mine[i] += v.x, mine[i + 1] += v.y, mine[i + 2] += v.z, mine[i + 3] += v.w;
                }
                finish.store(epilogue, g, own, mine, row, m, n, bounds);
            }
            if (SPLIT == 2) break;  // a cluster has one tile; d need not stay
            __syncwarp();  // every lane has read the terms
            if (terms && lane == 0) barrier_arrive(&shared.termsEmpty[index & 1]);
        }
    }
};

#endif

}  // namespace rose

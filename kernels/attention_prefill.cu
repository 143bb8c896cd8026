// Prefill attention: rows of many tokens, causal, over paged K and V; head size 64, MHA, any block size, f16 and bf16.
//
// One thread block per (64 queries of one row, head), four warps of 16 queries. K and V stream 64 tokens at a time through
// three cp.async stages in swizzled shared memory. Both products use mma.sync with the online softmax in registers, so scores
// never leave the warp. The next tile's QK overlaps this tile's softmax. Key tiles start at multiples of 64 and are visited in
// order. So a query's result is independent of its tile's other queries, of chunking and of the batch.
//
// Masked keys have weight 0, and 0 · ∞ is NaN. So a warp with non-finite accumulators recomputes its queries key by key: a
// query never sees a value after it. Only damaged or overflowing weights produce such accumulators.
//
// Rows differ in length, so a block finds its own row (prefill_tiles.cuh). Blocks past the last tile exit at once.
//
// Launch: grid (heads, ⌊tokens / 64⌋ + rows), block 128. With `skipDecodeRows`, attention_prefill leaves rows of one token to a decode
// kernel.
//
// attention_prefill_gqa adds GQA, sliding windows, head size 128 and fp8 K and V. Each query head reads its KV head separately,
// mostly from L2.
//
// Launch: grid (heads, ⌊tokens / 64⌋ + rows), block 128, dynamic shared memory 3 · 128 · head size · sizeof(KV) + 256 bytes.
//
// attention_decode_invariant is for rows of one token, block size 16. It is bit-identical to attention_prefill: the same
// mma.sync products in the same order, split over the warps. Each warp takes 16 keys of a tile's scores and 16 dimensions of
// its values; all warps keep identical softmax state. As in attention_decode, the past is requested before the wait, into a
// ring of `stages` KV blocks.
//
// Launch: grid (heads, rows), block 128, dynamic shared memory stages · 4096 bytes, stages 8 to 32. Other rows are skipped.
#include "include/attend_token.cuh"
#include "include/kv_fragments.cuh"
#include "include/prefill_tiles.cuh"

using namespace rose;

constexpr int THREADS = 128;
constexpr int TILE = 64;
constexpr int STAGES = 3;

// Layout of a tile of 64 keys or values in shared memory; a tile is aligned to a row's bytes.
template <class KV, int HEAD>
struct TileLayout : KvRow<KV, HEAD> {
    static constexpr int TILE_BYTES = TILE * KvRow<KV, HEAD>::BYTES;
    static constexpr int PASS_ROWS = THREADS / KvRow<KV, HEAD>::CHUNKS;  // rows per pass of the block, 16 bytes per thread
    static constexpr int PASSES = TILE / PASS_ROWS;
};

// Byte offsets of a lane's rows in a stage: of the first 16 keys and the first 16 values.
template <class KV, int HEAD>
struct TileOffsets {
    int key, value;

    explicit __device__ __forceinline__ TileOffsets(int lane)
        : key(KvRow<KV, HEAD>::key_at(0, lane)), value(TileLayout<KV, HEAD>::TILE_BYTES + KvRow<KV, HEAD>::value_at(0, lane)) {}
};

// BLOCK: KV block size if known at compile time, else 0.
template <class T, class KV, int HEAD, int BLOCK>
struct PrefillAttention {
    using Layout = TileLayout<KV, HEAD>;
    using Fragments = KvFragments<KV, HEAD>;
    using M = typename Fragments::M;
    const PagedAttention<T, KV>& p;
    const int* list;
    int kvHead;
    int context;  // tokens of the row; keys end here

    // Block ids of a tile, if the block size is known; fetched one tile ahead of the copies.
    struct Blocks {
        int ids[TILE / 16];
    };

    __device__ __forceinline__ Blocks blocks_of(int firstKey) const {
        Blocks blocks = {};
        if constexpr (BLOCK == 16) {
#pragma unroll
            for (int i = 0; i < TILE / 16; i++) {
                blocks.ids[i] = __ldg(list + (firstKey + 16 * i < context ? firstKey / 16 + i : 0));
            }
        }
        return blocks;
    }

    // Copies K and V of one tile; slots past the context arrive as zeros, regardless of their contents.
    __device__ __forceinline__ void load(uint32_t stage, int firstKey, const Blocks& blocks) const {
        const int chunk = threadIdx.x % Layout::CHUNKS;
        const int first = threadIdx.x / Layout::CHUNKS;
        const uint32_t to = stage + Layout::offset(first, chunk);
#pragma unroll
        for (int i = 0; i < Layout::PASSES; i++) {
            const int row = i * Layout::PASS_ROWS;  // plus the thread's own offset
            const int token = firstKey + first + row;
            const bool present = token < context;
            const KV* key;
            if constexpr (BLOCK == 16) {
                int id = blocks.ids[row / 16];
                if constexpr (Layout::PASS_ROWS > 16) id = first < 16 ? id : blocks.ids[row / 16 + 1];
                const int slot = first % 16 + row % 16;
                key = p.pool + ((static_cast<size_t>(id) * p.kvHeads + kvHead) * 2 * BLOCK + slot) * HEAD;
            } else {
                key = p.key(list, present ? token : 0, kvHead);
            }
            const KV* piece = key + chunk * (16 / sizeof(KV));
            copy_async16(to + row * Layout::BYTES, piece, present);
            copy_async16(to + row * Layout::BYTES + Layout::TILE_BYTES, piece + p.valueOffset(), present);
        }
    }

    // Scores of this warp's 16 queries against 64 keys: score[4j …] are keys 8j + 2·(lane % 4) + {0, 1} of two queries.
    static __device__ __forceinline__ void score_tile(float (&score)[32], const uint32_t (&q)[HEAD / 16][4], uint32_t stage,
                                                      const TileOffsets<KV, HEAD>& at) {
#pragma unroll
        for (int i = 0; i < 32; i++) score[i] = 0;
#pragma unroll
        for (int i = 0; i < Layout::CHUNKS / 2; i++) {
#pragma unroll
            for (int j = 0; j < 8; j += 2) {
                Fragments::keys((stage + at.key ^ 32 * i) + j * 8 * Layout::BYTES, i,
                                [&](int k, int upper, uint32_t b0, uint32_t b1) {
                                    mma_16x8x16<M>(reinterpret_cast<float(&)[4]>(score[4 * (j + upper)]), q[k], b0, b1);
                                });
            }
        }
    }

    static __device__ __forceinline__ void add_values(float (&sum)[HEAD / 2], const float (&weight)[32], uint32_t stage,
                                                      const TileOffsets<KV, HEAD>& at) {
#pragma unroll
        for (int k = 0; k < 4; k++) {
            const float* w = weight + 8 * k;
            const uint32_t a[4] = {pack2<M>(w[0], w[1]), pack2<M>(w[2], w[3]), pack2<M>(w[4], w[5]), pack2<M>(w[6], w[7])};
#pragma unroll
            for (int i = 0; i < Layout::CHUNKS / 2; i++) {
                Fragments::values((stage + at.value ^ 32 * i) + k * 16 * Layout::BYTES, i, [&](int n, uint32_t b0, uint32_t b1) {
                    mma_16x8x16<M>(reinterpret_cast<float(&)[4]>(sum[4 * n]), a, b0, b1);
                });
            }
        }
    }
};

// Online softmax of a warp's 16 queries, two per thread.
template <int HEAD>
struct RunningSoftmax {
    float sum[HEAD / 2] = {};  // PV accumulators, laid out as scores with dimensions in place of keys
    float largest[2] = {NO_SCORE, NO_SCORE};
    float total[2] = {0, 0};

    // Replaces a tile's scores with softmax weights and rescales the accumulators.
    __device__ __forceinline__ void weigh(float (&score)[32]) {
#pragma unroll
        for (int half = 0; half < 2; half++) {
            float top = largest[half];
#pragma unroll
            for (int j = 0; j < 32; j++) {
                if (j % 4 / 2 == half) top = fmaxf(top, score[j]);
            }
            top = fmaxf(top, __shfl_xor_sync(~0u, top, 1));
            top = fmaxf(top, __shfl_xor_sync(~0u, top, 2));
            const float factor = exp2_fast(largest[half] - top);
            largest[half] = top;
            total[half] *= factor;
#pragma unroll
            for (int j = 0; j < HEAD / 2; j++) {
                if (j % 4 / 2 == half) {
                    sum[j] *= factor;
                    if (j >= 32) continue;
                    score[j] = exp2_fast(score[j] - top);
                    total[half] += score[j];
                }
            }
        }
    }

    // Returns whether any accumulator of the warp is infinite or NaN.
    __device__ __forceinline__ bool has_overflowed() const {
        float zero[4] = {};
#pragma unroll
        for (int j = 0; j < HEAD / 2; j++) zero[j % 4] = fmaf(sum[j], 0.f, zero[j % 4]);
        return __any_sync(~0u, zero[0] + zero[1] + (zero[2] + zero[3]) != 0);
    }
};

// Causal mask for a thread's two queries at `query` and `query + 8`.
__device__ __forceinline__ void hide_later_keys(float (&score)[32], int firstKey, int query, int lane) {
#pragma unroll
    for (int j = 0; j < 32; j++) {
        const int key = firstKey + j / 4 * 8 + lane % 4 * 2 + j % 2;
        if (key > query + j % 4 / 2 * 8) score[j] = NO_SCORE;
    }
}

// Sliding-window mask: hides keys `window` tokens or more before a thread's two queries.
__device__ __forceinline__ void hide_earlier_keys(float (&score)[32], int firstKey, int query, int window, int lane) {
#pragma unroll
    for (int j = 0; j < 32; j++) {
        const int key = firstKey + j / 4 * 8 + lane % 4 * 2 + j % 2;
        if (query + j % 4 / 2 * 8 - key >= window) score[j] = NO_SCORE;
    }
}

// GQA: several query heads may share a KV head, and queries may see only the last `window` tokens.
template <class T, class KV, int HEAD, int BLOCK, bool GQA>
__device__ __forceinline__ void attend(const PagedAttention<T, KV>& p, uint32_t ring, int rows, bool skipDecodeRows, int window) {
    using Layout = TileLayout<KV, HEAD>;
    using Fragments = KvFragments<KV, HEAD>;

    // The query tile, and the key tiles that it sees.
    const int head = blockIdx.x;
    const int warp = threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    const TokenTile tile = find_tile(p.rowStarts, rows, TILE, blockIdx.y, skipDecodeRows, lane);
    if (tile.row < 0) {
        wait_for_predecessors();
        return;
    }
    const int start = __ldg(p.rowStarts + tile.row);
    const int length = __ldg(p.rowStarts + tile.row + 1) - start;
    const int context = __ldg(p.contextLengths + tile.row);
    const int past = context - length;
    const int kvHead = GQA ? head / (p.heads / p.kvHeads) : head;
    const PrefillAttention<T, KV, HEAD, BLOCK> work{p, p.blocks + __ldg(p.blockStarts + tile.row), kvHead, context};
    const int keys = past + min(tile.first + TILE, length);  // keys visible to the tile's last query
    const int tiles = (keys + TILE - 1) / TILE;
    const int firstTile = GQA ? max(0, past + tile.first + 1 - window) / TILE : 0;  // first key tile visible to the first query

    // Three stages of K and V: this tile, the next and the one after.
    const TileOffsets<KV, HEAD> at(lane);
    uint32_t now = ring;
    uint32_t next = now + 2 * Layout::TILE_BYTES;
    uint32_t after = next + 2 * Layout::TILE_BYTES;
    auto blocks = work.blocks_of(firstTile * TILE);
    auto following = work.blocks_of((firstTile + 1) * TILE);
    wait_for_predecessors();

    // Queries go to registers through the third stage. With fp8 K and V, half as wide, they fill it.
    using Queries = TileLayout<T, HEAD>;
#pragma unroll
    for (int i = 0; i < Queries::PASSES; i++) {
        int row = threadIdx.x / Queries::CHUNKS + Queries::PASS_ROWS * i;
        bool present = tile.first + row < length;
        int token = start + (present ? tile.first + row : 0);
        const T* from = p.queries + (static_cast<size_t>(token) * p.heads + head) * HEAD + threadIdx.x % Queries::CHUNKS * 8;
        copy_async16(after + Queries::offset(row, threadIdx.x % Queries::CHUNKS), from, present);
    }
    work.load(now, firstTile * TILE, blocks);
    copy_async_commit();
    if (firstTile + 1 < tiles) work.load(next, (firstTile + 1) * TILE, following);
    copy_async_commit();
    blocks = work.blocks_of((firstTile + 2) * TILE);
    copy_async_wait<1>();
    __syncthreads();
    uint32_t q[HEAD / 16][4];
#pragma unroll
    for (int k = 0; k < HEAD / 16; k++) Fragments::template queries<T>(q[k], after, warp * 16, k, lane);
    float score[32];
    work.score_tile(score, q, now, at);

    // Main loop over key tiles.
    RunningSoftmax<HEAD> softmax;
    const int query = tile.first + warp * 16 + lane / 4;  // and query + 8
    const bool idle = tile.first + warp * 16 >= length;   // this warp has no query
    for (int i = firstTile; i < tiles; i++) {
        copy_async_wait<0>();
        __syncthreads();  // the next tile has arrived; the previous one is free
        if (i + 2 < tiles) {
            work.load(after, (i + 2) * TILE, blocks);
            blocks = work.blocks_of((i + 3) * TILE);
        }
        copy_async_commit();
        const uint32_t current = now;
        now = next, next = after, after = current;
        if (idle) continue;
        float scoreNext[32];  // the next tile's QK overlaps this tile's exponentials
        if (i + 1 < tiles) work.score_tile(scoreNext, q, now, at);
        if ((i + 1) * TILE > past + tile.first + warp * 16) hide_later_keys(score, i * TILE, past + query, lane);
        if constexpr (GQA) {
            if (past + tile.first + warp * 16 + 15 - i * TILE >= window) {
                hide_earlier_keys(score, i * TILE, past + query, window, lane);
            }
        }
        softmax.weigh(score);
        work.add_values(softmax.sum, score, current, at);
#pragma unroll
        for (int j = 0; j < 32; j++) score[j] = scoreNext[j];
    }

    // Overflow: recompute this warp's queries one by one.
    if (softmax.has_overflowed()) {
        const int first = tile.first + warp * 16;
        for (int i = first; i < min(first + 16, length); i++) {
            const int seen = past + i + 1;
            attend_token(p, work.list, start + i, head, GQA ? max(0, seen - window) : 0, seen);
        }
        return;
    }

    // Divide by the softmax totals and store.
#pragma unroll
    for (int half = 0; half < 2; half++) {
        float all = sum_over_lanes<4>(softmax.total[half]);
        float inverse = all > 0 ? 1.f / all : 0.f;
        if (query + 8 * half >= length) continue;
        auto out = [&](int d) { return panel_at(p.out, start + query + 8 * half, head * HEAD + d, p.panelRows); };
        auto divided = [&](int n) {
            const float* sum = softmax.sum + 4 * n + 2 * half;
            return make_float2(sum[0] * inverse, sum[1] * inverse);
        };
#pragma unroll
        for (int n = 0; n < HEAD / 8; n += 2) Fragments::store(out, n, divided(n), divided(n + 1), lane);
    }
}

constexpr int HEAD = 64;  // of attention_prefill and attention_decode_invariant
constexpr int ROW_BYTES = HEAD * 2;

__device__ __forceinline__ uint32_t chunk_address(const char* tile, int row, int chunk) {
    return shared_address(tile) + KvRow<f16, HEAD>::offset(row, chunk);
}

constexpr int PIECE = 16;  // tokens of a KV block; a key tile has one block per warp
constexpr int PIECE_BYTES = 2 * PIECE * ROW_BYTES;

// Ring of a row's KV blocks, keys then values, in sequence order.
template <class T>
struct PieceRing {
    const PagedAttention<T>& p;
    const int* list;
    char* ring;
    int stages;
    int head;
    int context;

    __device__ __forceinline__ char* keys(int piece) const { return ring + piece % stages * PIECE_BYTES; }
    __device__ __forceinline__ char* values(int piece) const { return keys(piece) + PIECE_BYTES / 2; }

    // Each thread copies 16 bytes of a key and of a value; slots past the context become zeros. Skips the tokens from `end` on.
    __device__ __forceinline__ void load(int piece, int id, int end) const {
        const int token = piece * PIECE + threadIdx.x / 8;
        if (token < end || token >= context) copy(piece, id, token < context);
    }

    // Loads the tokens of a KV block from `first` on.
    __device__ __forceinline__ void load_from(int piece, int first) const {
        const int token = piece * PIECE + threadIdx.x / 8;
        if (token >= first && token < context) copy(piece, __ldg(list + piece), true);
    }

private:
    __device__ __forceinline__ void copy(int piece, int id, bool present) const {
        const int row = threadIdx.x / 8;
        const int chunk = threadIdx.x % 8;
        const T* key = p.pool + ((static_cast<size_t>(id) * p.heads + head) * 2 * PIECE + row) * HEAD + chunk * 8;
        copy_async16(chunk_address(keys(piece), row, chunk), key, present);
        copy_async16(chunk_address(values(piece), row, chunk), key + PIECE * HEAD, present);
    }
};

template <class T>
__device__ __forceinline__ void attend_invariant(const PagedAttention<T>& p, const int* rowOrder, int stages) {
    extern __shared__ __align__(128) char ringBytes[];
    __shared__ float2 scores[TILE / 2];
    __shared__ float normalizer;
    release_dependents();
    const int row = __ldg(rowOrder + blockIdx.y);
    const int warp = __shfl_sync(~0u, threadIdx.x / 32, 0);
    const int lane = threadIdx.x % 32;
    const int token = __ldg(p.rowStarts + row);
    const bool single = __ldg(p.rowStarts + row + 1) == token + 1;
    const int context = __ldg(p.contextLengths + row);
    if (!single || context <= 0) {
        wait_for_predecessors();
        return;
    }
    const PieceRing<T> ring{p, p.blocks + __ldg(p.blockStarts + row), ringBytes, stages, static_cast<int>(blockIdx.x), context};
    const int newest = context - 1;
    const int end = context - new_tokens(p.blockStarts, row, lane);  // of the past
    const int pieces = (context + PIECE - 1) / PIECE;
    const int early = min(stages, pieces);
    const int id = lane < early ? __ldg(ring.list + lane) : 0;
    for (int i = 0; i < early; i++) ring.load(i, __shfl_sync(~0u, id, i), end);
    const T* query = p.queries + (static_cast<size_t>(token) * p.heads + ring.head) * HEAD + lane % 4 * 2;
    wait_for_predecessors();

    for (int piece = max(end, 0) / PIECE; piece < early; piece++) ring.load_from(piece, end);
    copy_async_commit();
    // Only the first of the mma's 16 query rows is used; lanes 0 to 3 hold it.
    uint32_t q[4][4] = {};
#pragma unroll
    for (int k = 0; k < 4; k++) {
        if (lane < 4) {
            q[k][0] = __ldcg(reinterpret_cast<const uint32_t*>(query + 16 * k));
            q[k][2] = __ldcg(reinterpret_cast<const uint32_t*>(query + 16 * k + 8));
        }
    }
    float sum[2][4] = {};  // dimensions 16 · warp + 8j + 2 · lane + {0, 1}
    float largest = NO_SCORE;
    float total = 0;  // in the first warp: lane q adds keys 8j + 2q + {0, 1}
    const int tiles = (context + TILE - 1) / TILE;
    for (int i = 0; i < tiles; i++) {
        copy_async_wait<0>();
        __syncthreads();
        if (i > 0) {
            for (int piece = 4 * (i - 1) + stages; piece < min(4 * i + stages, pieces); piece++) {
                ring.load(piece, __ldg(ring.list + piece), context);
            }
        }
        copy_async_commit();
        const int piece = 4 * i + warp;
        float score[2][4] = {};
        if (piece < pieces) {
#pragma unroll
            for (int k = 0; k < 4; k++) {
                uint32_t b[4];
                load_matrix4(b, chunk_address(ring.keys(piece), lane / 16 * 8 + lane % 8, 2 * k + lane / 8 % 2));
                mma_16x8x16<T>(score[0], q[k], b[0], b[1]);
                mma_16x8x16<T>(score[1], q[k], b[2], b[3]);
            }
        }
        if (lane < 4) {
#pragma unroll
            for (int j = 0; j < 2; j++) {
                const int key = piece * PIECE + 8 * j + 2 * lane;
                scores[warp * 8 + 4 * j + lane] =
                    make_float2(key > newest ? NO_SCORE : score[j][0], key + 1 > newest ? NO_SCORE : score[j][1]);
            }
        }
        __syncthreads();
        const float2 mine = scores[lane];  // keys 2 · lane + {0, 1} of the tile
        float top = fmaxf(mine.x, mine.y);
#pragma unroll
        for (int step = 16; step > 0; step /= 2) top = fmaxf(top, __shfl_xor_sync(~0u, top, step));
        top = fmaxf(largest, top);
        const float factor = exp2_fast(largest - top);
        largest = top;
        const float2 weight = make_float2(exp2_fast(mine.x - top), exp2_fast(mine.y - top));
        const uint32_t packed = pack2<T>(weight.x, weight.y);
#pragma unroll
        for (int j = 0; j < 4; j++) sum[0][j] *= factor, sum[1][j] *= factor;
#pragma unroll
        for (int k = 0; k < 4; k++) {
            const uint32_t first = __shfl_sync(~0u, packed, 8 * k + lane % 4);
            const uint32_t second = __shfl_sync(~0u, packed, 8 * k + 4 + lane % 4);
            const uint32_t a[4] = {lane < 4 ? first : 0, 0, lane < 4 ? second : 0, 0};
            uint32_t b[4] = {};
            if (4 * i + k < pieces) {
                load_matrix4_transposed(b, chunk_address(ring.values(4 * i + k), lane % 16, 2 * warp + lane / 16));
            }
            mma_16x8x16<T>(sum[0], a, b[0], b[1]);
            mma_16x8x16<T>(sum[1], a, b[2], b[3]);
        }
        if (warp == 0) {
            total *= factor;
#pragma unroll
            for (int j = 0; j < 8; j++) {
                total += __shfl_sync(~0u, weight.x, 4 * j + lane % 4);
                total += __shfl_sync(~0u, weight.y, 4 * j + lane % 4);
            }
        }
    }
    if (warp == 0) {
        const float all = sum_over_lanes<4>(total);
        if (lane == 0) normalizer = all > 0 ? 1.f / all : 0.f;
    }
    __syncthreads();
    if (lane >= 4) return;
#pragma unroll
    for (int j = 0; j < 2; j++) {
        T* out = panel_at(p.out, token, ring.head * HEAD + 16 * warp + 8 * j + lane * 2, p.panelRows);
        *reinterpret_cast<uint32_t*>(out) = pack2<T>(sum[j][0] * normalizer, sum[j][1] * normalizer);
    }
}

#define ATTEND(T, NAME)                                                                                                          \
    extern "C" __global__ void __launch_bounds__(128, 3) attention_prefill_##NAME(                                               \
        const T* queries, const T* pool, const int* rowStarts, const int* contextLengths, const int* blockStarts,                \
        const int* blocks, T* out, int panelRows, int heads, int blockSize, int rows, int skipDecodeRows) {                      \
        __shared__ __align__(128) char ring[STAGES * 2 * TileLayout<T, HEAD>::TILE_BYTES];                                       \
        release_dependents();                                                                                                    \
        const PagedAttention<T> p{queries, pool,      rowStarts, contextLengths, blockStarts, blocks,                            \
                                  out,     panelRows, heads,     heads,          HEAD,        blockSize};                        \
        if (blockSize == 16) attend<T, T, HEAD, 16, false>(p, shared_address(ring), rows, skipDecodeRows != 0, 0);               \
        else attend<T, T, HEAD, 0, false>(p, shared_address(ring), rows, skipDecodeRows != 0, 0);                                \
    }                                                                                                                            \
    extern "C" __global__ void __launch_bounds__(128, 8) attention_decode_invariant_##NAME(                                      \
        const T* queries, const T* pool, const int* rowStarts, const int* contextLengths, const int* blockStarts,                \
        const int* blocks, T* out, int panelRows, int heads, const int* rowOrder, int stages) {                                  \
        attend_invariant<T>(                                                                                                     \
            {queries, pool, rowStarts, contextLengths, blockStarts, blocks, out, panelRows, heads, heads, HEAD, PIECE},          \
            rowOrder, stages);                                                                                                   \
    }

ATTEND(f16, f16)
ATTEND(bf16, bf16)

#define ATTEND_SHARED(T, KV, SIZE, NAME, BLOCKS)                                                                                 \
    extern "C" __global__ void __launch_bounds__(128, BLOCKS)                                                                    \
        attention_prefill_gqa_##SIZE##_##NAME(const T* queries, const KV* pool, const int* rowStarts, const int* contextLengths, \
                                              const int* blockStarts, const int* blocks, T* out, int panelRows, int heads,       \
                                              int kvHeads, int blockSize, int rows, int window) {                                \
        extern __shared__ __align__(256) char dynamic[];                                                                         \
        release_dependents();                                                                                                    \
        const uint32_t ring = (shared_address(dynamic) + 255) / 256 * 256;                                                       \
        const PagedAttention<T, KV> p{queries, pool,      rowStarts, contextLengths, blockStarts, blocks,                        \
                                      out,     panelRows, heads,     kvHeads,        SIZE,        blockSize};                    \
        if (blockSize == 16) attend<T, KV, SIZE, 16, true>(p, ring, rows, false, window);                                         \
        else attend<T, KV, SIZE, 0, true>(p, ring, rows, false, window);                                                          \
    }

ATTEND_SHARED(f16, f16, 64, f16, 3)
ATTEND_SHARED(bf16, bf16, 64, bf16, 3)
ATTEND_SHARED(f16, f16, 128, f16, 2)
ATTEND_SHARED(bf16, bf16, 128, bf16, 2)
#if __CUDA_ARCH__ >= 900 || !defined(__CUDA_ARCH__)
ATTEND_SHARED(f16, fp8, 64, fp8_f16, 3)
ATTEND_SHARED(bf16, fp8, 64, fp8_bf16, 3)
ATTEND_SHARED(f16, fp8, 128, fp8_f16, 2)
ATTEND_SHARED(bf16, fp8, 128, fp8_bf16, 2)
#endif

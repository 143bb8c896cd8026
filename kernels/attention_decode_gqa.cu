// Decode attention with GQA (sm_90a) for rows of one token. Up to eight query heads per KV head, head size 64 or 128, KV block
// 16, f16 and bf16, full context or sliding window. K and V are T or fp8.
//
// Why it is fast: each key is loaded once per GQA group. The group's queries are rows of an mma.sync; its other eight rows take
// the rounding errors of the softmax weights. With few rows, a cluster of up to eight thread blocks splits the context of one
// (row, KV head). The blocks exchange partial outputs by st.async, which completes on an mbarrier.
//
// The warps of a cluster take the row's KV blocks round-robin, each its newest first. Each has a separate cp.async ring in
// swizzled shared memory, so warps never wait for each other. The past is requested before the kernel waits for this layer's QKV
// GEMM. Keys and values of this step are loaded after the wait: of the row's token, and of earlier rows with the same block table.
//
// attention_decode_gqa_rope reads the raw rows that gemm_qkv_rope leaves for models with QK norm, and does the work of rope.cu
// with the same bits, so that a decode step has one kernel less per layer. It writes the row's key to the pool.
//
// Launch: grid (kvHeads · cluster, rows in `rowOrder`), block 128, dynamic shared memory WARPS · stages · STAGE_BYTES +
// RECEIVED_BYTES or more, cluster (c, 1, 1), c = 1, 2, 4 or 8. `stages` is 2 or 3 for rows of 256 bytes, else 4. Rows of other
// lengths are skipped.
#include "include/epilogue.cuh"
#include "include/head_norm.cuh"
#include "include/kv_fragments.cuh"
#include "include/paged_kv.cuh"
#include "include/ptx.cuh"

using namespace rose;

#if __CUDA_ARCH__ >= 900 || !defined(__CUDA_ARCH__)

constexpr int BLOCK = 16;
constexpr int WARPS = 4;
constexpr int MAX_GROUP = 8;
constexpr int MAX_CLUSTER = 8;

// A warp's cp.async ring of KV blocks: 16 keys, then 16 values per stage.
template <class KV, int HEAD>
struct Ring {
    using Row = KvRow<KV, HEAD>;
    static constexpr int STAGES = Row::BYTES == 256 ? 3 : 4;  // at most; narrower rows always have them
    static constexpr int KEY_BYTES = BLOCK * Row::BYTES;
    static constexpr int STAGE_BYTES = 2 * KEY_BYTES;
    // Partial outputs that the blocks of a cluster exchange: per item four accumulators and their softmax state.
    static constexpr int ITEMS = MAX_GROUP * HEAD / 4;
    static constexpr int RECEIVED_BYTES = (ITEMS + 8) * 32;

    const KV* pool;
    int kvHeads, kvHead;
    int start, newest;  // visible tokens: start … newest

    // Returns a token's key in the pool; its value is BLOCK · HEAD elements further.
    __device__ __forceinline__ const KV* key_at(int id, int row) const {
        return pool + ((static_cast<size_t>(id) * kvHeads + kvHead) * 2 * BLOCK + row) * HEAD;
    }

    template <bool KEYS>
    __device__ __forceinline__ void copy(uint32_t stage, int id, int block, int row, int chunk) const {
        const int token = block * BLOCK + row;
        const bool present = token >= start && token <= newest;
        const KV* key = key_at(id, row) + chunk * (16 / sizeof(KV));
        if (KEYS) copy_async16(stage + Row::offset(row, chunk), key, present);
        copy_async16(stage + KEY_BYTES + Row::offset(row, chunk), key + BLOCK * HEAD, present);
    }

    // Loads a KV block; slots without a visible token become zeros. Skips the visible tokens from `end` on.
    __device__ __forceinline__ void load(uint32_t stage, int id, int block, int end, int lane) const {
#pragma unroll
        for (int item = lane; item < BLOCK * Row::CHUNKS; item += 32) {
            const int row = item / Row::CHUNKS;
            const int token = block * BLOCK + row;
            if (token < end || token > newest) copy<true>(stage, id, block, row, item % Row::CHUNKS);
        }
    }

    // Loads the tokens of a KV block from `first` on, or only their values.
    template <bool KEYS>
    __device__ __forceinline__ void load_from(uint32_t stage, int id, int block, int first, int lane) const {
#pragma unroll 1
        for (int token = max(first, block * BLOCK); token <= min(newest, block * BLOCK + BLOCK - 1); token++) {
            if (lane < Row::CHUNKS) copy<KEYS>(stage, id, block, token % BLOCK, lane);
        }
    }
};

// QK norm and RoPE of raw rows, [tokens][(heads + kvHeads) · head size]. As in rope.cu, a lane holds four elements of a head.
template <class T, class KV>
struct RawHeads {
    KV* pool;
    const float* normWeights;  // [2][head size]
    const float* ropeTable;    // [positions][head size]; null: no RoPE
    int headSize;              // unpadded
    float queryScale;
    float epsilon;
};

// The same for heads that need neither.
struct ReadyHeads {};

// Online softmax and PV accumulators of a warp: lane 4g + j holds query g, dimensions as in KvFragments. sum[n][2] and [3]
// collect the rounding errors of the softmax weights.
template <class KV, int HEAD>
struct GroupAttention {
    using Layout = Ring<KV, HEAD>;
    using Fragments = KvFragments<KV, HEAD>;
    using M = typename Fragments::M;
    float largest = NO_SCORE;
    float total = 0;  // over the lane's own tokens
    float sum[HEAD / 8][4] = {};

    // Adds tokens first … last of one KV block, indices within the block.
    __device__ __forceinline__ void add(uint32_t stage, const uint32_t (&q)[HEAD / 16][2], int first, int last, int lane) {
        float score[2][4] = {};
#pragma unroll
        for (int i = 0; i < Layout::Row::CHUNKS / 2; i++) {
            Fragments::keys(stage + Layout::Row::key_at(i, lane), i, [&](int k, int upper, uint32_t b0, uint32_t b1) {
                mma_16x8x16<M>(score[upper], {q[k][0], 0, q[k][1], 0}, b0, b1);
            });
        }
        float weight[4];
        float top = largest;
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const int token = i / 2 * 8 + lane % 4 * 2 + i % 2;
            weight[i] = token >= first && token <= last ? score[i / 2][i % 2] : NO_SCORE;
            top = fmaxf(top, weight[i]);
        }
        top = fmaxf(top, __shfl_xor_sync(~0u, top, 1));
        top = fmaxf(top, __shfl_xor_sync(~0u, top, 2));
        const float factor = exp2_fast(largest - top);
        largest = top;
        total *= factor;
#pragma unroll
        for (int i = 0; i < 4; i++) {
            weight[i] = exp2_fast(weight[i] - top);  // zero for NO_SCORE, since a block has at least one visible token
            total += weight[i];
        }
        uint32_t a[4];
#pragma unroll
        for (int i = 0; i < 2; i++) {
            a[2 * i] = pack2<M>(weight[2 * i], weight[2 * i + 1]);
            const float2 back = unpack2<M>(a[2 * i]);
            a[2 * i + 1] = pack2<M>(weight[2 * i] - back.x, weight[2 * i + 1] - back.y);
        }
#pragma unroll
        for (int n = 0; n < HEAD / 8; n++) {
#pragma unroll
            for (int e = 0; e < 4; e++) sum[n][e] *= factor;
        }
#pragma unroll
        for (int i = 0; i < Layout::Row::CHUNKS / 2; i++) {
            Fragments::values(stage + Layout::KEY_BYTES + Layout::Row::value_at(i, lane), i,
                              [&](int n, uint32_t b0, uint32_t b1) { mma_16x8x16<M>(sum[n], a, b0, b1); });
        }
    }
};

// Softmax state of partial outputs: maximum score and sum of weights.
struct Softmax {
    float largest, total;
};

// Four outputs of a query before division by the softmax total.
struct Partial {
    float4 sum;
    Softmax softmax;

    __device__ __forceinline__ void add(float4 other, Softmax of, float largest) {
        const float factor = exp2_fast(of.largest - largest);
        sum = make_float4(fmaf(other.x, factor, sum.x), fmaf(other.y, factor, sum.y), fmaf(other.z, factor, sum.z),
                          fmaf(other.w, factor, sum.w));
        softmax.total = fmaf(of.total, factor, softmax.total);
    }
};

// The accumulators of a block's warps; reuses the ring's memory.
template <int HEAD>
struct Results {
    float sum[WARPS][MAX_GROUP][HEAD + 4];
    Softmax softmax[WARPS][MAX_GROUP];

    __device__ __forceinline__ Partial joined(int query, int d) const {
        float largest = NO_SCORE;
#pragma unroll
        for (int w = 0; w < WARPS; w++) largest = fmaxf(largest, softmax[w][query].largest);
        Partial all = {make_float4(0, 0, 0, 0), {largest, 0}};
#pragma unroll
        for (int w = 0; w < WARPS; w++) {
            all.add(*reinterpret_cast<const float4*>(&sum[w][query][d]), softmax[w][query], largest);
        }
        return all;
    }
};

template <class T>
__device__ __forceinline__ void write(T* to, const Partial& partial) {
    const float inverse = partial.softmax.total > 0 ? 1.f / partial.softmax.total : 0.f;
    const float4 v = partial.sum;
    store4(to, make_float4(v.x * inverse, v.y * inverse, v.z * inverse, v.w * inverse));
}

// Sends every block of the cluster its share of the outputs, 2^shareBits items, and finishes this block's own:
// received[block][item][2]. `barrier` expects what this block receives.
template <int HEAD, class Output>
__device__ __forceinline__ void exchange(const Results<HEAD>& results, float4* received, uint64_t* barrier, int blocks, int rank,
                                         int items, int shareBits, const Output& output) {
    const int share = 1 << shareBits;
    for (int item = threadIdx.x; item < items; item += 32 * WARPS) {
        const Partial part = results.joined(item / (HEAD / 4), item % (HEAD / 4) * 4);
        const int owner = item >> shareBits;
        const uint32_t to = peer_address(shared_address(received + (rank * share + item % share) * 2), owner);
        const uint32_t there = peer_address(shared_address(barrier), owner);
        store_peer4(to, part.sum, there);
        store_peer4(to + 16, make_float4(part.softmax.largest, part.softmax.total, 0, 0), there);
    }
    barrier_wait(barrier, 0);
    const int mine = min(items - rank * share, share);
    for (int i = threadIdx.x; i < mine; i += 32 * WARPS) {
        float4 sum[MAX_CLUSTER], softmax[MAX_CLUSTER];
        float largest = NO_SCORE;
#pragma unroll
        for (int r = 0; r < MAX_CLUSTER; r++) {
            if (r >= blocks) continue;
            sum[r] = received[(r * share + i) * 2];
            softmax[r] = received[(r * share + i) * 2 + 1];
            largest = fmaxf(largest, softmax[r].x);
        }
        Partial all = {make_float4(0, 0, 0, 0), {largest, 0}};
#pragma unroll
        for (int r = 0; r < MAX_CLUSTER; r++) {
            if (r < blocks) all.add(sum[r], {softmax[r].x, softmax[r].y}, largest);
        }
        output(rank * share + i, all);
    }
}

// Heads: ReadyHeads, with the queries in p.queries; or RawHeads, with raw rows there.
template <int HEAD, class T, class KV, class Heads>
__device__ __forceinline__ void attend(const PagedAttention<T, KV>& p, const int* rowOrder, int givenStages, int window,
                                       const Heads& heads) {
    using Layout = Ring<KV, HEAD>;
    using Fragments = KvFragments<KV, HEAD>;
    constexpr bool RAW = !std::is_same_v<Heads, ReadyHeads>;
    extern __shared__ __align__(128) char dynamic[];
    __shared__ uint64_t received;
    release_dependents();

    // Row, KV head and its query group, and this block's rank in the cluster.
    const int blocks = cluster_size();
    const int rank = cluster_rank();
    const int row = __ldg(rowOrder + blockIdx.y);
    const int kvHead = blockIdx.x / blocks;
    const int group = p.heads / p.kvHeads;
    const int warp = __shfl_sync(~0u, threadIdx.x / 32, 0);  // warp-uniform, also to the compiler
    const int lane = threadIdx.x % 32;
    const int token = __ldg(p.rowStarts + row);
    const int context = __ldg(p.contextLengths + row);
    if (__ldg(p.rowStarts + row + 1) != token + 1 || context <= 0) {
        wait_for_predecessors();
        return;
    }
    if (threadIdx.x == 0) {
        barrier_init(&received, 1);
        barrier_init_fence();
    }
    __syncthreads();
    const int items = group * HEAD / 4;  // of four outputs
    const int shareBits = 32 - __clz((items - 1) / blocks);
    if (blocks > 1) {
        const int mine = min(max(items - (rank << shareBits), 0), 1 << shareBits);
        if (threadIdx.x == 0) barrier_expect(&received, blocks * mine * 32);
        cluster_arrive();
    }

    // Norm weights and the row of the RoPE table, four elements per lane.
    float4 queryWeight, keyWeight, cosSin;
    const int d = 4 * lane;
    const bool present = d < HEAD;
    if constexpr (RAW) {
        const float* table = heads.ropeTable + static_cast<size_t>(context - 1) * HEAD + d;
        cosSin = present && heads.ropeTable != nullptr ? load_global4(table) : make_float4(1, 0, 1, 0);
        queryWeight = present ? load_global4(heads.normWeights + d) : make_float4(0, 0, 0, 0);
        keyWeight = present ? load_global4(heads.normWeights + HEAD + d) : make_float4(0, 0, 0, 0);
    }

    // This warp's KV blocks: the warps of the whole cluster take the visible blocks round-robin.
    const int newest = context - 1;
    const int end = context - new_tokens(p.blockStarts, row, lane);  // of the past
    const int start = max(0, context - window);
    const int* list = p.blocks + __ldg(p.blockStarts + row);
    const Layout ring{p.pool, p.kvHeads, kvHead, start, newest};
    const int warps = blocks * WARPS;
    const int firstBlock = start / BLOCK + rank * WARPS + warp;
    const int lastBlock = newest / BLOCK;
    const int count = firstBlock > lastBlock ? 0 : (lastBlock - firstBlock) / warps + 1;
    const int stages = Layout::Row::BYTES == 256 ? givenStages : Layout::STAGES;  // a constant is 2 to 4 % faster with fp8
    const uint32_t ringStart = shared_address(dynamic) + warp * stages * Layout::STAGE_BYTES;
    auto block_of = [&](int i) { return firstBlock + (count - 1 - i) * warps; };
    int ids = 0;  // ids of 32 of the warp's KV blocks, one per lane
    auto id_of = [&](int i) {
        if (i % 32 == 0) ids = __ldg(list + max(block_of(i + lane), 0));
        return __shfl_sync(~0u, ids, i % 32);
    };

    // Before the wait: fill the ring, without the new tokens. Those are in neighboring blocks, fewer than a block has warps, so
    // only a warp's first block can have any.
    const int newBlock = block_of(0);
    const bool hasNew = count > 0 && newBlock >= end / BLOCK;
    int newId = 0;
#pragma unroll 1
    for (int i = 0; i < stages; i++) {
        if (i < count) {
            const int id = id_of(i);
            ring.load(ringStart + i * Layout::STAGE_BYTES, id, block_of(i), end, lane);
            if (i == 0) newId = id;
        }
        copy_async_commit();
    }
    const int query = lane / 4;
    uint32_t q[HEAD / 16][2] = {};

    // After the wait: the new tokens, and the group's queries as fragments.
    if constexpr (RAW) {
        constexpr int HEADS = MAX_GROUP / WARPS;  // queries that a warp prepares
        constexpr int NEW = 4;                    // new keys in flight
        __shared__ __align__(16) T prepared[MAX_GROUP][HEAD + 8];  // the padding avoids bank conflicts
        const int rawHeads = p.heads + p.kvHeads;
        const T* raw = p.queries + static_cast<size_t>(token) * rawHeads * HEAD + d;
        compute_early(raw);
        if (blocks > 1) cluster_wait();  // every block has started and initialized its barrier; invalidates L1, so not later
        wait_for_predecessors();

        const float4 none = make_float4(0, 0, 0, 0);
        float4 x[HEADS], key[NEW], keyCosSin[NEW];
#pragma unroll
        for (int i = 0; i < HEADS; i++) {
            const int head = warp + i * WARPS;
            x[i] = present && head < group ? load4(raw + (kvHead * group + head) * HEAD) : none;
        }
        int firstNew = max(end, newBlock * BLOCK);
        const int lastNew = hasNew ? min(newest, newBlock * BLOCK + BLOCK - 1) : -1;
        auto load_keys = [&] {
#pragma unroll
            for (int i = 0; i < NEW; i++) {
                const int back = newest - firstNew - i;  // rows, and positions
                const bool loads = present && firstNew + i <= lastNew;
                key[i] = loads ? load4(raw + (p.heads + kvHead) * HEAD - static_cast<ptrdiff_t>(back) * rawHeads * HEAD) : none;
                const float* table = heads.ropeTable + static_cast<size_t>(newest - back) * HEAD + d;
                keyCosSin[i] = loads && heads.ropeTable != nullptr ? __ldg(reinterpret_cast<const float4*>(table))
                                                                   : make_float4(1, 0, 1, 0);
            }
        };
        load_keys();
        if (hasNew) ring.template load_from<false>(ringStart, newId, newBlock, end, lane);
        copy_async_commit();
        const float4 scaled = make_float4(cosSin.x * heads.queryScale, cosSin.y * heads.queryScale, cosSin.z * heads.queryScale,
                                          cosSin.w * heads.queryScale);
#pragma unroll
        for (int i = 0; i < HEADS; i++) {
            const int head = warp + i * WARPS;
            if (head >= group) break;
            const float norm = head_norm(add_squares(0, x[i]), heads.headSize, heads.epsilon);
            if (present) store4(&prepared[head][d], rotated(weighted(x[i], norm, queryWeight), scaled));
        }
        __syncthreads();
        if (query < group) {
#pragma unroll
            for (int k = 0; k < HEAD / 16; k++) {
                Fragments::template query<true>(q[k][0], q[k][1], &prepared[query][16 * k], lane);
            }
        }
#pragma unroll 1
        while (firstNew <= lastNew) {
#pragma unroll
            for (int i = 0; i < NEW; i++) {
                const int token = firstNew + i;
                if (token > lastNew) break;
                const float norm = head_norm(add_squares(0, key[i]), heads.headSize, heads.epsilon);
                const float4 y = rotated(weighted(key[i], norm, keyWeight), keyCosSin[i]);
                if (!present) continue;
                char* stage = dynamic + (ringStart - shared_address(dynamic));
                const int at = d * static_cast<int>(sizeof(KV));  // byte in the row
                store4(reinterpret_cast<KV*>(stage + Layout::Row::offset(token % BLOCK, at / 16) + at % 16), y);
                if (token == newest) store4(heads.pool + (ring.key_at(newId, token % BLOCK) - p.pool) + d, y);
            }
            firstNew += NEW;
            if (firstNew <= lastNew) load_keys();
        }
    } else {
        const T* queries = p.queries + (static_cast<size_t>(token) * p.heads + kvHead * group + query) * HEAD;
        compute_early(queries);
        if (blocks > 1) cluster_wait();
        wait_for_predecessors();
        if (query < group) {
#pragma unroll
            for (int k = 0; k < HEAD / 16; k++) Fragments::template query<false>(q[k][0], q[k][1], queries + 16 * k, lane);
        }
        if (hasNew) ring.template load_from<true>(ringStart, newId, newBlock, end, lane);
        copy_async_commit();
    }

    // Online softmax over the warp's KV blocks; each stage is refilled after use.
    GroupAttention<KV, HEAD> part;
    int stage = 0;
#pragma unroll 1
    for (int i = 0; i < count; i++) {
        const int block = block_of(i);
        if (i == 0 && hasNew) copy_async_wait<0>();  // the new tokens came last
        else if (stages == 2) copy_async_wait<1>();
        else if (stages == 3) copy_async_wait<2>();
        else copy_async_wait<3>();
        __syncwarp();
        const uint32_t at = ringStart + stage * Layout::STAGE_BYTES;
        part.add(at, q, start - block * BLOCK, newest - block * BLOCK, lane);
        __syncwarp();
        const int next = i + stages;
        if (next < count) ring.load(at, id_of(next), block_of(next), end, lane);
        copy_async_commit();
        if (++stage == stages) stage = 0;
    }

    // Merge the warps' results, within this block or across the cluster.
    copy_async_wait<0>();
    __syncthreads();  // the results overwrite the ring
    Results<HEAD>& results = *reinterpret_cast<Results<HEAD>*>(dynamic);
    part.total += __shfl_xor_sync(~0u, part.total, 1);
    part.total += __shfl_xor_sync(~0u, part.total, 2);
    auto whole = [&](int n) { return make_float2(part.sum[n][0] + part.sum[n][2], part.sum[n][1] + part.sum[n][3]); };
#pragma unroll
    for (int n = 0; n < HEAD / 8; n += 2) {
        Fragments::store([&](int d) { return &results.sum[warp][query][d]; }, n, whole(n), whole(n + 1), lane);
    }
    if (lane % 4 == 0) results.softmax[warp][query] = {part.largest, part.total};
    __syncthreads();
    auto output = [&](int item, const Partial& all) {
        const int head = kvHead * group + item / (HEAD / 4);
        write(panel_at(p.out, token, head * HEAD + item % (HEAD / 4) * 4, p.panelRows), all);
    };
    if (blocks == 1) {
        for (int item = threadIdx.x; item < items; item += 32 * WARPS) {
            output(item, results.joined(item / (HEAD / 4), item % (HEAD / 4) * 4));
        }
    } else {
        float4* there = reinterpret_cast<float4*>(dynamic + WARPS * stages * Layout::STAGE_BYTES);
        exchange(results, there, &received, blocks, rank, items, shareBits, output);
    }
}

#define ATTEND(TYPE, KV_TYPE, HEAD, NAME)                                                                                   \
    extern "C" __global__ void __launch_bounds__(32 * WARPS) attention_decode_gqa_##HEAD##_##NAME(                          \
        const TYPE* queries, const KV_TYPE* pool, const int* rowStarts, const int* contextLengths, const int* blockStarts,  \
        const int* blocks, TYPE* out, int panelRows, int heads, const int* rowOrder, int stages, int kvHeads, int window) { \
        attend<HEAD, TYPE, KV_TYPE>(                                                                                        \
            {queries, pool, rowStarts, contextLengths, blockStarts, blocks, out, panelRows, heads, kvHeads, HEAD, BLOCK},   \
            rowOrder, stages, window, ReadyHeads{});                                                                        \
    }                                                                                                                       \
    extern "C" __global__ void __launch_bounds__(32 * WARPS) attention_decode_gqa_rope_##HEAD##_##NAME(                     \
        const TYPE* raw, KV_TYPE* pool, const int* rowStarts, const int* contextLengths, const int* blockStarts,            \
        const int* blocks, TYPE* out, int panelRows, int heads, const int* rowOrder, int stages, int kvHeads, int window,   \
        const float* normWeights, const float* ropeTable, int headSize, float queryScale, float epsilon) {                  \
        attend<HEAD, TYPE, KV_TYPE>(                                                                                        \
            {raw, pool, rowStarts, contextLengths, blockStarts, blocks, out, panelRows, heads, kvHeads, HEAD, BLOCK},       \
            rowOrder, stages, window,                                                                                       \
            RawHeads<TYPE, KV_TYPE>{pool, normWeights, ropeTable, headSize, queryScale, epsilon});                          \
    }

ATTEND(f16, f16, 64, f16)
ATTEND(bf16, bf16, 64, bf16)
ATTEND(f16, f16, 128, f16)
ATTEND(bf16, bf16, 128, bf16)
ATTEND(f16, fp8, 64, fp8_f16)
ATTEND(bf16, fp8, 64, fp8_bf16)
ATTEND(f16, fp8, 128, fp8_f16)
ATTEND(bf16, fp8, 128, fp8_bf16)

#endif

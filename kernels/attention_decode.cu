// Decode attention (sm_90a): rows of exactly one token, head size 64, KV block 16, one query head per KV head, f16 and bf16.
//
// One thread block per (head, row); its warps take the row's KV blocks round-robin. A KV block of one head is 4 KB of contiguous
// memory, fetched by one bulk copy into a ring of `stages` blocks.
//
// Why it is fast: earlier steps wrote the past, so its blocks are requested before the kernel waits for this layer's QKV GEMM.
// KV streams while that GEMM still runs. Only tokens of this step are read after the wait, with the query, straight to
// registers: of the row itself, and of earlier rows with the same block table. Of the last block only the slots of the past are
// fetched. Both products use tensor cores, with one query in an mma of eight columns.
//
// attention_decode_regs has two warps, which request their first block straight into registers. More of the past is in flight
// during QKV than fits in shared memory next to the GEMM's ring. It pays while all thread blocks are resident at once.
//
// Launch: grid (heads, rows in `rowOrder`), block 128 (regs: 64), dynamic shared memory stages · 4096 bytes, stages ≥ 4. Rows of
// other lengths are skipped.
#include "include/paged_kv.cuh"
#include "include/ptx.cuh"

using namespace rose;

#if __CUDA_ARCH__ >= 900 || !defined(__CUDA_ARCH__)

constexpr int HEAD = 64;
constexpr int BLOCK = 16;
constexpr int MAX_PIECES = 56;

// A KV block: 16 keys, then 16 values.
constexpr int ROW_BYTES = HEAD * 2;
constexpr int KEY_BYTES = BLOCK * ROW_BYTES;
constexpr int PIECE_BYTES = 2 * KEY_BYTES;

// A lane's mma.sync fragments in a KV block of 16 tokens: 16-byte reads of row-major K and V without bank conflicts. With g =
// lane / 4 and j = lane % 4:
//
//      keys     of the tokens g and g + 8, the 16-byte chunks j + 4 · (g odd) and j + 4 · (g even)
//      values   of the tokens j, j + 8, j + 4 and j + 12, the chunk (g + 2j) % 8
//
// QK may sum over dimensions in any order that the query shares. Odd tokens use another order than even ones. The query is stored
// in one order in odd columns, in the other in even columns, and each token reads the matching column. The rows of PV are
// dimensions, in an order that depends on j: the softmax weights of j's tokens are in column j alone.
struct FragmentOffsets {
    int key, value;  // bytes from the start of the block

    explicit __device__ __forceinline__ FragmentOffsets(int lane)
        : key(lane / 4 * ROW_BYTES + (lane % 4 ^ lane / 4 % 2 * 4) * 16),
          value(KEY_BYTES + lane % 4 * ROW_BYTES + (lane / 4 + lane % 4 * 2) % 8 * 16) {}

    // Offset of a lane's i-th 16-byte fragment, i < 4.
    __device__ __forceinline__ int key_at(int i) const { return (key ^ i % 2 * 64) + i / 2 * 8 * ROW_BYTES; }
    __device__ __forceinline__ int value_at(int i) const { return value + (i % 2 * 8 + i / 2 * 4) * ROW_BYTES; }
};

// Online softmax and PV accumulators of a warp.
template <class T>
struct PartialAttention {
    float largest = NO_SCORE;  // the same for the whole warp
    float total = 0;           // of the lane's own tokens, each present in the four lanes of a g
    float sum[4][4] = {};      // dimensions 8 · chunk + 2i and + 1 (rows g and g + 8), columns 2j and 2j + 1

    // Adds COUNT KV blocks at once, so that their dependency chains overlap. Block b has live[b] tokens. Slots beyond may hold
    // anything, even NaN; they are selected away and never multiplied by zero. key(b, i) and value(b, i) give the lane's i-th
    // fragment.
    template <int COUNT, class Key, class Value>
    __device__ __forceinline__ void add(const Key& key, const Value& value, const uint4 (&query)[2], const int (&live)[COUNT],
                                        int lane) {
        const int token = lane / 4;
        float score[COUNT][2];
        float top = largest;
#pragma unroll
        for (int b = 0; b < COUNT; b++) {
            scores(score[b], {key(b, 0), key(b, 1), key(b, 2), key(b, 3)}, query, token % 2 != 0);
#pragma unroll
            for (int i = 0; i < 2; i++) {
                score[b][i] = token + 8 * i < live[b] ? score[b][i] : NO_SCORE;
                top = fmaxf(top, score[b][i]);
            }
        }
#pragma unroll
        for (int step = 4; step < 32; step *= 2) top = fmaxf(top, __shfl_xor_sync(~0u, top, step));
        rescale(top);
#pragma unroll
        for (int b = 0; b < COUNT; b++) {
            const float lower = token < live[b] ? exp2_fast(score[b][0] - largest) : 0.f;
            const float upper = token + 8 < live[b] ? exp2_fast(score[b][1] - largest) : 0.f;
            total += lower + upper;
            uint4 v[4] = {value(b, 0), value(b, 1), value(b, 2), value(b, 3)};
            if (live[b] < BLOCK) keep(v, live[b], lane % 4);
            add_values(v, lower, upper, lane);
        }
    }

    static __device__ __forceinline__ void scores(float (&score)[2], const uint4 (&k)[4], const uint4 (&q)[2], bool odd) {
        float c[2][4] = {};  // two accumulators, to hide latency
#pragma unroll
        for (int i = 0; i < 2; i++) {
            mma_16x8x16<T>(c[i], {k[i].x, k[i + 2].x, k[i].y, k[i + 2].y}, q[i].x, q[i].y);
            mma_16x8x16<T>(c[i], {k[i].z, k[i + 2].z, k[i].w, k[i + 2].w}, q[i].z, q[i].w);
        }
        score[0] = odd ? c[0][1] + c[1][1] : c[0][0] + c[1][0];
        score[1] = odd ? c[0][3] + c[1][3] : c[0][2] + c[1][2];
    }

    static __device__ __forceinline__ void keep(uint4 (&v)[4], int live, int j) {
        const uint4 nothing = make_uint4(0, 0, 0, 0);
        v[0] = j < live ? v[0] : nothing;
        v[1] = j + 8 < live ? v[1] : nothing;
        v[2] = j + 4 < live ? v[2] : nothing;
        v[3] = j + 12 < live ? v[3] : nothing;
    }

    // Adds one token, given its key and value: the first of a block of one.
    __device__ __forceinline__ void add_token(const char* key, const char* value, const uint4 (&query)[2], int lane) {
        const uint4 nothing = make_uint4(0, 0, 0, 0);
        auto vector = [](const char* at) { return __ldcg(reinterpret_cast<const uint4*>(at)); };
        const uint4 keys[2] = {lane < 4 ? vector(key + lane * 16) : nothing, lane < 4 ? vector(key + lane * 16 + 64) : nothing};
        const uint4 values = lane % 4 == 0 ? vector(value + lane / 4 * 16) : nothing;
        add<1>([&](int, int i) { return i < 2 ? keys[i] : nothing; }, [&](int, int i) { return i < 1 ? values : nothing; }, query,
               {1}, lane);
    }

    // PV with softmax weights split in two T: the rounded weight, and the rounding error in separate columns.
    __device__ __forceinline__ void add_values(const uint4 (&v)[4], float lower, float upper, int lane) {
        const uint32_t rounded = pack2<T>(lower, upper);
        const float2 back = unpack2<T>(rounded);
        const uint32_t rest = pack2<T>(lower - back.x, upper - back.y);
        const bool restHere = lane >= 16;  // lanes 5j hold the rounded weights of j's tokens, lanes 5j + 16 the errors
        const uint32_t other = __shfl_xor_sync(~0u, restHere ? rounded : rest, 16);
        const bool here = lane / 4 % 4 == lane % 4;
        const uint32_t b0 = here ? (restHere ? other : rounded) : 0;
        const uint32_t b1 = here ? (restHere ? rest : other) : 0;
        auto pairs = [&](float(&c)[4], uint32_t v0, uint32_t v1, uint32_t v2, uint32_t v3) {
            mma_16x8x16<T>(c,
                           {__byte_perm(v0, v1, 0x5410), __byte_perm(v0, v1, 0x7632), __byte_perm(v2, v3, 0x5410),
                            __byte_perm(v2, v3, 0x7632)},
                           b0, b1);
        };
        pairs(sum[0], v[0].x, v[1].x, v[2].x, v[3].x);
        pairs(sum[1], v[0].y, v[1].y, v[2].y, v[3].y);
        pairs(sum[2], v[0].z, v[1].z, v[2].z, v[3].z);
        pairs(sum[3], v[0].w, v[1].w, v[2].w, v[3].w);
    }

    __device__ __forceinline__ void rescale(float newLargest) {
        const float factor = exp2_fast(largest - newLargest);
        largest = newLargest;
        total *= factor;
#pragma unroll
        for (int i = 0; i < 4; i++) {
#pragma unroll
            for (int e = 0; e < 4; e++) sum[i][e] *= factor;
        }
    }

    // Returns the warp's output for dimensions 8 · ((g + 4 · (j % 2)) % 8) + 4 · (j / 2) … + 3, and leaves its total in every
    // lane.
    __device__ __forceinline__ float4 join(int lane) {
#pragma unroll
        for (int step = 4; step < 32; step *= 2) total += __shfl_xor_sync(~0u, total, step);
        const bool second = lane % 4 >= 2;  // columns 4 … 7, the rounding errors
        float joined[2][2];
#pragma unroll
        for (int i = 0; i < 2; i++) {
            float column[4];
#pragma unroll
            for (int e = 0; e < 4; e++) {
                const float away = second ? sum[i][e] : sum[i + 2][e];
                column[e] = (second ? sum[i + 2][e] : sum[i][e]) + __shfl_xor_sync(~0u, away, 2);
            }
#pragma unroll
            for (int h = 0; h < 2; h++) {  // odd columns hold these dimensions two g earlier, the other two columns in lane ^ 17
                const float even = column[2 * h] + __shfl_sync(~0u, column[2 * h + 1], lane - 8 & 31);
                joined[i][h] = even + __shfl_xor_sync(~0u, even, 17);
            }
        }
        return make_float4(joined[0][0], joined[0][1], joined[1][0], joined[1][1]);
    }
};

template <class T, int WARPS, int REG_BLOCKS>
__device__ __forceinline__ void attend(const PagedAttention<T>& p, const int* rowOrder, int stages) {
    extern __shared__ __align__(128) char ring[];
    __shared__ uint64_t arrived[MAX_PIECES];
    __shared__ alignas(16) float results[WARPS][HEAD + 4];
    release_dependents();

    // Row and head of this thread block, and the row's block table.
    const int head = blockIdx.x;
    const int row = __ldg(rowOrder + blockIdx.y);
    const int warp = __shfl_sync(~0u, threadIdx.x / 32, 0);  // warp-uniform, also to the compiler
    const int lane = threadIdx.x % 32;
    const int token = __ldg(p.rowStarts + row);
    const bool decodes = __ldg(p.rowStarts + row + 1) == token + 1;
    const int context = __ldg(p.contextLengths + row);
    const int past = context - min(new_tokens(p.blockStarts, row, lane), context);  // tokens of earlier steps
    const int* list = p.blocks + __ldg(p.blockStarts + row);
    const int blocks = decodes ? (past + BLOCK - 1) / BLOCK : 0;

    // Warp w takes blocks w, w + WARPS, …: the first REG_BLOCKS in registers, the others through stages w, w + WARPS, …, which it
    // owns.
    const int depth = (stages - warp + WARPS - 1) / WARPS;
    if (lane < depth) barrier_init(&arrived[warp + WARPS * lane], 1);
    barrier_init_fence();
    __syncwarp();
    auto piece_of = [&](int id) {
        return reinterpret_cast<const char*>(p.pool) + (static_cast<size_t>(id) * p.heads + head) * PIECE_BYTES;
    };
    auto request = [&](int block, int id, int stage) {  // one lane
        const char* from = piece_of(id);
        char* to = ring + stage * PIECE_BYTES;
        const int live = past - block * BLOCK;
        if (live >= BLOCK) {
            barrier_expect(&arrived[stage], PIECE_BYTES);
            bulk_load(to, from, PIECE_BYTES, &arrived[stage]);
        } else {  // the last block: slots without a token are not read
            const int bytes = live * HEAD * 2;
            barrier_expect(&arrived[stage], 2 * bytes);
            bulk_load(to, from, bytes, &arrived[stage]);
            bulk_load(to + KEY_BYTES, from + KEY_BYTES, bytes, &arrived[stage]);
        }
    };

    // Before the wait: the first blocks into registers, the next ones into the ring.
    const int mine = warp + WARPS * lane;  // each lane fetches the id of one block
    const int id = lane < depth + REG_BLOCKS && mine < blocks ? __ldg(list + mine) : 0;
    const FragmentOffsets at(lane);
    uint4 keys[REG_BLOCKS + 1][4], values[REG_BLOCKS + 1][4];
#pragma unroll
    for (int h = 0; h < REG_BLOCKS; h++) {
        const char* from = piece_of(__shfl_sync(~0u, id, h));  // block 0 of the pool if this warp has none
#pragma unroll
        for (int i = 0; i < 4; i++) {
            keys[h][i] = load_early16(from + at.key_at(i));
            values[h][i] = load_early16(from + at.value_at(i));
        }
    }
#pragma unroll 1
    for (int i = 0; i < depth && warp + WARPS * (i + REG_BLOCKS) < blocks; i++) {
        const int next = __shfl_sync(~0u, id, i + REG_BLOCKS);
        if (elect_lane()) request(warp + WARPS * (i + REG_BLOCKS), next, warp + WARPS * i);
    }
    if (!decodes || context <= 0) {
        wait_for_predecessors();
        return;
    }
    const T* query = p.queries + (static_cast<size_t>(token) * p.heads + head) * HEAD;
    const T* newest = p.key(list, context - 1, head);
    wait_for_predecessors();

    // The query in the order of the lane's keys, and the row's own token, which the last warp takes.
    const uint4* chunks = reinterpret_cast<const uint4*>(query);
    const int chunk = lane % 4 ^ lane / 4 % 2 * 4;
    const uint4 q[2] = {__ldcg(chunks + chunk), __ldcg(chunks + (chunk ^ 4))};
    PartialAttention<T> part;
    auto add_token = [&](const T* key) {
        part.add_token(reinterpret_cast<const char*>(key), reinterpret_cast<const char*>(key + p.valueOffset()), q, lane);
    };
    if (warp == WARPS - 1) add_token(newest);
    auto add_drafted = [&] {  // the tokens of earlier rows with the same block table
#pragma unroll 1
        for (int other = past + warp; other < context - 1; other += WARPS) add_token(p.key(list, other, head));
    };
    if constexpr (REG_BLOCKS == 0) add_drafted();

    // The past: blocks in registers first; then wait for a stage, add its block, request the next one into it.
    int round = 0;
    int parity = 0;
    auto next_stage = [&] {
        int stage = warp + WARPS * round;
        barrier_wait(&arrived[stage], parity);
        if (++round == depth) round = 0, parity ^= 1;
        return stage;
    };
    auto refill = [&](int block, int stage) {
        int next = block + WARPS * depth;
        if (next < blocks && elect_lane()) request(next, __ldg(list + next), stage);
    };
    auto take = [&](int block, auto count) {
        constexpr int COUNT = decltype(count)::value;
        const char* piece[COUNT];
        int stage[COUNT];
        int live[COUNT];
#pragma unroll
        for (int b = 0; b < COUNT; b++) {
            stage[b] = next_stage();
            piece[b] = ring + stage[b] * PIECE_BYTES;
            live[b] = past - (block + b * WARPS) * BLOCK;
        }
        auto vector = [&](int b, int offset) { return *reinterpret_cast<const uint4*>(piece[b] + offset); };
        part.template add<COUNT>([&](int b, int i) { return vector(b, at.key_at(i)); },
                                 [&](int b, int i) { return vector(b, at.value_at(i)); }, q, live, lane);
        __syncwarp();
#pragma unroll
        for (int b = 0; b < COUNT; b++) refill(block + b * WARPS, stage[b]);
    };
    if constexpr (REG_BLOCKS > 0) {
        int live[REG_BLOCKS];
#pragma unroll
        for (int h = 0; h < REG_BLOCKS; h++) live[h] = past - (warp + WARPS * h) * BLOCK;
        if (warp < blocks) {
            part.template add<REG_BLOCKS>([&](int h, int i) { return keys[h][i]; }, [&](int h, int i) { return values[h][i]; }, q,
                                          live, lane);
        }
    }
    int block = warp + WARPS * REG_BLOCKS;
    if constexpr (REG_BLOCKS > 0) {  // two blocks at a time fit in registers
        for (; block + WARPS < blocks && depth > 1; block += 2 * WARPS) take(block, std::integral_constant<int, 2>());
    }
    for (; block < blocks; block += WARPS) take(block, std::integral_constant<int, 1>());

    if constexpr (REG_BLOCKS > 0) add_drafted();  // the registers are free now

    // Merge the warps' partial softmaxes; the first warp writes the output.
    const float4 joined = part.join(lane);
    if (lane % 2 == 0) *reinterpret_cast<float4*>(results[warp] + lane / 4 * 8 + lane % 4 * 2) = joined;
    if (lane == 0) {
        results[warp][HEAD] = part.largest;
        results[warp][HEAD + 1] = part.total;
    }
    __syncthreads();
    if (warp > 0) return;
    float largest = NO_SCORE;
#pragma unroll
    for (int w = 0; w < WARPS; w++) largest = fmaxf(largest, results[w][HEAD]);
    float total = 0;
    float2 sum = make_float2(0, 0);
#pragma unroll
    for (int w = 0; w < WARPS; w++) {
        float factor = exp2_fast(results[w][HEAD] - largest);
        total += results[w][HEAD + 1] * factor;
        sum.x += results[w][2 * lane] * factor;
        sum.y += results[w][2 * lane + 1] * factor;
    }
    float inverse = 1.f / total;
    T* out = panel_at(p.out, token, head * HEAD + 2 * lane, p.panelRows);
    *reinterpret_cast<uint32_t*>(out) = pack2<T>(sum.x * inverse, sum.y * inverse);
}

#define ATTEND(T, NAME, WARPS, REG_BLOCKS, BLOCKS)                                                                               \
    extern "C" __global__ void __launch_bounds__(32 * WARPS, BLOCKS)                                                             \
        attention_decode_##NAME(const T* queries, const T* pool, const int* rowStarts, const int* contextLengths,                \
                                const int* blockStarts, const int* blocks, T* out, int panelRows, int heads,                     \
                                const int* rowOrder, int stages) {                                                               \
        attend<T, WARPS, REG_BLOCKS>(                                                                                            \
            {queries, pool, rowStarts, contextLengths, blockStarts, blocks, out, panelRows, heads, heads, HEAD, BLOCK},          \
            rowOrder, stages);                                                                                                   \
    }

ATTEND(f16, f16, 4, 0, 7)
ATTEND(bf16, bf16, 4, 0, 7)
ATTEND(f16, regs_f16, 2, 1, 10)
ATTEND(bf16, regs_bf16, 2, 1, 10)

#endif

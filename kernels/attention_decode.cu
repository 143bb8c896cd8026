// Attention of decode steps (sm_90a): rows that bring exactly one token, head size 64, block size 16, f16 and bf16.
//
// One block per (head, row), four warps that take the row's KV blocks in turn. A KV block of one head is 4 KB in one piece, so it
// is fetched by one bulk copy into a ring of `stages` such pieces. Why it is fast: the past was written by earlier steps, so its
// blocks are requested before the kernel waits for the QKV GEMM of this layer, and KV streams while that GEMM still runs. Only
// the new token, whose slot in its block is still stale then, is read after the wait, with the query, straight to registers.
// Eight lanes share a token (16 bytes of it each), so reading shared memory has no bank conflicts. Of the last block only the
// slots that hold tokens are fetched.
//
// The `held` kernels request each warp's first block straight into registers, so that more of the past is under way while QKV runs
// than shared memory has room for beside the GEMM's ring. They pay while all blocks fit on the device at once; beyond that the
// others win, of which more fit on a multiprocessor.
//
// Launch: grid (heads, rows), block 128, dynamic shared memory stages · 4096 bytes, stages ≥ 4. Rows of other lengths are
// skipped.
#include "include/paged_kv.cuh"
#include "include/ptx.cuh"

using namespace rose;

#if __CUDA_ARCH__ >= 900 || !defined(__CUDA_ARCH__)

constexpr int HEAD = 64;
constexpr int BLOCK = 16;
constexpr int WARPS = 4;
constexpr int MAX_PIECES = 56;

// Keys of a block, then its values.
constexpr int KEY_BYTES = BLOCK * HEAD * 2;
constexpr int PIECE_BYTES = 2 * KEY_BYTES;

// One lane's view of a softmax-weighted sum: tokens lane / 8 + 4i, dimensions 8 · (lane % 8) … + 7.
template <class T>
struct PartialAttention {
    float largest = NO_SCORE;
    float total = 0;
    float sum[8] = {};

    // COUNT blocks of 16 tokens at once, so that their chains of arithmetic overlap; of block b, live[b] tokens are there.
    // key(b, i) and value(b, i) give the lane's 16 bytes of token lane / 8 + 4i.
    template <int COUNT, class Key, class Value>
    __device__ __forceinline__ void add(const Key& key, const Value& value, const float (&q)[8], const int (&live)[COUNT],
                                        int lane) {
        const int token = lane / 8;
        float score[COUNT][4];
        float top = largest;
#pragma unroll
        for (int b = 0; b < COUNT; b++) {
#pragma unroll
            for (int i = 0; i < 4; i++) score[b][i] = dot(key(b, i), q);
        }
        // Slots past the context may hold anything, NaN too: they are chosen away, never multiplied by zero.
#pragma unroll
        for (int b = 0; b < COUNT; b++) {
#pragma unroll
            for (int i = 0; i < 4; i++) {
                score[b][i] = sum_over_lanes<8>(score[b][i]);
                score[b][i] = token + 4 * i < live[b] ? score[b][i] : NO_SCORE;
                top = fmaxf(top, score[b][i]);
            }
        }
        rescale(top);
#pragma unroll
        for (int b = 0; b < COUNT; b++) {
#pragma unroll
            for (int i = 0; i < 4; i++) {
                const bool present = token + 4 * i < live[b];
                uint4 v = value(b, i);
                add_value(present ? v : make_uint4(0, 0, 0, 0), present ? exp2f(score[b][i] - largest) : 0.f);
            }
        }
    }

    // One more token, in registers: `k` and `v` are the lane's 16 bytes of it. The first group of lanes takes it.
    __device__ __forceinline__ void add_token(uint4 k, uint4 v, const float (&q)[8], int lane) {
        const bool mine = lane < 8;
        float score = sum_over_lanes<8>(dot(k, q));
        rescale(fmaxf(largest, mine ? score : NO_SCORE));
        add_value(v, mine ? exp2f(score - largest) : 0.f);
    }

    static __device__ __forceinline__ float dot(uint4 k, const float (&q)[8]) {
        const uint32_t pairs[4] = {k.x, k.y, k.z, k.w};
        float sum = 0;
#pragma unroll
        for (int j = 0; j < 4; j++) {
            float2 pair = unpack2<T>(pairs[j]);
            sum = fmaf(pair.x, q[2 * j], fmaf(pair.y, q[2 * j + 1], sum));
        }
        return sum;
    }

    __device__ __forceinline__ void add_value(uint4 v, float weight) {
        const uint32_t pairs[4] = {v.x, v.y, v.z, v.w};
        total += weight;
#pragma unroll
        for (int j = 0; j < 4; j++) {
            float2 pair = unpack2<T>(pairs[j]);
            sum[2 * j] = fmaf(weight, pair.x, sum[2 * j]);
            sum[2 * j + 1] = fmaf(weight, pair.y, sum[2 * j + 1]);
        }
    }

    __device__ __forceinline__ void rescale(float newLargest) {
        float factor = exp2f(largest - newLargest);
        largest = newLargest;
        total *= factor;
#pragma unroll
        for (int j = 0; j < 8; j++) sum[j] *= factor;
    }

    // Joins the four groups of tokens of a warp; afterwards every lane holds the warp's result for its dimensions.
    __device__ __forceinline__ void join_groups() {
#pragma unroll
        for (int step = 8; step < 32; step *= 2) {
            rescale(fmaxf(largest, __shfl_xor_sync(~0u, largest, step)));
            total += __shfl_xor_sync(~0u, total, step);
#pragma unroll
            for (int j = 0; j < 8; j++) sum[j] += __shfl_xor_sync(~0u, sum[j], step);
        }
    }
};

template <class T, bool HELD>
__device__ __forceinline__ void attend(const PagedAttention<T>& p, int stages) {
    extern __shared__ __align__(128) char ring[];
    __shared__ uint64_t arrived[MAX_PIECES];
    __shared__ float results[WARPS][HEAD + 2];
    release_dependents();
    const int head = blockIdx.x;
    const int row = blockIdx.y;
    const int warp = __shfl_sync(~0u, threadIdx.x / 32, 0);  // the same for the whole warp, and the compiler may know it
    const int lane = threadIdx.x % 32;
    const int token = __ldg(p.rowStarts + row);
    const bool decodes = __ldg(p.rowStarts + row + 1) == token + 1;
    const int past = __ldg(p.contextLengths + row) - 1;  // tokens before the new one
    const int* list = p.blocks + __ldg(p.blockStarts + row);
    const int blocks = decodes ? (past + BLOCK - 1) / BLOCK : 0;

    // Warp w takes the blocks w, w + 4, …: the first in registers if HELD, the others through the stages w, w + 4, …, which it
    // owns.
    constexpr int FIRST = HELD ? 1 : 0;
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
        } else {  // the last block: nothing is read of slots that hold no token
            const int bytes = live * HEAD * 2;
            barrier_expect(&arrived[stage], 2 * bytes);
            bulk_load(to, from, bytes, &arrived[stage]);
            bulk_load(to + KEY_BYTES, from + KEY_BYTES, bytes, &arrived[stage]);
        }
    };
    const int mine = warp + WARPS * lane;  // a lane fetches the id of one block, all at once
    const int id = lane < depth + FIRST && mine < blocks ? __ldg(list + mine) : 0;
    const int at = lane / 8 * HEAD * 2 + lane % 8 * 16;
    [[maybe_unused]] uint4 keys[4], values[4];
    if constexpr (HELD) {
        const char* from = piece_of(__shfl_sync(~0u, id, 0)) + at;  // block 0 of the pool, if this warp has none
#pragma unroll
        for (int i = 0; i < 4; i++) {
            keys[i] = load_early16(from + i * 4 * HEAD * 2);
            values[i] = load_early16(from + KEY_BYTES + i * 4 * HEAD * 2);
        }
    }
#pragma unroll 1
    for (int i = 0; i < depth && warp + WARPS * (i + FIRST) < blocks; i++) {
        const int next = __shfl_sync(~0u, id, i + FIRST);
        if (elect_lane()) request(warp + WARPS * (i + FIRST), next, warp + WARPS * i);
    }
    if (!decodes || past < 0) {
        wait_for_predecessors();
        return;
    }
    const T* query = p.queries + (static_cast<size_t>(token) * p.heads + head) * HEAD;
    const T* newest = p.key(list, past, head);
    wait_for_predecessors();

    const uint4 packed = __ldcg(reinterpret_cast<const uint4*>(query) + lane % 8);
    const uint4 newKey = __ldcg(reinterpret_cast<const uint4*>(newest) + lane % 8);
    const uint4 newValue = __ldcg(reinterpret_cast<const uint4*>(newest + p.valueOffset()) + lane % 8);
    const uint32_t pairs[4] = {packed.x, packed.y, packed.z, packed.w};
    float q[8];
#pragma unroll
    for (int j = 0; j < 4; j++) {
        float2 pair = unpack2<T>(pairs[j]);
        q[2 * j] = pair.x;
        q[2 * j + 1] = pair.y;
    }
    PartialAttention<T> part;
    if (warp == WARPS - 1) part.add_token(newKey, newValue, q, lane);
    int turn = 0;
    int parity = 0;
    auto next_stage = [&] {
        int stage = warp + WARPS * turn;
        barrier_wait(&arrived[stage], parity);
        if (++turn == depth) turn = 0, parity ^= 1;
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
        auto vector = [&](int b, int offset) { return *reinterpret_cast<const uint4*>(piece[b] + offset + at); };
        part.template add<COUNT>([&](int b, int i) { return vector(b, i * 4 * HEAD * 2); },
                                 [&](int b, int i) { return vector(b, KEY_BYTES + i * 4 * HEAD * 2); }, q, live, lane);
        __syncwarp();
#pragma unroll
        for (int b = 0; b < COUNT; b++) refill(block + b * WARPS, stage[b]);
    };
    if constexpr (HELD) {
        const int live[1] = {past - warp * BLOCK};
        if (warp < blocks) {
            part.template add<1>([&](int, int i) { return keys[i]; }, [&](int, int i) { return values[i]; }, q, live, lane);
        }
    }
    int block = warp + WARPS * FIRST;
    if (depth > 1) {
        for (; block + 2 * WARPS < blocks && depth > 2; block += 3 * WARPS) take(block, std::integral_constant<int, 3>());
        for (; block + WARPS < blocks; block += 2 * WARPS) take(block, std::integral_constant<int, 2>());
    }
    for (; block < blocks; block += WARPS) take(block, std::integral_constant<int, 1>());
    part.join_groups();
    if (lane < 8) {
#pragma unroll
        for (int j = 0; j < 8; j++) results[warp][lane * 8 + j] = part.sum[j];
        if (lane == 0) {
            results[warp][HEAD] = part.largest;
            results[warp][HEAD + 1] = part.total;
        }
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
        float factor = exp2f(results[w][HEAD] - largest);
        total += results[w][HEAD + 1] * factor;
        sum.x += results[w][2 * lane] * factor;
        sum.y += results[w][2 * lane + 1] * factor;
    }
    float inverse = 1.f / total;
    T* out = panel_at(p.out, token, head * HEAD + 2 * lane, p.panelRows);
    *reinterpret_cast<uint32_t*>(out) = pack2<T>(sum.x * inverse, sum.y * inverse);
}

#define ATTEND(T, NAME, HELD, BLOCKS)                                                                                          \
    extern "C" __global__ void __launch_bounds__(128, BLOCKS)                                                                  \
        attention_decode_##NAME(const T* queries, const T* pool, const int* rowStarts, const int* contextLengths,              \
                                const int* blockStarts, const int* blocks, T* out, int panelRows, int heads, int stages) {     \
        attend<T, HELD>({queries, pool, rowStarts, contextLengths, blockStarts, blocks, out, panelRows, heads, HEAD, BLOCK},   \
                        stages);                                                                                               \
    }

ATTEND(f16, f16, false, 8)
ATTEND(bf16, bf16, false, 8)
ATTEND(f16, held_f16, true, 6)
ATTEND(bf16, held_bf16, true, 6)

#endif

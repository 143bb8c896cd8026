// Prefill attention on Hopper: rows of many tokens, causal, over paged K and V; pages of 16 tokens, head size 64 or 128, MHA and
// GQA, sliding windows, f16 and bf16.
//
// A block has WARPGROUPS consumer warpgroups of 64 queries each, and a producer warpgroup. A query is a (token, head): a tile packs
// 2^packShift heads of one KV head, so that they share its keys and values. Two warps copy K and two copy V, KEYS tokens at a time,
// page by page through a tensor map, into rings in shared memory, in the 128-byte swizzle; one of them copies the queries. Both
// products are wgmma: scores from shared memory, then weights from registers times V, transposed by its descriptor.
//
// Why it is fast: a key tile's scores are computed while the previous one's values are added, producers run ahead, and registers
// move from the producers to the consumers. Accumulators are rescaled only if a query's maximum score has grown by more than
// PATIENCE. Query tiles are taken longest first; every other round runs backwards, so blocks come out even. Two warpgroups take
// their queries from both ends of a row, for the same reason, and long key tiles: alone on its SM, a warpgroup waits most.
//
// A query visits key tiles in order, from multiples of KEYS, whatever tile it is in. So with KEYS of one length its bits depend on
// neither the batch, nor chunking, nor WARPGROUPS and packShift.
//
// Pages past the context arrive as zeros, and values past it in the last page are cleared. Masked keys have weight 0, and 0 · ∞ is
// NaN. So a warp with non-finite accumulators recomputes its queries key by key: a query never sees a value after it. Only damaged
// or overflowing weights produce such accumulators.
//
// An fp8 pool is first widened to T by attention_prefill_wgmma_widen, whose launch precedes: page i of the step's block tables goes to
// page i of `wide`, for rows that this kernel attends. Here `blocks` then lists 0, 1, 2 …
//
// Launch: grid BLOCKS · min(SMs, tiles), tiles up to heads / 2^packShift · (⌊tokens / height⌋ + rows) of height =
// 64 · WARPGROUPS / 2^packShift tokens; block 128 · (WARPGROUPS + 1); dynamic shared memory 1024 + (64 · WARPGROUPS +
// 2 · STAGES · KEYS) · head size · 2 bytes. heads / kvHeads is a multiple of 2^packShift.
#include "include/attend_token.cuh"
#include "include/prefill_tiles.cuh"
#include "include/ptx.cuh"
#include "include/wgmma.cuh"

using namespace rose;

constexpr int PAGE = 16;
constexpr int GROUP_ROWS = 64;  // queries of a warpgroup
constexpr float PATIENCE = 8;   // a logarithm: weights stay below 2^PATIENCE

template <class T>
__device__ __forceinline__ void widen_pages(const fp8* pool, const int* rowStarts, const int* contextLengths,
                                            const int* blockStarts, const int* blocks, T* wide, int pageSize,
                                            bool skipDecodeRows) {
    const int row = blockIdx.y;
    const int tokens = __ldg(rowStarts + row + 1) - __ldg(rowStarts + row);
    const int start = __ldg(blockStarts + row);
    const unsigned parts = pageSize / 16;
    const unsigned count = tokens > (skipDecodeRows ? 1 : 0) ? (__ldg(contextLengths + row) + PAGE - 1) / PAGE * parts : 0;
    wait_for_predecessors();
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        const unsigned page = i / parts, part = i - page * parts;
        const size_t from = static_cast<size_t>(__ldg(blocks + start + page)) * pageSize + part * 16;
        const uint4 narrow = __ldcg(reinterpret_cast<const uint4*>(pool + from));
        const uint32_t words[4] = {narrow.x, narrow.y, narrow.z, narrow.w};
        uint32_t pairs[8];
#pragma unroll
        for (int w = 0; w < 8; w++) {
            const uint32_t two = widen2(static_cast<uint16_t>(words[w / 2] >> w % 2 * 16));
            if constexpr (std::is_same_v<T, f16>) {
                pairs[w] = two;
            } else {
                const float2 both = unpack2<f16>(two);
                pairs[w] = pack2<T>(both.x, both.y);
            }
        }
        uint4* to = reinterpret_cast<uint4*>(wide + static_cast<size_t>(start + page) * pageSize + part * 16);
        to[0] = make_uint4(pairs[0], pairs[1], pairs[2], pairs[3]);
        to[1] = make_uint4(pairs[4], pairs[5], pairs[6], pairs[7]);
    }
}

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

template <class T, int HEAD, int KEYS, int STAGES, int WARPGROUPS, int BLOCKS>
struct Prefill {
    static constexpr bool PAIRED = WARPGROUPS == 2;
    static constexpr int PRODUCER_REGISTERS = WARPGROUPS == 1 ? 40 : WARPGROUPS == 3 && HEAD == 64 ? 32 : 56;
    static constexpr int CONSUMER_REGISTERS = WARPGROUPS == 1 ? 216 : WARPGROUPS == 2 ? 224 : HEAD == 64 ? 160 : 152;
    static constexpr int PANELS = HEAD / 64;
    static constexpr int PANEL = KEYS * 128;  // bytes of 64 dimensions of a key tile
    static constexpr int TILE = PANELS * PANEL;
    static constexpr int QUERY_PANEL = GROUP_ROWS * 128;
    static constexpr int QUERIES = WARPGROUPS * PANELS * QUERY_PANEL;
    static constexpr int PAGES = KEYS / PAGE;  // of a key tile
    static constexpr int COPIES = PAGES * PANELS / 2;  // of a key tile by each of two warps
    static constexpr int SHARED = 1024 + QUERIES + 2 * STAGES * TILE;
    static_assert(SHARED <= (BLOCKS == 2 ? 113 * 1024 : 227 * 1024) - 1024, "shared memory of an SM");
    static_assert(COPIES <= 32, "a lane per copy");

    // The queries of a block and the key tiles that they see. Warpgroup g has the tokens from first + g · step on.
    struct Work {
        int row;  // -1 past the last tile
        int unit, first, step, start, length, past, firstTile, tiles;

        __device__ __forceinline__ int context() const { return past + length; }
    };

    struct Shared {
        uint64_t queriesFull, queriesEmpty;
        uint64_t keysFull[STAGES], keysEmpty[STAGES], valuesFull[STAGES], valuesEmpty[STAGES];
        Work work;  // arrives with the queries
    };

    const PagedAttention<T>& p;
    const void* poolMap;
    const void* queryMap;
    int poolRow;
    int rows;
    bool skipDecodeRows;
    int window;
    int packShift;
    Shared& shared;
    uint32_t queries, keys, values;  // shared addresses

    __device__ __forceinline__ int group_tokens() const { return GROUP_ROWS >> packShift; }

    // The first key tile that a consumer warpgroup sees, and the end of its last one, 0 if it has no query.
    __device__ __forceinline__ int first_tile_of(const Work& work, int group) const {
        return max(0, work.past + work.first + group * work.step + 1 - window) / KEYS;
    }
    __device__ __forceinline__ int tiles_of(const Work& work, int group) const {
        const int first = work.first + group * work.step;
        return first < work.length ? (work.past + min(first + group_tokens(), work.length) + KEYS - 1) / KEYS : 0;
    }

    __device__ __forceinline__ Work work_of(int round, int lane) const {
        const int width = gridDim.x / BLOCKS;
        const int lap = round * BLOCKS + blockIdx.x / width;
        const int place = blockIdx.x % width;
        const int index = lap * width + (lap % 2 ? width - 1 - place : place);
        const int units = p.heads >> packShift;
        const int height = WARPGROUPS * group_tokens();
        const TokenTile tile =
            find_latest_tile(p.rowStarts, p.contextLengths, rows, height, index / units, skipDecodeRows, lane);
        Work work;
        work.row = tile.row;
        if (tile.row < 0) return work;
        work.unit = index % units;
        work.start = __ldg(p.rowStarts + tile.row);
        work.length = __ldg(p.rowStarts + tile.row + 1) - work.start;
        work.past = __ldg(p.contextLengths + tile.row) - work.length;
        work.first = PAIRED ? tile.first / 2 : tile.first;
        work.step = group_tokens();
        if (PAIRED) {
            const int last = (work.length - 1) / group_tokens() * group_tokens() - work.first;  // of the second warpgroup
            work.step = last > work.first ? last - work.first : work.length;
        }
        work.firstTile = first_tile_of(work, 0);
        work.tiles = 0;
#pragma unroll
        for (int g = 0; g < WARPGROUPS; g++) work.tiles = max(work.tiles, tiles_of(work, g));
        return work;
    }

    // ---- Producers ----

    // By two warps for keys and two for values, each for half of a tile: each lane copies 64 dimensions of a page.
    template <bool VALUES>
    __device__ __forceinline__ void produce(int half, int lane) const {
        uint64_t* const full = VALUES ? shared.valuesFull : shared.keysFull;
        uint64_t* const empty = VALUES ? shared.valuesEmpty : shared.keysEmpty;
        const int copy = half * COPIES + lane;
        const int page = copy / PANELS;
        const int panel = copy % PANELS;
        const bool copies = lane < COPIES;
        const uint32_t offset = panel * PANEL + page * (PAGE * 128);
        const int share = p.heads / p.kvHeads >> packShift;  // units of a KV head
        RingPosition<STAGES> stage;
        int parity = 0;
        for (int round = 0;; round++) {
            const Work work = work_of(round, lane);
            auto hand_over = [&] {
                if (!VALUES || half == 0) return;
                barrier_wait(&shared.queriesEmpty, parity ^ 1);
                parity ^= 1;
                load_queries(work, lane);
            };
            if (work.row < 0) {
                hand_over();
                break;
            }
            const int* list = p.blocks + __ldg(p.blockStarts + work.row);
            const int head = poolRow + work.unit / share * (2 * PAGE) + (VALUES ? PAGE : 0);
            // The pool's row of the lane's page; pages past the context are read as zeros, before the pool.
            auto row_of = [&](int tile) {
                const int index = tile * PAGES + page;
                if (!copies || index * PAGE >= work.context()) return -4 * PAGE;
                return head + __ldg(list + index) * (p.kvHeads * 2 * PAGE);
            };
            int row = row_of(work.firstTile);
            int next = row_of(work.firstTile + 1);
            if (round == 0) wait_for_predecessors();
            hand_over();
            for (int tile = work.firstTile; tile < work.tiles; tile++) {
                const int afterNext = row_of(tile + 2);
                barrier_wait(&empty[stage.index], stage.parity ^ 1);
                if (lane == 0) barrier_expect(&full[stage.index], TILE / 2);
                __syncwarp();
                const uint32_t to = (VALUES ? values : keys) + stage.index * TILE + offset;
                if (copies) tensor_load(to, poolMap, panel * 64, row, &full[stage.index]);
                stage.advance();
                row = next, next = afterNext;
            }
        }
    }

    // Hands the work to the consumers, with its queries.
    __device__ __forceinline__ void load_queries(const Work& work, int lane) const {
        if (lane == 0) {
            shared.work = work;
            if (work.row < 0) barrier_arrive(&shared.queriesFull);
            else barrier_expect(&shared.queriesFull, QUERIES);
        }
        __syncwarp();
        if (work.row < 0 || lane >= WARPGROUPS * PANELS) return;
        const int group = lane / PANELS;
        const int token = work.start + work.first + group * work.step;
        tensor_load(queries + lane * QUERY_PANEL, queryMap, lane % PANELS * 64, work.unit << packShift, token, &shared.queriesFull);
    }

    // ---- Consumers ----

    // Online softmax of a thread's two queries.
    struct RunningSoftmax {
        float largest[2] = {NO_SCORE, NO_SCORE};
        float total[2] = {0, 0};  // of this thread's keys
        float factor[2];          // for what was summed before

        // Returns whether accumulators need the factor. Depends on every weight, so that a branch on it comes after them: the compiler
        // moves a wait for products ahead of other arithmetic.
        __device__ __forceinline__ bool rescales() const {
            return factor[0] != 1.f || factor[1] != 1.f || total[0] + total[1] < 0;
        }

        // Replaces a tile's scores with softmax weights.
        __device__ __forceinline__ void weigh(float (&score)[KEYS / 2]) {
#pragma unroll
            for (int half = 0; half < 2; half++) {
                float m[4];
#pragma unroll
                for (int j = 0; j < KEYS / 8; j++) {
                    const float top = fmaxf(score[4 * j + 2 * half], score[4 * j + 2 * half + 1]);
                    m[j % 4] = j < 4 ? top : fmaxf(m[j % 4], top);
                }
                float top = fmaxf(fmaxf(m[0], m[1]), fmaxf(m[2], m[3]));
                top = fmaxf(top, __shfl_xor_sync(~0u, top, 1));
                top = fmaxf(top, __shfl_xor_sync(~0u, top, 2));
                top = top > largest[half] + PATIENCE ? top : largest[half];
                factor[half] = exp2_fast(largest[half] - top);
                largest[half] = top;
            }
#pragma unroll
            for (int half = 0; half < 2; half++) {
                float t[4] = {total[half] * factor[half], 0, 0, 0};
#pragma unroll
                for (int j = 0; j < KEYS / 8; j++) {
                    float* s = score + 4 * j + 2 * half;
                    s[0] = exp2_fast(s[0] - largest[half]);
                    s[1] = exp2_fast(s[1] - largest[half]);
                    t[j % 2 * 2] += s[0], t[j % 2 * 2 + 1] += s[1];
                }
                total[half] = (t[0] + t[1]) + (t[2] + t[3]);
            }
        }
    };

    // Hides keys after a thread's two queries, and those `window` tokens or more before them.
    __device__ __forceinline__ void mask(float (&score)[KEYS / 2], const Work& work, int first, int tile, int warp,
                                         int lane) const {
        const int earliest = work.past + first;  // of the warpgroup
        const int latest = earliest + group_tokens() - 1;
        const bool causal = (tile + 1) * KEYS - 1 > earliest;
        const bool windowed = latest - tile * KEYS >= window;
        if (!causal && !windowed) return;
#pragma unroll
        for (int half = 0; half < 2; half++) {
            const int row = warp * 16 + lane / 4 + 8 * half;
            const int token = min(earliest + (row >> packShift), work.context() - 1);  // past the row's end: anything finite
            const int own = token - tile * KEYS - lane % 4 * 2;
            const int hidden = windowed ? own - window : -1;  // the last one
#pragma unroll
            for (int j = 0; j < KEYS / 8; j++) {
#pragma unroll
                for (int i = 0; i < 2; i++) {
                    if (8 * j + i > own || 8 * j + i <= hidden) score[4 * j + 2 * half + i] = -INFINITY;
                }
            }
        }
    }

    __device__ __forceinline__ void consume(int group) const {
        const int lane = threadIdx.x % 32;
        const int warp = __shfl_sync(~0u, threadIdx.x % 128 / 32, 0);
        const uint64_t query = tile_descriptor(queries + group * PANELS * QUERY_PANEL);
        const uint64_t key = tile_descriptor(keys);
        const uint64_t value = tile_descriptor_by_rows(values, PANEL);
        auto release = [&](uint64_t* empty) {
            if (lane == 0) barrier_arrive(empty);
        };
        RingPosition<STAGES> k, v;
        int queriesParity = 0;
        wait_for_predecessors();
        for (;;) {
            barrier_wait(&shared.queriesFull, queriesParity);
            queriesParity ^= 1;
            const Work work = shared.work;
            if (work.row < 0) break;
            const int tiles = tiles_of(work, group);
            const int firstTile = WARPGROUPS > 1 ? min(first_tile_of(work, group), work.tiles) : work.firstTile;
            const int first = work.first + group * work.step;
            // Passes key tiles that only other warpgroups see.
            auto skip = [&](int from, int to) {
                for (int tile = from; tile < to; tile++) {
                    barrier_wait(&shared.keysFull[k.index], k.parity);
                    release(&shared.keysEmpty[k.index]);
                    k.advance();
                    barrier_wait(&shared.valuesFull[v.index], v.parity);
                    release(&shared.valuesEmpty[v.index]);
                    v.advance();
                }
            };
            skip(work.firstTile, firstTile);
            if (tiles == 0) {
                __syncwarp();  // every lane has read the work
                release(&shared.queriesEmpty);
            } else {
                float score[KEYS / 2];
                float sum[HEAD / 2];
                uint32_t weight[KEYS / 4];
                RunningSoftmax softmax;
                auto multiply_keys = [&] {
                    const uint64_t b = key + k.index * (TILE / 16);
#pragma unroll
                    for (int i = 0; i < HEAD / 16; i++) {
                        const uint64_t qi = query + i / 4 * (QUERY_PANEL / 16) + i % 4 * 2;
                        const uint64_t ki = b + i / 4 * (PANEL / 16) + i % 4 * 2;
                        if (i == 0) Wgmma<T, KEYS>::template multiply<0>(score, qi, ki);
                        else Wgmma<T, KEYS>::template multiply<1>(score, qi, ki);
                    }
                    wgmma_commit();
                };
                auto multiply_values = [&] {
                    const uint64_t b = value + v.index * (TILE / 16);
                    wgmma_fence();
#pragma unroll
                    for (int i = 0; i < KEYS / 16; i++) {
                        WgmmaByRows<T, HEAD>::multiply(sum, weight + 4 * i, b + i * (PAGE * 128 / 16));
                    }
                    wgmma_commit();
                };
                auto pack = [&] {
#pragma unroll
                    for (int i = 0; i < KEYS / 4; i++) weight[i] = pack2<T>(score[2 * i], score[2 * i + 1]);
                };

                barrier_wait(&shared.keysFull[k.index], k.parity);
                wgmma_fence();
                multiply_keys();
#pragma unroll
                for (int i = 0; i < HEAD / 2; i++) sum[i] = 0;
                wgmma_wait_for(score);
                if (firstTile + 1 == tiles) release(&shared.queriesEmpty);
                release(&shared.keysEmpty[k.index]);
                k.advance();
                mask(score, work, first, firstTile, warp, lane);
                softmax.weigh(score);
                pack();
                for (int tile = firstTile + 1; tile < tiles; tile++) {
                    barrier_wait(&shared.keysFull[k.index], k.parity);
                    wgmma_pin(score), wgmma_pin(sum), wgmma_pin(weight);
                    wgmma_fence();
                    multiply_keys();
                    barrier_wait(&shared.valuesFull[v.index], v.parity);
                    multiply_values();
                    wgmma_wait<1>();
                    wgmma_pin(score);
                    if (tile + 1 == tiles) release(&shared.queriesEmpty);
                    release(&shared.keysEmpty[k.index]);
                    k.advance();
                    mask(score, work, first, tile, warp, lane);
                    const int used = v.index;
                    v.advance();
                    auto add_up = [&] {
                        wgmma_wait<0>();
                        wgmma_pin(sum), wgmma_pin(weight);
                        release(&shared.valuesEmpty[used]);
                    };
                    softmax.weigh(score);
                    if (__any_sync(~0u, softmax.rescales())) {
                        add_up();
#pragma unroll
                        for (int i = 0; i < HEAD / 2; i++) sum[i] *= softmax.factor[i / 2 % 2];
                    } else {
                        add_up();
                    }
                    pack();
                }
                barrier_wait(&shared.valuesFull[v.index], v.parity);
                if (tiles * KEYS > work.context()) clear_values(work, tiles - 1, group, v);
                wgmma_pin(sum), wgmma_pin(weight);
                multiply_values();
                wgmma_wait_for(sum);
                wgmma_pin(weight);
                release(&shared.valuesEmpty[v.index]);
                v.advance();
                store(work, first, sum, softmax, warp, lane);
            }
            skip(max(tiles, firstTile), work.tiles);
        }
    }

    // Zeroes the values after the context in its last page, which may be NaN. Other warpgroups may write the same.
    __device__ __forceinline__ void clear_values(const Work& work, int tile, int group, const RingPosition<STAGES>& v) const {
        if (work.context() % PAGE == 0) return;
        const int page = (work.context() - tile * KEYS) / PAGE;
        const int token = threadIdx.x % 128 / 8;
        if (token >= work.context() % PAGE) {
#pragma unroll
            for (int panel = 0; panel < PANELS; panel++) {
                const int row = page * PAGE + token;
                const uint32_t at = values + v.index * TILE + panel * PANEL + row * 128 + threadIdx.x % 8 * 16;
                asm volatile("st.shared.v4.b32 [%0], {%1, %1, %1, %1};" ::"r"(at), "r"(0) : "memory");
            }
        }
        fence_async_proxy();
        named_barrier(1 + group, 128);
    }

    __device__ __forceinline__ void store(const Work& work, int first, const float (&sum)[HEAD / 2], const RunningSoftmax& softmax,
                                          int warp, int lane) const {
        float zero[4] = {};
#pragma unroll
        for (int i = 0; i < HEAD / 2; i++) zero[i % 4] = fmaf(sum[i], 0.f, zero[i % 4]);
        if (__any_sync(~0u, zero[0] + zero[1] + (zero[2] + zero[3]) != 0)) {
            recompute(work, first, warp);
            return;
        }
#pragma unroll
        for (int half = 0; half < 2; half++) {
            const float all = sum_over_lanes<4>(softmax.total[half]);
            const float inverse = all > 0 ? 1.f / all : 0.f;
            const int row = warp * 16 + lane / 4 + 8 * half;
            const int token = first + (row >> packShift);
            const int head = (work.unit << packShift) + (row & ((1 << packShift) - 1));
#pragma unroll
            for (int i = 0; i < HEAD / 32; i++) {
                uint32_t four[4];
#pragma unroll
                for (int c = 0; c < 4; c++) {
                    const float* s = sum + 16 * i + 4 * c + 2 * half;
                    four[c] = pack2<T>(s[0] * inverse, s[1] * inverse);
                }
                transpose_quad(four);
                T* out = panel_at(p.out, work.start + token, head * HEAD + 32 * i + lane % 4 * 8, p.panelRows);
                if (token < work.length) *reinterpret_cast<uint4*>(out) = make_uint4(four[0], four[1], four[2], four[3]);
            }
        }
    }

    __device__ __forceinline__ void recompute(const Work& work, int first, int warp) const {
        const int* list = p.blocks + __ldg(p.blockStarts + work.row);
        for (int row = warp * 16; row < warp * 16 + 16; row++) {
            const int token = first + (row >> packShift);
            const int head = (work.unit << packShift) + (row & ((1 << packShift) - 1));
            const int seen = work.past + token + 1;
            if (token < work.length) attend_token(p, list, work.start + token, head, max(0, seen - window), seen);
        }
    }
};

template <class T, int HEAD, int KEYS, int STAGES, int WARPGROUPS, int BLOCKS>
__device__ __forceinline__ void attend(const PagedAttention<T>& p, const void* poolMap, const void* queryMap, int poolRow, int rows,
                                       bool skipDecodeRows, int window, int packShift) {
    using Block = Prefill<T, HEAD, KEYS, STAGES, WARPGROUPS, BLOCKS>;
    extern __shared__ char dynamic[];
    __shared__ typename Block::Shared shared;
    release_dependents();
    if (threadIdx.x == 0) {
        barrier_init(&shared.queriesFull, 1);
        barrier_init(&shared.queriesEmpty, 4 * WARPGROUPS);
        for (int i = 0; i < STAGES; i++) {
            barrier_init(&shared.keysFull[i], 2);
            barrier_init(&shared.keysEmpty[i], 4 * WARPGROUPS);
            barrier_init(&shared.valuesFull[i], 2);
            barrier_init(&shared.valuesEmpty[i], 4 * WARPGROUPS);
        }
        barrier_init_fence();
        prefetch_map(poolMap);
        prefetch_map(queryMap);
    }
    __syncthreads();
    const uint32_t queries = (shared_address(dynamic) + 1023) & ~1023u;
    const uint32_t keys = queries + Block::QUERIES;
    const Block block{p,         poolMap, queryMap, poolRow, rows, skipDecodeRows, window, packShift, shared, queries, keys,
                      keys + STAGES * Block::TILE};
    const int group = __shfl_sync(~0u, threadIdx.x / 128, 0);
    if (group == WARPGROUPS) {
        lower_registers<Block::PRODUCER_REGISTERS>();
        const int thread = threadIdx.x % 128;
        const int warp = __shfl_sync(~0u, thread / 32, 0);
        if (warp % 2 == 0) block.template produce<false>(warp / 2, thread % 32);
        else block.template produce<true>(warp / 2, thread % 32);
    } else {
        raise_registers<Block::CONSUMER_REGISTERS>();
        block.consume(group);
    }
}

#endif

#define ATTEND(T, HEAD, KEYS, STAGES, WARPGROUPS, BLOCKS)                                                                       \
    extern "C" __global__ void __launch_bounds__(128 * (WARPGROUPS + 1), BLOCKS)                                                \
        attention_prefill_wgmma_##HEAD##_w##WARPGROUPS##_##T(                                                                   \
            const T* queries, const T* pool, const int* rowStarts, const int* contextLengths, const int* blockStarts,           \
            const int* blocks, T* out, int panelRows, int heads, const void* poolMap, const void* queryMap, int poolRow, int kvHeads, int rows,       \
            int skipDecodeRows, int window, int packShift) {                                                                    \
        const PagedAttention<T> p{queries, pool,      rowStarts, contextLengths, blockStarts, blocks,                           \
                                  out,     panelRows, heads,     kvHeads,        HEAD,        PAGE};                            \
        attend<T, HEAD, KEYS, STAGES, WARPGROUPS, BLOCKS>(p, poolMap, queryMap, poolRow, rows, skipDecodeRows != 0, window, packShift);   \
    }

#define ATTEND_ALL(T)           \
    ATTEND(T, 64, 128, 2, 1, 2) \
    ATTEND(T, 64, 128, 3, 3, 1) \
    ATTEND(T, 128, 64, 2, 1, 2) \
    ATTEND(T, 128, 128, 2, 2, 1) \
    ATTEND(T, 128, 64, 4, 3, 1)

// Widening: grid (any, rows), block 256. A thread has 16 elements at a time. `pageSize`: elements of a page, a multiple of 16.
#define WIDEN(T)                                                                                                                \
    extern "C" __global__ void __launch_bounds__(256) attention_prefill_wgmma_widen_##T(                                        \
        const fp8* pool, const int* rowStarts, const int* contextLengths, const int* blockStarts, const int* blocks, T* wide,   \
        int pageSize, int skipDecodeRows) {                                                                                     \
        release_dependents();                                                                                                   \
        widen_pages(pool, rowStarts, contextLengths, blockStarts, blocks, wide, pageSize, skipDecodeRows != 0);                 \
    }

WIDEN(f16)
WIDEN(bf16)

ATTEND_ALL(f16)
ATTEND_ALL(bf16)

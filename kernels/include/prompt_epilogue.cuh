#pragma once
// Epilogues of the prompt GEMM (gemm_prompt.cuh), straight from wgmma accumulators.
//
// A chunk is 64 rows by 64 columns of a warpgroup, 32 values per thread, bias added and norm applied. With q = lane % 4, value
//      v[4j + 2h + i]   is at row m + 8h, column n + 8j + 2q + i;   m is the thread's first row, n the chunk's first column.
//
// `rows` fills a RowContext before the products of a tile (step inputs). `load` fills a chunk's Context some steps before the
// accumulators are complete (what kernels before this one wrote, and tables); `store` ends the chunk. With ROTATES `rotate` precedes
// it. The Context is for `store` with LOADS, else for `rotate`. All lanes of a warp call them: they shuffle.
#include "epilogue.cuh"

namespace rose {

struct Bounds {
    int rows;
    int columns;
};

struct Nothing {};

// Loads of step inputs and tables, which stay where they are in program order among asm statements.
__device__ __forceinline__ int load_input(const int* from) {
    int v;
    asm volatile("ld.global.nc.s32 %0, [%1];" : "=r"(v) : "l"(from) : "memory");
    return v;
}

__device__ __forceinline__ float2 load_table2(const float* from) {
    float2 v;
    asm volatile("ld.global.nc.v2.f32 {%0, %1}, [%2];" : "=f"(v.x), "=f"(v.y) : "l"(from) : "memory");
    return v;
}

// Returns eight consecutive columns of row m + 8h in T: n + 32g + 8q and on.
template <class T>
__device__ __forceinline__ uint4 pack8(const float (&v)[32], int g, int h) {
    uint32_t p[4];
#pragma unroll
    for (int c = 0; c < 4; c++) p[c] = pack2<T>(v[16 * g + 4 * c + 2 * h], v[16 * g + 4 * c + 2 * h + 1]);
    transpose_quad(p);
    return make_uint4(p[0], p[1], p[2], p[3]);
}

// The same in fp8.
__device__ __forceinline__ uint2 pack8_fp8(const float (&v)[32], int g, int h) {
    uint32_t p[4];
#pragma unroll
    for (int c = 0; c < 4; c++) p[c] = narrow2(v[16 * g + 4 * c + 2 * h], v[16 * g + 4 * c + 2 * h + 1]);
    transpose_quad(p);
    return make_uint2(p[0] | p[1] << 16, p[2] | p[3] << 16);
}

// ---- QKV ---------------------------------------------------------------------------------------------------------------------
// QKV epilogue of prompts: StoreQkvRope, or StoreQkv if kvWidth = width and table and raw are null.
template <class T, class KV, bool RMS_NORM>
struct PromptQkv {
    static constexpr bool RMS = RMS_NORM;
    static constexpr bool NORM = true;
    static constexpr bool QK_NORM = false;
    static constexpr bool ROTATES = true;
    static constexpr bool LOADS = false;
    T* queries;  // [rows][width]
    T* raw;
    KV* pool;
    const int* slots;
    const int* positions;    // unread without a table
    const float* ropeTable;  // [positions][headPad]; null: no RoPE
    int width;
    int kvWidth;
    int headPad;
    int blockSize;
    float queryScale;

    struct RowContext {
        int slot[2];
        int position[2];
    };
    struct Context {
        float2 cosSin[16];
    };
    __device__ __forceinline__ bool rotates() const { return ropeTable != nullptr && raw == nullptr; }
    // Whether every second chunk has the same Context.
    __device__ __forceinline__ bool repeats() const { return headPad == 64 || headPad == 128; }

    __device__ __forceinline__ void rows(RowContext& r, int m, Bounds bounds) const {
#pragma unroll
        for (int h = 0; h < 2; h++) {
            const bool live = m + 8 * h < bounds.rows;
            r.slot[h] = live ? load_input(slots + m + 8 * h) : -1;
            r.position[h] = live && rotates() ? load_input(positions + m + 8 * h) : 0;
        }
    }
    __device__ __forceinline__ void load(Context& c, const RowContext& r, int, int n, Bounds) const {
        if (raw != nullptr || n >= width + kvWidth) return;
        if (ropeTable == nullptr) {
#pragma unroll
            for (int i = 0; i < 16; i++) c.cosSin[i] = make_float2(1.f, 0.f);
            return;
        }
        const float* row[2];
#pragma unroll
        for (int h = 0; h < 2; h++) row[h] = ropeTable + static_cast<size_t>(r.position[h]) * headPad + threadIdx.x % 4 * 2;
        int at = static_cast<unsigned>(n) % static_cast<unsigned>(headPad);
#pragma unroll
        for (int j = 0; j < 8; j++) {
#pragma unroll
            for (int h = 0; h < 2; h++) c.cosSin[2 * j + h] = load_table2(row[h] + at);
            at += 8;
            if (at >= headPad) at -= headPad;
        }
    }
    // Rotates and scales queries and keys in place. Sections begin at multiples of 16 columns.
    __device__ __forceinline__ void rotate(const Context& c, float (&v)[32], int n) const {
        if (raw != nullptr) return;
#pragma unroll
        for (int j = 0; j < 8; j++) {
            if (n + 8 * j >= width + kvWidth) return;
            const float scale = n + 8 * j < width ? queryScale : 1.f;
#pragma unroll
            for (int h = 0; h < 2; h++) {
                const float cosine = c.cosSin[2 * j + h].x * scale;
                const float sine = c.cosSin[2 * j + h].y * scale;
                float &a = v[4 * j + 2 * h], &b = v[4 * j + 2 * h + 1];
                const float first = fmaf(a, cosine, -b * sine);
                b = fmaf(b, cosine, a * sine);
                a = first;
            }
        }
    }
    __device__ __forceinline__ void store(const Context&, const RowContext& r, float (&v)[32], int m, int n,
                                          Bounds bounds) const {
        const int pooled = raw != nullptr ? width + kvWidth : width;  // first column stored in the pool
        const int last = width + 2 * kvWidth;
        if (n >= last) return;
        T* toRow = (raw != nullptr ? raw : queries) + static_cast<size_t>(m) * pooled + n + threadIdx.x % 4 * 8;
        const bool live[2] = {m < bounds.rows, m + 8 < bounds.rows};
        KV* toSlot[2] = {pool, pool};
        if (n + 64 > pooled) {  // the first head's keys of the slot
            const unsigned heads = static_cast<unsigned>(kvWidth) / static_cast<unsigned>(headPad);
#pragma unroll
            for (int h = 0; h < 2; h++) {
                const unsigned slot = max(r.slot[h], 0), block = slot / static_cast<unsigned>(blockSize);
                toSlot[h] += (static_cast<size_t>(block) * heads * 2 * blockSize + slot - block * blockSize) * headPad;
            }
        }
#pragma unroll
        for (int g = 0; g < 2; g++) {
            const int first = n + 32 * g;
            const int mine = first + threadIdx.x % 4 * 8;
            const bool isPooled = mine >= pooled;
            const bool isValue = mine >= width + kvWidth;
            size_t inSlot = 0;
            if (first + 32 > pooled) {
                const unsigned column = max(mine - width - (isValue ? kvWidth : 0), 0);
                const unsigned head = column / static_cast<unsigned>(headPad);
                inSlot = static_cast<size_t>(2 * head + isValue) * blockSize * headPad + column - head * headPad;
            }
#pragma unroll
            for (int h = 0; h < 2; h++) {
                T* const row = toRow + static_cast<size_t>(8 * h) * pooled + 32 * g;
                const bool stored = live[h] && mine < last && (!isPooled || r.slot[h] >= 0);
                if constexpr (std::is_same_v<T, KV>) {
                    const uint4 packed = pack8<T>(v, g, h);
                    if (stored) *reinterpret_cast<uint4*>(isPooled ? toSlot[h] + inSlot : row) = packed;
                } else {
                    if (first < pooled) {
                        const uint4 packed = pack8<T>(v, g, h);
                        if (stored && !isPooled) *reinterpret_cast<uint4*>(row) = packed;
                    }
                    if (first + 32 > pooled) {
                        const uint2 packed = pack8_fp8(v, g, h);
                        if (stored && isPooled) *reinterpret_cast<uint2*>(toSlot[h] + inSlot) = packed;
                    }
                }
            }
        }
    }
};

// QKV epilogue of prompts with QK norm (head_norm.cuh) of the accumulators; heads of 64 or 128, whole in a tile.
template <class T, class KV>
struct PromptQkvNorm : PromptQkv<T, KV, true> {
    using Base = PromptQkv<T, KV, true>;
    static constexpr bool QK_NORM = true;
    const float* normWeights;  // [2][headPad]: the query norm's, then the key norm's
    int headSize;              // unpadded
    float normEpsilon;

    __device__ __forceinline__ bool repeats() const { return true; }
    // Returns the weight of column n, 0 of a value's.
    __device__ __forceinline__ float head_weight(int n) const {
        if (n >= Base::width + Base::kvWidth) return 0.f;
        const int inHead = static_cast<unsigned>(n) % static_cast<unsigned>(Base::headPad);
        return __ldg(normWeights + (n < Base::width ? 0 : Base::headPad) + inHead);
    }
    // Normalizes the query and key heads in chunks from column n on, in place.
    template <int CHUNKS>
    __device__ __forceinline__ void normalize(float* d, const float* weights, int n) const {
        static_assert(CHUNKS % 2 == 0, "whole heads of 128");
        float squares[CHUNKS][2];
#pragma unroll
        for (int c = 0; c < CHUNKS; c++) {
#pragma unroll
            for (int h = 0; h < 2; h++) {
                float part[2] = {0.f, 0.f};
#pragma unroll
                for (int j = 0; j < 8; j++) {
#pragma unroll
                    for (int i = 0; i < 2; i++) {
                        const float v = d[32 * c + 4 * j + 2 * h + i];
                        part[i] = fmaf(v, v, part[i]);
                    }
                }
                squares[c][h] = sum_over_lanes<4>(part[0] + part[1]);
            }
        }
#pragma unroll
        for (int c = 0; c < CHUNKS; c++) {
            if (n + 64 * c >= Base::width + Base::kvWidth) continue;
            float norm[2];
#pragma unroll
            for (int h = 0; h < 2; h++) {
                const float all = Base::headPad == 64 ? squares[c][h] : squares[c & ~1][h] + squares[c | 1][h];
                norm[h] = rsqrtf(all / headSize + normEpsilon);
            }
#pragma unroll
            for (int j = 0; j < 8; j++) {
                const float2 weight = *reinterpret_cast<const float2*>(weights + 64 * c + 8 * j + threadIdx.x % 4 * 2);
#pragma unroll
                for (int h = 0; h < 2; h++) {
                    d[32 * c + 4 * j + 2 * h] *= norm[h] * weight.x;
                    d[32 * c + 4 * j + 2 * h + 1] *= norm[h] * weight.y;
                }
            }
        }
    }
};

// ---- Residual ----------------------------------------------------------------------------------------------------------------
// Residual epilogue of prompts: AddResidual with parts of 64 columns.
template <class T>
struct PromptResidual {
    static constexpr bool RMS = false;
    static constexpr bool NORM = false;
    static constexpr bool QK_NORM = false;
    static constexpr bool ROTATES = false;
    static constexpr bool LOADS = true;
    float* x;  // [rows][stride]
    T* panels;
    float2* moments;  // [columns / 64][panelRows]
    int stride;
    int panelRows;

    using RowContext = Nothing;
    // A lane holds four consecutive columns: n + 16jj + 0, 8, 4 or 12 by lane % 4.
    struct Context {
        float4 x[8];
    };
    __device__ __forceinline__ void rows(RowContext&, int, Bounds) const {}
    static __device__ __forceinline__ int own_column() { return (threadIdx.x & 1) * 8 + (threadIdx.x & 2) * 2; }

    __device__ __forceinline__ void load(Context& c, const RowContext&, int m, int n, Bounds bounds) const {
        if (n >= bounds.columns) return;
        const float* from = x + static_cast<size_t>(m) * stride + n + own_column();
#pragma unroll
        for (int h = 0; h < 2; h++) {
#pragma unroll
            for (int jj = 0; jj < 4; jj++) {
                if (m + 8 * h >= bounds.rows) continue;
                c.x[2 * jj + h] = load_global4(from + static_cast<size_t>(8 * h) * stride + 16 * jj);
            }
        }
    }
    __device__ __forceinline__ void store(const Context& c, const RowContext&, float (&d)[32], int m, int n,
                                          Bounds bounds) const {
        if (n >= bounds.columns) return;
        const bool odd = threadIdx.x & 1;
        float* to = x + static_cast<size_t>(m) * stride + n + own_column();
#pragma unroll
        for (int h = 0; h < 2; h++) {
            const bool live = m + 8 * h < bounds.rows;
            float2 part = make_float2(0, 0);
            // The chunk is one panel; m and m + 8 have one swizzle.
            const size_t panelRow = static_cast<size_t>(n / PANEL_WIDTH<T>) * panelRows + m + 8 * h;
            char* panel = reinterpret_cast<char*>(panels) + panelRow * PANEL_BYTES;
#pragma unroll
            for (int jj = 0; jj < 4; jj++) {
                const float e0 = d[8 * jj + 2 * h], e1 = d[8 * jj + 2 * h + 1];
                const float f0 = d[8 * jj + 4 + 2 * h], f1 = d[8 * jj + 4 + 2 * h + 1];
                const float r0 = __shfl_xor_sync(~0u, odd ? e0 : f0, 1);
                const float r1 = __shfl_xor_sync(~0u, odd ? e1 : f1, 1);
                const float4 v = (odd ? make_float4(r0, r1, f0, f1) : make_float4(e0, e1, r0, r1)) + c.x[2 * jj + h];
                if (live) *reinterpret_cast<float4*>(to + static_cast<size_t>(8 * h) * stride + 16 * jj) = v;
                if (panels != nullptr) {
                    const int column = 16 * jj + own_column();
                    if (live) store4(reinterpret_cast<T*>(panel + ((column / 8 ^ (m & 7)) * 16) + column % 8 * 2), v);
                    part.x += v.x + v.y + v.z + v.w;
                    part.y += fmaf(v.x, v.x, fmaf(v.y, v.y, fmaf(v.z, v.z, v.w * v.w)));
                }
            }
            if (panels == nullptr) continue;
#pragma unroll
            for (int step = 1; step <= 2; step *= 2) {
                part.x += __shfl_xor_sync(~0u, part.x, step);
                part.y += __shfl_xor_sync(~0u, part.y, step);
            }
            if (live && threadIdx.x % 4 == 0) moments[static_cast<size_t>(n / 64) * panelRows + m + 8 * h] = part;
        }
    }
};

// ---- MLP ---------------------------------------------------------------------------------------------------------------------
// MLP epilogue of prompts: Activate.
template <class T>
struct PromptActivate {
    static constexpr bool RMS = false;
    static constexpr bool NORM = true;
    static constexpr bool QK_NORM = false;
    static constexpr bool ROTATES = false;
    static constexpr bool LOADS = false;
    T* panels;
    int panelRows;
    int kind;

    using RowContext = Nothing;
    using Context = Nothing;
    __device__ __forceinline__ void rows(RowContext&, int, Bounds) const {}
    __device__ __forceinline__ void load(Context&, const RowContext&, int, int, Bounds) const {}
    __device__ __forceinline__ void store(const Context&, const RowContext&, float (&v)[32], int m, int n,
                                          Bounds bounds) const {
        if (n >= bounds.columns) return;
#pragma unroll
        for (int j = 0; j < 8; j++) {
            const float4 a = activate(make_float4(v[4 * j], v[4 * j + 1], v[4 * j + 2], v[4 * j + 3]), kind);
            v[4 * j] = a.x, v[4 * j + 1] = a.y, v[4 * j + 2] = a.z, v[4 * j + 3] = a.w;
        }
        char* row = reinterpret_cast<char*>(panels) + (static_cast<size_t>(n / PANEL_WIDTH<T>) * panelRows + m) * PANEL_BYTES;
#pragma unroll
        for (int g = 0; g < 2; g++) {
            const int chunk = (4 * g + threadIdx.x % 4) ^ (m & 7);
#pragma unroll
            for (int h = 0; h < 2; h++) {
                const uint4 packed = pack8<T>(v, g, h);
                if (m + 8 * h < bounds.rows) *reinterpret_cast<uint4*>(row + 8 * h * PANEL_BYTES + chunk * 16) = packed;
            }
        }
    }
};

// Gated MLP epilogue of prompts: Gate.
template <class T>
struct PromptGate {
    static constexpr bool RMS = true;
    static constexpr bool NORM = true;
    static constexpr bool QK_NORM = false;
    static constexpr bool ROTATES = false;
    static constexpr bool LOADS = false;
    T* panels;
    int panelRows;
    int kind;

    using RowContext = Nothing;
    using Context = Nothing;
    __device__ __forceinline__ void rows(RowContext&, int, Bounds) const {}
    __device__ __forceinline__ void load(Context&, const RowContext&, int, int, Bounds) const {}
    __device__ __forceinline__ void store(const Context&, const RowContext&, float (&v)[32], int m, int n,
                                          Bounds bounds) const {
        if (n >= bounds.columns) return;
        if (kind == SILU) {
#pragma unroll
            for (int i = 0; i < 32; i += 2) v[i] = silu(v[i]) * v[i + 1];
        } else {
#pragma unroll
            for (int i = 0; i < 32; i += 2) v[i] = gated(v[i], v[i + 1], kind);
        }
        const int inner = n / 2;  // a multiple of 32
        const int chunk = (inner % 64 / 8 + threadIdx.x % 4) ^ (m & 7);
        char* to =
            reinterpret_cast<char*>(panels) + (static_cast<size_t>(inner / 64) * panelRows + m) * PANEL_BYTES + chunk * 16;
#pragma unroll
        for (int h = 0; h < 2; h++) {
            uint32_t p[4];  // inner columns q and q + 4 of eight
#pragma unroll
            for (int c = 0; c < 4; c++) {
                p[c] = pack2<T>(v[8 * c + 2 * h], v[8 * c + 4 + 2 * h]);
            }
            transpose_quad(p);
            const uint4 packed = make_uint4(__byte_perm(p[0], p[1], 0x5410), __byte_perm(p[2], p[3], 0x5410),
                                            __byte_perm(p[0], p[1], 0x7632), __byte_perm(p[2], p[3], 0x7632));
            if (m + 8 * h < bounds.rows) *reinterpret_cast<uint4*>(to + 8 * h * PANEL_BYTES) = packed;
        }
    }
};

}  // namespace rose

#pragma once
// GEMM epilogues, shared by all GEMM kernels.
//
// A GEMM passes four neighboring outputs (m, n … n + 3) of a row at a time, bias added, in float. A decode step is a chain of
// epilogues, so all work that can move ahead does. An epilogue has a Context per item, complete long before the accumulators
// are. `early` fills it before the kernel waits for its predecessors (addresses, step inputs), `late` right after (data that
// they wrote).
#include "panel.cuh"
#include "ptx.cuh"

namespace rose {

// ---- Fused norm -------------------------------------------------------------------------------------------------------------
// With the norm weight folded into the matrix, LN(x)·W = (x·W − mean(x)·columnSums) / deviation(x).
// A GEMM thus reads the residual stream unnormalized and corrects its accumulators at the end. The
// moments (Σ x, Σ x²) of a row come in parts. The kernel that writes a range of columns to the
// residual stream leaves its part in moments[part][row]. RMS norm is the same with mean zero and zero
// column sums.

// A row's norm, applied as (x − mean) · inverse.
struct RowNorm {
    float mean;
    float inverse;
};

template <bool RMS>
__device__ __forceinline__ RowNorm row_norm(float2 moments, float perWidth, float epsilon) {
    if constexpr (RMS) return {0.f, rsqrtf(fmaf(moments.y, perWidth, epsilon))};
    float mean = moments.x * perWidth;
    return {mean, rsqrtf(fmaxf(fmaf(moments.y, perWidth, -mean * mean), 0.f) + epsilon)};
}

__device__ __forceinline__ float4 normalized(float4 product, float4 columnSums, RowNorm norm) {
    return make_float4(
        fmaf(-norm.mean, columnSums.x, product.x) * norm.inverse, fmaf(-norm.mean, columnSums.y, product.y) * norm.inverse,
        fmaf(-norm.mean, columnSums.z, product.z) * norm.inverse, fmaf(-norm.mean, columnSums.w, product.w) * norm.inverse);
}

// Scales int8 accumulators per output; `factor` includes the RMS norm and INT8_UNIT.
__device__ __forceinline__ float4 scaled(float4 product, float4 scales, float factor) {
    return make_float4(product.x * factor * scales.x, product.y * factor * scales.y, product.z * factor * scales.z,
                       product.w * factor * scales.w);
}

// Mask of the lanes that share a row in an epilogue of TILE columns: TILE / 4 neighbors.
template <int TILE>
__device__ __forceinline__ unsigned row_lanes() {
    constexpr int LANES = TILE / 4;
    return LANES == 32 ? ~0u : ((1u << LANES) - 1) << (threadIdx.x % 32 / LANES * LANES);
}

// ---- The epilogues -----------------------------------------------------------------------------------------------------------
// RMS: whether the norm fused into the epilogue's GEMM is an RMS norm.

// QKV epilogue without RoPE. Queries go to a row-major buffer, scaled for the softmax. Keys and values go to their slots in
// this layer's paged KV pool, [block][head][key, value][token in block][head size]. The n axis is queries | keys | values, each
// `width` wide with heads padded to a multiple of 16, then padding. A token with a negative slot stores no key and value.
template <class T>
struct StoreQkv {
    static constexpr bool RMS = false;
    T* queries;  // [rows][width]
    T* pool;
    const int* slots;  // [rows], block · blockSize + offset
    int width;
    int headPad;
    int blockSize;
    float queryScale;  // the layer's attention scale · log2(e): the softmax uses exp2

    struct Context {
        T* to;
        float scale;
    };
    __device__ __forceinline__ void early(Context& c, int m, int n) const {
        c.to = nullptr;
        c.scale = n < width ? queryScale : 1.f;
        if (n < width) {
            c.to = queries + static_cast<size_t>(m) * width + n;
        } else if (n < 3 * width) {
            int slot = __ldg(slots + m);
            int isValue = n >= 2 * width;
            int column = n - width - isValue * width;
            int head = column / headPad;
            size_t block = slot / blockSize;
            size_t place = ((block * (width / headPad) + head) * 2 + isValue) * blockSize + slot % blockSize;
            if (slot >= 0) c.to = pool + place * headPad + column % headPad;
        }
    }
    __device__ __forceinline__ void late(Context&) const {}

    __device__ __forceinline__ void store(const Context& c, int, int, float4 v) const {
        if (c.to != nullptr) store4(c.to, make_float4(v.x * c.scale, v.y * c.scale, v.z * c.scale, v.w * c.scale));
    }
};

// Returns the address of a slot's key (isValue 0) or value (1) in a layer's pool; the layout is in paged_kv.cuh.
template <class KV>
__device__ __forceinline__ KV* pool_at(KV* pool, int slot, int head, int isValue, int heads, int headPad, int blockSize) {
    size_t place = ((static_cast<size_t>(slot / blockSize) * heads + head) * 2 + isValue) * blockSize + slot % blockSize;
    return pool + place * headPad;
}

// Rotates two pairs; `cosSin` has their cosines and sines.
__device__ __forceinline__ float4 rotated(float4 v, float4 cosSin) {
    return make_float4(fmaf(v.x, cosSin.x, -v.y * cosSin.y), fmaf(v.y, cosSin.x, v.x * cosSin.y),
                       fmaf(v.z, cosSin.z, -v.w * cosSin.w), fmaf(v.w, cosSin.z, v.z * cosSin.w));
}

// QKV epilogue with RoPE and GQA. The n axis is queries | keys | values, `width`, `kvWidth` and `kvWidth` wide. Weight rows of
// query and key heads are packed so that rotated pairs are adjacent: elements i and i + rotarySize / 2 of a head are at 2i and
// 2i + 1. A token's row of `ropeTable` has the pair's cosine and sine at the same indices; unrotated elements have cos 1 and
// sin 0. Scores are unchanged, since queries and keys share the order.
//
// With `raw`, queries and keys are stored there unchanged, [rows][width + kvWidth], for rope.cu or attention_decode_gqa_rope,
// which apply QK norm first. The pool's element type KV is T or fp8.
template <class T, class KV = T>
struct StoreQkvRope {
    static constexpr bool RMS = true;
    T* queries;  // [rows][width]
    T* raw;
    KV* pool;
    const int* slots;        // [rows], block · blockSize + offset
    const int* positions;    // [rows]
    const float* ropeTable;  // [positions][headPad]; null: no RoPE
    int width;
    int kvWidth;
    int headPad;
    int blockSize;
    float queryScale;  // as in StoreQkv

    struct Context {
        void* to;
        float4 cosSin;
    };
    __device__ __forceinline__ void early(Context& c, int m, int n) const {
        c.to = nullptr;
        c.cosSin = make_float4(1.f, 0.f, 1.f, 0.f);
        if (n < width + kvWidth && raw != nullptr) {
            c.to = raw + static_cast<size_t>(m) * (width + kvWidth) + n;
            return;
        }
        if (n < width + kvWidth && ropeTable != nullptr) {
            const float* row = ropeTable + static_cast<size_t>(__ldg(positions + m)) * headPad;
            c.cosSin = __ldg(reinterpret_cast<const float4*>(row + n % headPad));
        }
        if (n < width) {
            c.to = queries + static_cast<size_t>(m) * width + n;
            c.cosSin =
                make_float4(c.cosSin.x * queryScale, c.cosSin.y * queryScale, c.cosSin.z * queryScale, c.cosSin.w * queryScale);
        } else if (n < width + 2 * kvWidth) {
            const int slot = __ldg(slots + m);
            const int isValue = n >= width + kvWidth;
            const int column = n - width - isValue * kvWidth;
            KV* head = pool_at(pool, slot, column / headPad, isValue, kvWidth / headPad, headPad, blockSize);
            if (slot >= 0) c.to = head + column % headPad;
        }
    }
    __device__ __forceinline__ void late(Context&) const {}

    __device__ __forceinline__ void store(const Context& c, int, int n, float4 v) const {
        if (c.to == nullptr) return;
        v = rotated(v, c.cosSin);
        if constexpr (!std::is_same_v<T, KV>) {
            const int pooled = raw != nullptr ? width + kvWidth : width;  // first column stored in the pool
            if (n >= pooled) return store4(static_cast<KV*>(c.to), v);
        }
        store4(static_cast<T*>(c.to), v);
    }
};

// Residual epilogue: x += v, in float. If the next GEMM has a fused norm, it also writes a panel copy in T and the moments of
// this tile's TILE columns. Otherwise `panels` is null.
template <class T, int TILE>
struct AddResidual {
    static constexpr bool RMS = false;
    float* x;  // [rows][stride]
    T* panels;
    float2* moments;  // [columns / TILE][panelRows]
    int stride;
    int panelRows;

    struct Context {
        float* x;
        T* panel;
        float4 before;
    };
    __device__ __forceinline__ void early(Context& c, int m, int n) const {
        c.x = x + static_cast<size_t>(m) * stride + n;
        c.panel = panel_at(panels, m, n, panelRows);
    }
    __device__ __forceinline__ void late(Context& c) const { c.before = __ldcg(reinterpret_cast<const float4*>(c.x)); }

    __device__ __forceinline__ void store(const Context& c, int m, int n, float4 v) const {
        v = v + c.before;
        *reinterpret_cast<float4*>(c.x) = v;
        if (panels == nullptr) return;
        store4(c.panel, v);
        store_moments(m, n, v);
    }

    __device__ __forceinline__ void store_moments(int m, int n, float4 v) const {
        float2 part = make_float2(v.x + v.y + v.z + v.w, fmaf(v.x, v.x, fmaf(v.y, v.y, fmaf(v.z, v.z, v.w * v.w))));
        const unsigned lanes = row_lanes<TILE>();
#pragma unroll
        for (int step = TILE / 8; step > 0; step /= 2) {
            part.x += __shfl_xor_sync(lanes, part.x, step);
            part.y += __shfl_xor_sync(lanes, part.y, step);
        }
        if (n % TILE == 0) moments[static_cast<size_t>(n / TILE) * panelRows + m] = part;
    }
};

// Residual epilogue before int8 weights, into which the norm weight is not folded: the panel copy is multiplied by it. The int8
// GEMM converts its operands in registers and has few left, so addresses are computed twice.
template <class T, int TILE>
struct AddResidualWeighted : AddResidual<T, TILE> {
    const float* normWeights;  // [columns]; null: all ones

    struct Context {
        float* x;
        float4 before;
        float4 normWeight;
    };
    __device__ __forceinline__ void early(Context& c, int m, int n) const {
        c.x = this->x + static_cast<size_t>(m) * this->stride + n;
        c.normWeight =
            normWeights != nullptr ? __ldg(reinterpret_cast<const float4*>(normWeights + n)) : make_float4(1.f, 1.f, 1.f, 1.f);
    }
    __device__ __forceinline__ void late(Context& c) const { c.before = __ldcg(reinterpret_cast<const float4*>(c.x)); }

    __device__ __forceinline__ void store(const Context& c, int m, int n, float4 v) const {
        v = v + c.before;
        *reinterpret_cast<float4*>(this->x + static_cast<size_t>(m) * this->stride + n) = v;
        if (this->panels == nullptr) return;
        const float4 copy = make_float4(v.x * c.normWeight.x, v.y * c.normWeight.y, v.z * c.normWeight.z, v.w * c.normWeight.w);
        store4(panel_at(this->panels, m, n, this->panelRows), copy);
        this->store_moments(m, n, v);
    }
};

// MLP epilogue: applies the activation function and stores panels for the next GEMM.
template <class T>
struct Activate {
    static constexpr bool RMS = false;
    T* panels;
    int panelRows;
    int kind;

    struct Context {
        T* to;
    };
    __device__ __forceinline__ void early(Context& c, int m, int n) const { c.to = panel_at(panels, m, n, panelRows); }
    __device__ __forceinline__ void late(Context&) const {}
    __device__ __forceinline__ void store(const Context& c, int, int, float4 v) const { store4(c.to, activate(v, kind)); }
};

// Gated MLP epilogue (SwiGLU, GeGLU): stores activation(gate) · up in panels for the next GEMM. The n axis interleaves gate and
// up: 2i and 2i + 1 for inner column i.
template <class T>
struct Gate {
    static constexpr bool RMS = true;
    T* panels;
    int panelRows;
    int kind;

    struct Context {
        T* to;
    };
    __device__ __forceinline__ void early(Context& c, int m, int n) const { c.to = panel_at(panels, m, n / 2, panelRows); }
    __device__ __forceinline__ void late(Context&) const {}
    __device__ __forceinline__ void store(const Context& c, int, int, float4 v) const {
        store2(c.to, make_float2(gated(v.x, v.y, kind), gated(v.z, v.w, kind)));
    }
};

// Maps logits to integers of the same order. NaN and +∞ rank above all, so one bad logit decides its row; vocabulary padding
// ranks below all. The complement of the token id in the lower half lets the lower id win ties.
constexpr uint32_t NOT_A_LOGIT = 0xffffffff;
constexpr uint32_t NEGATIVE_INFINITY = 0x007fffff;
constexpr uint32_t NO_LOGIT = 0;

__device__ __forceinline__ uint32_t logit_rank(float logit, int token, int vocabulary) {
    if (token >= vocabulary) return NO_LOGIT;
    if (!(logit < __int_as_float(0x7f800000))) return NOT_A_LOGIT;
    uint32_t bits = __float_as_uint(logit);
    return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

__device__ __forceinline__ unsigned long long ranked_token(uint32_t rank, int token) {
    return static_cast<unsigned long long>(rank) << 32 | ~static_cast<uint32_t>(token);
}

// LM head epilogue: the argmax of each row over this tile's TILE columns, and the logits unless `logits` is null.
template <int TILE>
struct BestToken {
    static constexpr bool RMS = false;
    unsigned long long* best;  // [rows][tiles]
    float* logits;             // [rows][stride], stride a multiple of 4
    int vocabulary;
    int stride;
    int tiles;

    struct Context {};
    __device__ __forceinline__ void early(Context&, int, int) const {}
    __device__ __forceinline__ void late(Context&) const {}

    __device__ __forceinline__ void store(const Context&, int m, int n, float4 v) const {
        if (logits != nullptr && n < stride) { *reinterpret_cast<float4*>(logits + static_cast<size_t>(m) * stride + n) = v; }
        const float logit[4] = {v.x, v.y, v.z, v.w};
        uint32_t rank = NO_LOGIT;
        int token = n;
#pragma unroll
        for (int i = 0; i < 4; i++) {
            uint32_t other = logit_rank(logit[i], n + i, vocabulary);
            if (other > rank) rank = other, token = n + i;
        }
        const unsigned lanes = row_lanes<TILE>();
        uint32_t highest = __reduce_max_sync(lanes, rank);
        unsigned holders = __ballot_sync(lanes, rank == highest) & lanes;
        if (static_cast<int>(threadIdx.x % 32) == __ffs(holders) - 1) {
            best[static_cast<size_t>(m) * tiles + n / TILE] = ranked_token(rank, token);
        }
    }
};

}  // namespace rose

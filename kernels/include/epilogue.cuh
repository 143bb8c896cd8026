#pragma once
// The epilogues of a GEMM, shared by every GEMM kernel.
//
// A GEMM hands over four neighbouring outputs (m, n … n + 3) of one row at a time, bias added, in float. A decode step is a chain
// of such ends, so nothing is left for the end that can be done before: an epilogue keeps a Context per item, which `early` fills
// before the kernel waits for its predecessors (addresses, step inputs) and `late` right after (what they have written), both
// long before the sums exist.
#include "panel.cuh"
#include "ptx.cuh"

namespace rose {

// ---- The norm behind the product ---------------------------------------------------------------------------------------------
// With the gain folded into the weights, LN(x)·W = (x·W − mean(x)·columnSums) / deviation(x), so a GEMM may read the residual
// stream as it is and correct its sums at the end. The moments (Σ x, Σ x²) of each row come in parts: whoever writes a stretch of a
// row to the residual stream leaves its part in moments[part][row]. An RMS norm is the same with a mean of zero, so its column
// sums are zero too.

// One row's moments for the correction: x − mean, times inverse.
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

__device__ __forceinline__ float4 normalised(float4 product, float4 columnSums, RowNorm norm) {
    return make_float4(
        fmaf(-norm.mean, columnSums.x, product.x) * norm.inverse, fmaf(-norm.mean, columnSums.y, product.y) * norm.inverse,
        fmaf(-norm.mean, columnSums.z, product.z) * norm.inverse, fmaf(-norm.mean, columnSums.w, product.w) * norm.inverse);
}

// The product of weights of one byte, whose outputs have a scale each, behind an RMS norm; `factor` is the norm's, and what the
// weights lack.
__device__ __forceinline__ float4 scaled(float4 product, float4 scales, float factor) {
    return make_float4(product.x * factor * scales.x, product.y * factor * scales.y, product.z * factor * scales.z,
                       product.w * factor * scales.w);
}

// The lanes that share a row in an epilogue of TILE columns: TILE / 4 neighbours.
template <int TILE>
__device__ __forceinline__ unsigned row_lanes() {
    constexpr int LANES = TILE / 4;
    return LANES == 32 ? ~0u : ((1u << LANES) - 1) << (threadIdx.x % 32 / LANES * LANES);
}

// ---- The epilogues -----------------------------------------------------------------------------------------------------------
// RMS: the norm that the epilogue's GEMM takes by itself has a mean of zero.

// Queries go to a row-major buffer, scaled for the softmax; keys and values go to their slots in the paged KV pool of this layer,
// laid out [block][head][key, value][token in block][head size]. The n axis is queries | keys | values, each `width` wide, each
// head padded to a multiple of 16; what lies behind is padding. A token with a slot below zero leaves no key and value.
template <class T>
struct StoreQkv {
    static constexpr bool RMS = false;
    T* queries;  // [rows][width]
    T* pool;
    const int* slots;  // [rows], block · blockSize + offset
    int width;
    int headSize;
    int blockSize;
    float queryScale;  // the layer's attention scale · log2(e): softmax is taken with exp2

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
            int head = column / headSize;
            size_t block = slot / blockSize;
            size_t place = ((block * (width / headSize) + head) * 2 + isValue) * blockSize + slot % blockSize;
            if (slot >= 0) c.to = pool + place * headSize + column % headSize;
        }
    }
    __device__ __forceinline__ void late(Context&) const {}

    __device__ __forceinline__ void store(const Context& c, int, int, float4 v) const {
        if (c.to != nullptr) store4(c.to, make_float4(v.x * c.scale, v.y * c.scale, v.z * c.scale, v.w * c.scale));
    }
};

// Where the key (0) or the value (1) of a slot rests in a layer's pool, which is laid out as paged_kv.cuh says.
template <class KV>
__device__ __forceinline__ KV* pool_at(KV* pool, int slot, int head, int isValue, int heads, int headSize, int blockSize) {
    size_t place = ((static_cast<size_t>(slot / blockSize) * heads + head) * 2 + isValue) * blockSize + slot % blockSize;
    return pool + place * headSize;
}

// As StoreQkv, for rotary positions and for fewer heads of keys and values than of queries. The n axis is queries | keys | values,
// `width`, `kvWidth` and `kvWidth` wide. The rows of a head of queries or keys are packed so that the two elements that turn
// together are neighbours: 2i and 2i + 1 are the head's i and i + rotarySize / 2, and a token's row of `turns` has their cosine and
// sine in the same places; what does not turn has 1 and 0 there. Scores do not mind the order, since queries and keys share it.
//
// With `raw`, queries and keys go there as they are, [rows][width + kvWidth]: rope.cu normalises their heads first. Keys and values
// rest as KV, which is T or fp8.
template <class T, class KV = T>
struct StoreQkvRope {
    static constexpr bool RMS = true;
    T* queries;  // [rows][width]
    T* raw;
    KV* pool;
    const int* slots;      // [rows], block · blockSize + offset
    const int* positions;  // [rows]
    const float* ropeTable;  // [positions][headSize]; null: nothing turns
    int width;
    int kvWidth;
    int headSize;
    int blockSize;
    float queryScale;  // as StoreQkv has it

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
            const float* row = ropeTable + static_cast<size_t>(__ldg(positions + m)) * headSize;
            c.cosSin = __ldg(reinterpret_cast<const float4*>(row + n % headSize));
        }
        if (n < width) {
            c.to = queries + static_cast<size_t>(m) * width + n;
            c.cosSin =
                make_float4(c.cosSin.x * queryScale, c.cosSin.y * queryScale, c.cosSin.z * queryScale, c.cosSin.w * queryScale);
        } else if (n < width + 2 * kvWidth) {
            const int slot = __ldg(slots + m);
            const int isValue = n >= width + kvWidth;
            const int column = n - width - isValue * kvWidth;
            KV* head = pool_at(pool, slot, column / headSize, isValue, kvWidth / headSize, headSize, blockSize);
            if (slot >= 0) c.to = head + column % headSize;
        }
    }
    __device__ __forceinline__ void late(Context&) const {}

    __device__ __forceinline__ void store(const Context& c, int, int n, float4 v) const {
        if (c.to == nullptr) return;
        const float4 rotated = make_float4(fmaf(v.x, c.cosSin.x, -v.y * c.cosSin.y), fmaf(v.y, c.cosSin.x, v.x * c.cosSin.y),
                                           fmaf(v.z, c.cosSin.z, -v.w * c.cosSin.w), fmaf(v.w, c.cosSin.z, v.z * c.cosSin.w));
        if constexpr (!std::is_same_v<T, KV>) {
            const int pooled = raw != nullptr ? width + kvWidth : width;  // the first column that goes to the pool
            if (n >= pooled) return store4(static_cast<KV*>(c.to), rotated);
        }
        store4(static_cast<T*>(c.to), rotated);
    }
};

// The residual stream takes the sum: x += v, in float. If the next GEMM normalises by itself, it reads a copy in T, in panels,
// and the moments of this tile's TILE columns; else `panels` is null.
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

// The same where the next GEMM's weights do not have the gain of its norm folded in: the copy is multiplied by it. Registers are few
// beside operands that are made ready in them, so addresses are worked out twice.
template <class T, int TILE>
struct AddResidualWeighted : AddResidual<T, TILE> {
    const float* normWeights;  // [columns]; null: they are one

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

// The MLP's hidden units, through its nonlinearity, in panels for the next GEMM.
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

// A gated MLP's hidden units, in panels for the next GEMM. The n axis has gate and what it is multiplied by in turns, 2i and 2i + 1
// for the inner column i.
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

// Logits in an order that integers can compare: larger logit, larger rank. NaN and +∞ rank above all, so one bad logit decides
// its row; padding of the vocabulary ranks below all. With the token's complement behind it, the lower id wins a tie.
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

// The LM head: the best token of each row among this tile's TILE columns, and the logits themselves if anybody samples from them
// (`logits` may be null).
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

#pragma once
// Keys and values of 16 tokens in shared memory as operands of mma.sync, whatever type they rest in.
//
// A head's row has 16-byte chunks, swizzled so that eight rows' have different banks. 16-bit elements are multiplied as they lie.
// Those of one byte (fp8) are widened to f16, which holds each of them, on their way to the product: so queries and softmax weights
// are f16 there. ldmatrix moves 16-bit elements, two dimensions of one byte at a time, hence two orders of dimensions:
//
//      scores   a lane gets four neighbours of 16 dimensions, 4j … 4j + 3, where 16-bit elements give it 2j, 2j + 1, 2j + 8 and
//               2j + 9. A product may sum in any order if the query has the same one.
//      values   transposed, a lane gets the dimensions 2g and 2g + 1 of its tokens; the even ones make one product of eight
//               columns, the odd ones the next.
#include "ptx.cuh"

namespace rose {

// A row of a head of HEAD elements of type KV.
template <class KV, int HEAD>
struct KvRow {
    static constexpr int BYTES = HEAD * static_cast<int>(sizeof(KV));
    static constexpr int CHUNKS = BYTES / 16;
    static constexpr int PER_LINE = BYTES < 128 ? 128 / BYTES : 1;  // rows that share the 128 bytes of all banks

    // Where a chunk of a row lies. Eight rows further the swizzle is the same, and 32 bytes further a multiple of 32 is chosen by
    // exclusive or, where rows begin at multiples of their bytes.
    static __device__ __forceinline__ int offset(int row, int chunk) {
        return row * BYTES + (chunk ^ (row / PER_LINE & (CHUNKS < 8 ? CHUNKS - 1 : 7))) * 16;
    }

    // Where a lane's row of the chunks 2i and 2i + 1 lies, of the keys of 16 tokens or of their values.
    static __device__ __forceinline__ int key_at(int i, int lane) {
        return offset(lane / 16 * 8 + lane % 8, 2 * i + lane / 8 % 2);
    }
    static __device__ __forceinline__ int value_at(int i, int lane) { return offset(lane % 16, 2 * i + lane / 16); }
};

// Elements of two bytes.
template <class KV, int HEAD>
struct KvFragments {
    using Row = KvRow<KV, HEAD>;
    using M = KV;  // the type that products are of

    // A query's 16 dimensions from `from` on.
    template <class T>
    static __device__ __forceinline__ void query(uint32_t& lower, uint32_t& upper, const T* from, int lane) {
        lower = __ldcg(reinterpret_cast<const uint32_t*>(from + lane % 4 * 2));
        upper = __ldcg(reinterpret_cast<const uint32_t*>(from + lane % 4 * 2 + 8));
    }

    // The same dimensions of the queries `row` … `row` + 15 of a tile in shared memory, 16k of them before.
    template <class T>
    static __device__ __forceinline__ void queries(uint32_t (&q)[4], uint32_t tile, int row, int k, int lane) {
        load_matrix4(q, tile + Row::offset(row + lane % 16, 2 * k + lane / 16));
    }

    // Loads two chunks of the keys of 16 tokens, 2i and 2i + 1, by the address of the lane's row and chunk (KvRow::key_at), and hands
    // over multiply(k, upper, b0, b1) for 16 dimensions k of the tokens 0 … 7 or 8 … 15 (`upper`).
    template <class Multiply>
    static __device__ __forceinline__ void keys(uint32_t address, int i, const Multiply& multiply) {
        uint32_t b[4];
        load_matrix4(b, address);
        multiply(i, 0, b[0], b[1]);
        multiply(i, 1, b[2], b[3]);
    }

    // Likewise two chunks of their values (KvRow::value_at): multiply(n, b0, b1) for the n-th eight columns.
    template <class Multiply>
    static __device__ __forceinline__ void values(uint32_t address, int i, const Multiply& multiply) {
        uint32_t b[4];
        load_matrix4_transposed(b, address);
        multiply(2 * i, b[0], b[1]);
        multiply(2 * i + 1, b[2], b[3]);
    }

    // Stores a lane's two sums of the n-th eight columns and of the next, n even; to(d) is where dimension d goes.
    template <class To>
    static __device__ __forceinline__ void store(const To& to, int n, float2 sum, float2 next, int lane) {
        store2(to(8 * n + lane % 4 * 2), sum);
        store2(to(8 * n + lane % 4 * 2 + 8), next);
    }
};

// Elements of one byte.
template <int HEAD>
struct KvFragments<fp8, HEAD> {
    using Row = KvRow<fp8, HEAD>;
    using M = f16;

    template <class T>
    static __device__ __forceinline__ void query(uint32_t& lower, uint32_t& upper, const T* from, int lane) {
        const uint2 v = __ldcg(reinterpret_cast<const uint2*>(from + lane % 4 * 4));
        lower = to_f16<T>(v.x), upper = to_f16<T>(v.y);
    }

    template <class T>
    static __device__ __forceinline__ void queries(uint32_t (&q)[4], uint32_t tile, int row, int k, int lane) {
#pragma unroll
        for (int half = 0; half < 2; half++) {
            const int chunk = KvRow<T, HEAD>::offset(row + lane / 4 + 8 * half, 2 * k + lane % 4 / 2);
            const uint2 v = load_shared8(tile + chunk + lane % 2 * 8);
            q[half] = to_f16<T>(v.x), q[half + 2] = to_f16<T>(v.y);
        }
    }

    template <class Multiply>
    static __device__ __forceinline__ void keys(uint32_t address, int i, const Multiply& multiply) {
        uint32_t b[4];
        load_matrix4(b, address);
#pragma unroll
        for (int odd = 0; odd < 2; odd++) {
#pragma unroll
            for (int upper = 0; upper < 2; upper++) {
                const uint32_t four = b[2 * upper + odd];
                multiply(2 * i + odd, upper, widen2(static_cast<uint16_t>(four)), widen2(static_cast<uint16_t>(four >> 16)));
            }
        }
    }

    template <class Multiply>
    static __device__ __forceinline__ void values(uint32_t address, int i, const Multiply& multiply) {
        uint32_t b[4];
        load_matrix4_transposed(b, address);
#pragma unroll
        for (int c = 0; c < 4; c++) b[c] = __byte_perm(b[c], 0, 0x3120);  // of two tokens the dimension 2g, then 2g + 1
#pragma unroll
        for (int c = 0; c < 4; c += 2) {
            multiply(4 * i + c, widen2(static_cast<uint16_t>(b[c])), widen2(static_cast<uint16_t>(b[c + 1])));
            multiply(4 * i + c + 1, widen2(static_cast<uint16_t>(b[c] >> 16)), widen2(static_cast<uint16_t>(b[c + 1] >> 16)));
        }
    }

    template <class To>
    static __device__ __forceinline__ void store(const To& to, int n, float2 sum, float2 next, int lane) {
        store4(to(8 * n + lane % 4 * 4), make_float4(sum.x, next.x, sum.y, next.y));
    }

private:
    // Two elements of T as f16, which has more of the mantissa; what is beyond its range becomes infinite, and the scores NaN.
    template <class T>
    static __device__ __forceinline__ uint32_t to_f16(uint32_t pair) {
        if constexpr (std::is_same_v<T, f16>) return pair;
        const float2 wide = unpack2<T>(pair);
        return pack2<f16>(wide.x, wide.y);
    }
};

}  // namespace rose

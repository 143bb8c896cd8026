#pragma once
// mma.sync operands from 16 keys and values in shared memory, for 16-bit types and fp8.
//
// A head's row consists of 16-byte chunks, swizzled so that eight rows are in different banks. Products take 16-bit elements as
// stored. They take fp8 as f16, which represents it exactly, so queries and softmax weights are f16 there. ldmatrix moves
// 16-bit units, two fp8 dimensions at a time, hence two orders of dimensions:
//
//      scores   a lane gets dimensions 4j … 4j + 3 of 16, where 16-bit types give it 2j, 2j + 1, 2j + 8 and 2j + 9. The product
//               may sum in any order that the query shares.
//      values   transposed: a lane gets dimensions 2g and 2g + 1 of its tokens; the even ones form one product of eight columns,
//               the odd ones the next.
#include "ptx.cuh"

namespace rose {

// A row of HEAD elements of type KV.
template <class KV, int HEAD>
struct KvRow {
    static constexpr int BYTES = HEAD * static_cast<int>(sizeof(KV));
    static constexpr int CHUNKS = BYTES / 16;
    static constexpr int PER_LINE = BYTES < 128 ? 128 / BYTES : 1;  // rows per 128 bytes, the width of all banks

    // Byte offset of a chunk. The swizzle repeats every eight rows; other chunk pairs follow by xor with a multiple of 32 if rows
    // are aligned to their size.
    static __device__ __forceinline__ int offset(int row, int chunk) {
        return row * BYTES + (chunk ^ (row / PER_LINE & (CHUNKS < 8 ? CHUNKS - 1 : 7))) * 16;
    }

    // ldmatrix offsets of a lane for chunks 2i and 2i + 1 of 16 keys (key_at) or values (value_at).
    static __device__ __forceinline__ int key_at(int i, int lane) {
        return offset(lane / 16 * 8 + lane % 8, 2 * i + lane / 8 % 2);
    }
    static __device__ __forceinline__ int value_at(int i, int lane) { return offset(lane % 16, 2 * i + lane / 16); }
};

template <bool SHARED, class Word>
__device__ __forceinline__ Word load_query(const void* from) {
    if constexpr (SHARED) return *static_cast<const Word*>(from);
    else return __ldcg(static_cast<const Word*>(from));
}

// 16-bit elements.
template <class KV, int HEAD>
struct KvFragments {
    using Row = KvRow<KV, HEAD>;
    using M = KV;  // operand type of the products

    // Loads 16 dimensions of one query from `from` on: in shared memory if SHARED, else in global memory.
    template <bool SHARED, class T>
    static __device__ __forceinline__ void query(uint32_t& lower, uint32_t& upper, const T* from, int lane) {
        lower = load_query<SHARED, uint32_t>(from + lane % 4 * 2);
        upper = load_query<SHARED, uint32_t>(from + lane % 4 * 2 + 8);
    }

    // Loads dimensions 16k … 16k + 15 of queries row … row + 15 of a tile in shared memory.
    template <class T>
    static __device__ __forceinline__ void queries(uint32_t (&q)[4], uint32_t tile, int row, int k, int lane) {
        load_matrix4(q, tile + Row::offset(row + lane % 16, 2 * k + lane / 16));
    }

    // Loads chunks 2i and 2i + 1 of 16 keys from the lane's address (KvRow::key_at). Calls multiply(k, upper, b0, b1) for each
    // 16 dimensions k of tokens 0 … 7 or, `upper`, 8 … 15.
    template <class Multiply>
    static __device__ __forceinline__ void keys(uint32_t address, int i, const Multiply& multiply) {
        uint32_t b[4];
        load_matrix4(b, address);
        multiply(i, 0, b[0], b[1]);
        multiply(i, 1, b[2], b[3]);
    }

    // Loads two chunks of 16 values (KvRow::value_at), and calls multiply(n, b0, b1) for the n-th eight columns.
    template <class Multiply>
    static __device__ __forceinline__ void values(uint32_t address, int i, const Multiply& multiply) {
        uint32_t b[4];
        load_matrix4_transposed(b, address);
        multiply(2 * i, b[0], b[1]);
        multiply(2 * i + 1, b[2], b[3]);
    }

    // Stores a lane's two accumulators of the n-th and next eight columns, n even; to(d) is the address of dimension d.
    template <class To>
    static __device__ __forceinline__ void store(const To& to, int n, float2 sum, float2 next, int lane) {
        store2(to(8 * n + lane % 4 * 2), sum);
        store2(to(8 * n + lane % 4 * 2 + 8), next);
    }
};

// fp8 elements.
template <int HEAD>
struct KvFragments<fp8, HEAD> {
    using Row = KvRow<fp8, HEAD>;
    using M = f16;

    template <bool SHARED, class T>
    static __device__ __forceinline__ void query(uint32_t& lower, uint32_t& upper, const T* from, int lane) {
        const uint2 v = load_query<SHARED, uint2>(from + lane % 4 * 4);
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
        for (int c = 0; c < 4; c++) b[c] = __byte_perm(b[c], 0, 0x3120);  // dimension 2g of two tokens, then 2g + 1
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
    // Converts two elements of T to f16; values out of range become infinite, and the scores NaN.
    template <class T>
    static __device__ __forceinline__ uint32_t to_f16(uint32_t pair) {
        if constexpr (std::is_same_v<T, f16>) return pair;
        const float2 wide = unpack2<T>(pair);
        return pack2<f16>(wide.x, wide.y);
    }
};

}  // namespace rose

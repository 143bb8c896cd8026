#pragma once
// Element types and scalar functions.
//
// Kernels are templates over the storage type T of weights and activations: __half, __nv_bfloat16 or float. Accumulation is
// always in float. The KV cache may be fp8.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <cstdint>
#include <type_traits>

namespace rose {

using f16 = __half;
using bf16 = __nv_bfloat16;

// OCP E4M3: up to ±448, no infinities. For compute capability 9.0 and newer.
struct fp8 {
    uint8_t bits;
};

template <class T>
__host__ __device__ __forceinline__ float to_float(T x);
template <>
__host__ __device__ __forceinline__ float to_float(float x) {
    return x;
}
template <>
__host__ __device__ __forceinline__ float to_float(f16 x) {
    return __half2float(x);
}
template <>
__host__ __device__ __forceinline__ float to_float(bf16 x) {
    return __bfloat162float(x);
}

template <class T>
__device__ __forceinline__ T from_float(float x);
template <>
__device__ __forceinline__ float from_float(float x) {
    return x;
}
template <>
__device__ __forceinline__ f16 from_float(float x) {
    return __float2half_rn(x);
}
template <>
__device__ __forceinline__ bf16 from_float(float x) {
    return __float2bfloat16_rn(x);
}

// Packs two 16-bit elements in a register, the lower index in the lower half.
template <class T>
__device__ __forceinline__ uint32_t pack2(float lower, float upper);
template <>
__device__ __forceinline__ uint32_t pack2<f16>(float lower, float upper) {
    __half2 pair = __floats2half2_rn(lower, upper);
    return reinterpret_cast<uint32_t&>(pair);
}
template <>
__device__ __forceinline__ uint32_t pack2<bf16>(float lower, float upper) {
    __nv_bfloat162 pair = __floats2bfloat162_rn(lower, upper);
    return reinterpret_cast<uint32_t&>(pair);
}

template <class T>
__device__ __forceinline__ float2 unpack2(uint32_t pair);
template <>
__device__ __forceinline__ float2 unpack2<f16>(uint32_t pair) {
    return __half22float2(reinterpret_cast<__half2&>(pair));
}
template <>
__device__ __forceinline__ float2 unpack2<bf16>(uint32_t pair) {
    return make_float2(__uint_as_float(pair << 16), __uint_as_float(pair & 0xffff0000u));
}

// Converts two fp8 to f16 exactly.
__device__ __forceinline__ uint32_t widen2(uint16_t pair) {
    uint32_t wide = 0;
#if __CUDA_ARCH__ >= 900
    asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(wide) : "h"(pair));
#endif
    return wide;
}

// Converts two floats to fp8, round to nearest, saturating at ±448; NaN stays NaN.
__device__ __forceinline__ uint16_t narrow2(float lower, float upper) {
    uint16_t pair = 0;
#if __CUDA_ARCH__ >= 900
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(upper), "f"(lower));
#endif
    return pair;
}

__device__ __forceinline__ float to_float(fp8 x) { return unpack2<f16>(widen2(x.bits)).x; }

__device__ __forceinline__ void store4(fp8* to, float4 v) {
    *reinterpret_cast<uint32_t*>(to) = narrow2(v.x, v.y) | static_cast<uint32_t>(narrow2(v.z, v.w)) << 16;
}

// Stores four consecutive elements, aligned to their total size.
template <class T>
__device__ __forceinline__ void store4(T* to, float4 v) {
    if constexpr (sizeof(T) == 4) {
        *reinterpret_cast<float4*>(to) = v;
    } else {
        *reinterpret_cast<uint2*>(to) = make_uint2(pack2<T>(v.x, v.y), pack2<T>(v.z, v.w));
    }
}

// Stores two consecutive elements, aligned to their total size.
template <class T>
__device__ __forceinline__ void store2(T* to, float2 v) {
    if constexpr (sizeof(T) == 4) *reinterpret_cast<float2*>(to) = v;
    else *reinterpret_cast<uint32_t*>(to) = pack2<T>(v.x, v.y);
}

// Element type chosen at run time; for load-time kernels only.
enum ElementType { FLOAT32 = 0, FLOAT16 = 1, BFLOAT16 = 2 };

__device__ __forceinline__ float load_as_float(const void* from, int type, size_t index) {
    switch (type) {
        case FLOAT16:
            return to_float(static_cast<const f16*>(from)[index]);
        case BFLOAT16:
            return to_float(static_cast<const bf16*>(from)[index]);
        default:
            return static_cast<const float*>(from)[index];
    }
}

#include "../contract/activations.h"

// tanh by one exponential: 1 - 2 / (e^2u + 1) saturates at both ends.
__device__ __forceinline__ float gelu_tanh(float x) {
    float u = 0.7978845608f * fmaf(0.044715f * x * x, x, x);
    float tanh_u = 1.f - __fdividef(2.f, __expf(2.f * u) + 1.f);
    return fmaf(0.5f * x, tanh_u, 0.5f * x);
}

__device__ __forceinline__ float gelu_erf(float x) { return 0.5f * x * (1.f + erff(x * 0.7071067812f)); }

// Activation of an MLP without a gate; no such model has SiLU.
__device__ __forceinline__ float4 activate(float4 v, int kind) {
    if (kind == GELU_TANH) return make_float4(gelu_tanh(v.x), gelu_tanh(v.y), gelu_tanh(v.z), gelu_tanh(v.w));
    if (kind == GELU_ERF) return make_float4(gelu_erf(v.x), gelu_erf(v.y), gelu_erf(v.z), gelu_erf(v.w));
    return make_float4(fmaxf(v.x, 0.f), fmaxf(v.y, 0.f), fmaxf(v.z, 0.f), fmaxf(v.w, 0.f));
}

__device__ __forceinline__ float silu(float x) { return __fdividef(x, 1.f + __expf(-x)); }

// Returns activation(gate) · up.
__device__ __forceinline__ float gated(float gate, float up, int kind) {
    if (kind == SILU) return silu(gate) * up;
    return activate(make_float4(gate, 0.f, 0.f, 0.f), kind).x * up;
}

__device__ __forceinline__ float4 operator+(float4 a, float4 b) {
    return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

template <int LANES>
__device__ __forceinline__ float sum_over_lanes(float x) {
#pragma unroll
    for (int step = LANES / 2; step > 0; step /= 2) x += __shfl_xor_sync(~0u, x, step);
    return x;
}

// Returns 2^x, flushing subnormals to zero.
__device__ __forceinline__ float exp2_fast(float x) {
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

}  // namespace rose

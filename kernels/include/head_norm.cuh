#pragma once
// QK norm of a head by one warp; a lane holds groups of four neighboring elements, so a rotated pair is always in one lane:
//
//      y = x / √(mean of x² + epsilon) · weight
#include "ptx.cuh"

namespace rose {

// Loads four elements that a kernel of this step has written.
template <class T>
__device__ __forceinline__ float4 load4(const T* from) {
    if constexpr (sizeof(T) == 4) {
        return __ldcg(reinterpret_cast<const float4*>(from));
    } else {
        const uint2 v = __ldcg(reinterpret_cast<const uint2*>(from));
        const float2 lower = unpack2<T>(v.x), upper = unpack2<T>(v.y);
        return make_float4(lower.x, lower.y, upper.x, upper.y);
    }
}

// Adds the squares of four elements to a lane's sum.
__device__ __forceinline__ float add_squares(float sum, float4 x) {
    return fmaf(x.x, x.x, fmaf(x.y, x.y, fmaf(x.z, x.z, fmaf(x.w, x.w, sum))));
}

// Returns the factor of a head's norm from the squares in each lane.
__device__ __forceinline__ float head_norm(float squares, int headSize, float epsilon) {
    return rsqrtf(sum_over_lanes<32>(squares) / headSize + epsilon);
}

__device__ __forceinline__ float4 weighted(float4 x, float norm, float4 weight) {
    return make_float4(x.x * norm * weight.x, x.y * norm * weight.y, x.z * norm * weight.z, x.w * norm * weight.w);
}

}  // namespace rose

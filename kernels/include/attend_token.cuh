#pragma once
// Attention of one (token, head) by one warp, key by key: any head size (a multiple of 16, at most 256), any block size and type.
//
// Lanes split the head's dimensions; keys are visited in order, four at a time, with an online softmax. The result depends on the
// token's own context only and is summed in one order.
#include "numeric.cuh"
#include "paged_kv.cuh"

namespace rose {

constexpr int MAX_PER_LANE = 8;
constexpr int KEYS = 4;

// Attends to tokens start … context - 1 of the row whose block table starts at `list`.
template <class T, class KV>
__device__ __forceinline__ void attend_token(const PagedAttention<T, KV>& p, const int* list, int token, int head, int start,
                                             int context) {
    const int lane = threadIdx.x % 32;
    const int kvHead = p.kvHeads == p.heads ? head : head / (p.heads / p.kvHeads);
    float q[MAX_PER_LANE];
    float sum[MAX_PER_LANE];
    const T* query = p.queries + (static_cast<size_t>(token) * p.heads + head) * p.headPad;
#pragma unroll
    for (int i = 0; i < MAX_PER_LANE; i++) {
        int d = lane + 32 * i;
        q[i] = d < p.headPad ? to_float(query[d]) : 0.f;
        sum[i] = 0;
    }
    float largest = NO_SCORE;
    float total = 0;
    for (int first = start; first < context; first += KEYS) {
        const KV* key[KEYS];
        float score[KEYS];
#pragma unroll
        for (int k = 0; k < KEYS; k++) {
            key[k] = p.key(list, min(first + k, context - 1), kvHead);
            score[k] = 0;
#pragma unroll
            for (int i = 0; i < MAX_PER_LANE; i++) {
                int d = lane + 32 * i;
                if (d < p.headPad) score[k] = fmaf(q[i], to_float(key[k][d]), score[k]);
            }
        }
        float newLargest = largest;
#pragma unroll
        for (int k = 0; k < KEYS; k++) {
            score[k] = first + k < context ? sum_over_lanes<32>(score[k]) : NO_SCORE;
            newLargest = fmaxf(newLargest, score[k]);
        }
        float factor = exp2f(largest - newLargest);
        largest = newLargest;
        total *= factor;
#pragma unroll
        for (int i = 0; i < MAX_PER_LANE; i++) sum[i] *= factor;
#pragma unroll
        for (int k = 0; k < KEYS; k++) {
            float weight = first + k < context ? exp2f(score[k] - largest) : 0.f;
            total += weight;
#pragma unroll
            for (int i = 0; i < MAX_PER_LANE; i++) {
                int d = lane + 32 * i;
                if (d < p.headPad) sum[i] = fmaf(weight, to_float(key[k][d + p.valueOffset()]), sum[i]);
            }
        }
    }
    const float inverse = total > 0 ? 1.f / total : 0.f;
#pragma unroll
    for (int i = 0; i < MAX_PER_LANE; i++) {
        int d = lane + 32 * i;
        if (d < p.headPad) { *panel_at(p.out, token, head * p.headPad + d, p.panelRows) = from_float<T>(sum[i] * inverse); }
    }
}

}  // namespace rose

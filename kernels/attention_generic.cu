// Attention for everything the special kernels leave out: any head size (a multiple of 16, at most 256), any block size, f32,
// f16 and bf16, decode and prefill alike.
//
// One warp per (token, head). Lanes share out the head's dimensions; keys are visited in order, four at a time, with an online
// softmax. A token's result depends on its own context alone and is summed in one order, whatever the batch or the chunking.
//
// Launch: grid (tokens, ⌈heads / 4⌉), block 128.
#include "include/paged_kv.cuh"
#include "include/ptx.cuh"

using namespace rose;

constexpr int MAX_PER_LANE = 8;
constexpr int KEYS = 4;

// The row that token `t` belongs to: the last r with rowStarts[r] <= t.
__device__ __forceinline__ int row_of(const int* rowStarts, int rows, int t) {
    int low = 0;
    int high = rows;
    while (high - low > 1) {
        int middle = (low + high) / 2;
        (__ldg(rowStarts + middle) <= t ? low : high) = middle;
    }
    return low;
}

template <class T>
__device__ __forceinline__ void attend(const PagedAttention<T>& p, int rows) {
    release_dependents();
    wait_for_predecessors();
    const int token = blockIdx.x;
    const int head = blockIdx.y * 4 + threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    if (head >= p.heads || token >= __ldg(p.rowStarts + rows)) return;
    const int row = row_of(p.rowStarts, rows, token);
    const int behind = __ldg(p.rowStarts + row + 1) - 1 - token;  // tokens of the row after this one
    const int context = __ldg(p.contextLengths + row) - behind;
    const int* list = p.blocks + __ldg(p.blockStarts + row);

    float q[MAX_PER_LANE];
    float sum[MAX_PER_LANE];
    const T* query = p.queries + (static_cast<size_t>(token) * p.heads + head) * p.headSize;
#pragma unroll
    for (int i = 0; i < MAX_PER_LANE; i++) {
        int d = lane + 32 * i;
        q[i] = d < p.headSize ? to_float(query[d]) : 0.f;
        sum[i] = 0;
    }
    float largest = NO_SCORE;
    float total = 0;
    for (int first = 0; first < context; first += KEYS) {
        const T* key[KEYS];
        float score[KEYS];
#pragma unroll
        for (int k = 0; k < KEYS; k++) {
            key[k] = p.key(list, min(first + k, context - 1), head);
            score[k] = 0;
#pragma unroll
            for (int i = 0; i < MAX_PER_LANE; i++) {
                int d = lane + 32 * i;
                if (d < p.headSize) score[k] = fmaf(q[i], to_float(key[k][d]), score[k]);
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
                if (d < p.headSize) sum[i] = fmaf(weight, to_float(key[k][d + p.valueOffset()]), sum[i]);
            }
        }
    }
    const float inverse = total > 0 ? 1.f / total : 0.f;
#pragma unroll
    for (int i = 0; i < MAX_PER_LANE; i++) {
        int d = lane + 32 * i;
        if (d < p.headSize) { *panel_at(p.out, token, head * p.headSize + d, p.panelRows) = from_float<T>(sum[i] * inverse); }
    }
}

#define ATTEND(T, NAME)                                                                                                        \
    extern "C" __global__ void __launch_bounds__(128) attention_generic_##NAME(                                                \
        const T* queries, const T* pool, const int* rowStarts, const int* contextLengths, const int* blockStarts,              \
        const int* blocks, T* out, int panelRows, int heads, int headSize, int blockSize, int rows) {                          \
        attend<T>({queries, pool, rowStarts, contextLengths, blockStarts, blocks, out, panelRows, heads, headSize, blockSize}, \
                  rows);                                                                                                       \
    }

ATTEND(float, f32)
ATTEND(f16, f16)
ATTEND(bf16, bf16)

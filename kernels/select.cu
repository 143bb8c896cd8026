// Greedy sampling: reduces the LM head's per-tile argmaxes to one token per sample, for the device and the host.
//
// `sampled[s]` is what the next step's embedding reads for token id ~s. `tokenSlots[s]` is in mapped host memory and receives
// (step << 32 | token) in one 64-bit store. The host polls each slot until it carries the awaited step, so it needs no flag and
// no ordering between slots. A row without a usable logit (NaN, +∞, or nothing finite) reports token 0xffffffff and feeds back
// token 0.
//
// Launch: grid (⌈samples / 8⌉), block 256; a warp per sample.
#include "include/epilogue.cuh"

using namespace rose;

extern "C" __global__ void __launch_bounds__(256) select_best(const unsigned long long* best, int tiles, int samples,
                                                              const int* step, int* sampled, unsigned long long* tokenSlots) {
    release_dependents();
    const int sample = blockIdx.x * 8 + threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    const unsigned number = static_cast<unsigned>(__ldg(step));
    wait_for_predecessors();
    if (sample >= samples) return;
    unsigned long long key = 0;
#pragma unroll 4
    for (int tile = lane; tile < tiles; tile += 32) key = max(key, __ldcg(best + static_cast<size_t>(sample) * tiles + tile));
#pragma unroll
    for (int lanes = 16; lanes > 0; lanes /= 2) key = max(key, __shfl_xor_sync(~0u, key, lanes));
    if (lane == 0) {
        uint32_t rank = static_cast<uint32_t>(key >> 32);
        bool usable = rank != NOT_A_LOGIT && rank > NEGATIVE_INFINITY;
        uint32_t token = usable ? ~static_cast<uint32_t>(key) : 0xffffffffu;
        sampled[sample] = usable ? static_cast<int>(token) : 0;
        if (tokenSlots != nullptr) {
            *const_cast<volatile unsigned long long*>(tokenSlots + sample) =
                static_cast<unsigned long long>(number) << 32 | token;
        }
    }
}

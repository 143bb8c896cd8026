// Copies whole KV blocks within the pools of all layers, before a step computes: for a sequence that continues from another's
// partly filled block.
//
// `copies` holds (source, target) pairs. A block of one layer is blockBytes in one piece; layers are layerBytes apart.
// This kernel must have ended before any other kernel of the step starts (no programmatic edge behind it), because attention
// reads blocks of the past ahead of its wait.
//
// Launch: grid (copies, layers), block 256.
#include "include/ptx.cuh"

extern "C" __global__ void __launch_bounds__(256)
    copy_blocks(const int* copies, char* pool, unsigned long long layerBytes, int blockBytes) {
    char* layer = pool + blockIdx.y * layerBytes;
    const char* from = layer + static_cast<size_t>(copies[2 * blockIdx.x]) * blockBytes;
    char* to = layer + static_cast<size_t>(copies[2 * blockIdx.x + 1]) * blockBytes;
    for (int byte = threadIdx.x * 16; byte < blockBytes; byte += 256 * 16) {
        *reinterpret_cast<uint4*>(to + byte) = *reinterpret_cast<const uint4*>(from + byte);
    }
}

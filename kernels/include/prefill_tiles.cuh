#pragma once
// Tiles of consecutive tokens of a row, for kernels whose rows differ in length: tile i belongs to the row where the prefix sum of
// the rows' tiles passes i.
#include "numeric.cuh"

namespace rose {

struct TokenTile {
    int row;    // -1 past the last tile
    int first;  // first token of the tile, an index into the row's tokens of this step
};

// Finds tile `index` by a warp-wide prefix sum over the rows, 32 at a time. A tile has `height` tokens.
__device__ __forceinline__ TokenTile find_tile(const int* rowStarts, int rows, int height, int index, bool skipDecodeRows,
                                               int lane) {
    int before = 0;
    for (int base = 0; base < rows; base += 32) {
        int row = base + lane;
        int length = row < rows ? __ldg(rowStarts + row + 1) - __ldg(rowStarts + row) : 0;
        int tiles = skipDecodeRows && length == 1 ? 0 : (length + height - 1) / height;
        int through = tiles;
#pragma unroll
        for (int step = 1; step < 32; step *= 2) {
            int lower = __shfl_up_sync(~0u, through, step);
            if (lane >= step) through += lower;
        }
        through += before;
        unsigned passed = __ballot_sync(~0u, through > index);
        if (passed != 0) {
            int owner = __ffs(passed) - 1;
            int start = __shfl_sync(~0u, through - tiles, owner);
            return {base + owner, (index - start) * height};
        }
        before = __shfl_sync(~0u, through, 31);
    }
    return {-1, 0};
}

// Finds tile `index` in an order in which tiles that end later in their sequences, attention's longest, come first; in the order of
// rows if more than 32 have tiles. Rows have contextLengths[r] tokens in all.
__device__ __forceinline__ TokenTile find_latest_tile(const int* rowStarts, const int* contextLengths, int rows, int height,
                                                      int index, bool skipDecodeRows, int lane) {
    int row = lane;
    if (rows > 32) {
        // Each lane takes one of the rows with tiles.
        row = rows;
        int taken = 0;
        for (int base = 0; base < rows; base += 32) {
            const int own = base + lane;
            const int length = own < rows ? __ldg(rowStarts + own + 1) - __ldg(rowStarts + own) : 0;
            unsigned some = __ballot_sync(~0u, length > (skipDecodeRows ? 1 : 0));
            if (taken + __popc(some) > 32) return find_tile(rowStarts, rows, height, index, skipDecodeRows, lane);
            for (; some != 0; some &= some - 1) {
                if (taken++ == lane) row = base + __ffs(some) - 1;
            }
        }
    }
    const int length = row < rows ? __ldg(rowStarts + row + 1) - __ldg(rowStarts + row) : 0;
    const int tiles = skipDecodeRows && length == 1 ? 0 : (length + height - 1) / height;
    const int past = row < rows ? (__ldg(contextLengths + row) - length) / height : 0;  // in tiles
    if (index >= __reduce_add_sync(~0u, tiles)) return {-1, 0};
    // Tiles at `place` or later, counted from the sequence's start: as many as index and one more, at least.
    auto from = [&](int place) { return __reduce_add_sync(~0u, min(max(past + tiles - place, 0), tiles)); };
    int low = 0, high = __reduce_max_sync(~0u, past + tiles);
    while (low < high) {
        const int middle = (low + high) / 2;
        if (from(middle + 1) <= index) high = middle;
        else low = middle + 1;
    }
    const int nth = index - from(low + 1);
    const bool there = tiles > 0 && past <= low && low < past + tiles;
    const unsigned all = __ballot_sync(~0u, there);
    const unsigned owner = __ballot_sync(~0u, there && __popc(all & ((1u << lane) - 1)) == nth);
    const int source = __ffs(owner) - 1;
    return {__shfl_sync(~0u, row, source), (low - __shfl_sync(~0u, past, source)) * height};
}

}  // namespace rose

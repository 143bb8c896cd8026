#pragma once
// The panel layout: how every matrix that a GEMM reads rests in memory, weights and activations alike.
//
// A matrix of R rows and C columns (columns are the summed index k; a weight's rows are its output columns n) is cut into panels
// of 128 bytes of columns, and a panel stores its R rows one after the other:
//
//      element (row, column)  ->  panel = column / W,   W = 128 / sizeof(T)
//      [panel][row][128 bytes], and inside a row the 16-byte chunk c rests at chunk c ^ (row % 8)
//
// Why: any 8-aligned range of rows of one panel is one contiguous piece of memory, so a tile of a GEMM is fetched by one bulk
// copy with no tensor map, whatever its height; and it lands in shared memory in exactly the 128-byte swizzle that wgmma
// descriptors, ldmatrix and 16-byte vector reads take without bank conflicts. One packing of the weights serves every tile shape.
//
// Padding: columns are padded to whole panels. Weights are zero there, so activations may hold anything finite.
#include <cstddef>

namespace rose {

constexpr int PANEL_BYTES = 128;

template <class T>
constexpr int PANEL_WIDTH = PANEL_BYTES / sizeof(T);

// Bytes from the start of the matrix to element (row, column).
template <class T>
__host__ __device__ __forceinline__ size_t panel_offset(int row, int column, int rows) {
    int panel = column / PANEL_WIDTH<T>;
    int byte = column % PANEL_WIDTH<T> * static_cast<int>(sizeof(T));
    return (static_cast<size_t>(panel) * rows + row) * PANEL_BYTES + ((byte / 16 ^ (row & 7)) * 16) + byte % 16;
}

template <class T>
__host__ __device__ __forceinline__ T* panel_at(T* matrix, int row, int column, int rows) {
    return reinterpret_cast<T*>(reinterpret_cast<char*>(matrix) + panel_offset<T>(row, column, rows));
}

}  // namespace rose

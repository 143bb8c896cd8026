#pragma once
// The panel layout of every GEMM operand, weights and activations: K-major, 128 bytes of k per row, swizzled as in TMA's 128-byte
// mode.
//
// A matrix of R rows and C columns is split into panels of 128 bytes of columns; a panel stores its R rows consecutively.
// Columns are k; a weight's rows are its outputs n:
//
//      element (row, column)  ->  panel = column / W,   W = 128 / sizeof(T)
//      [panel][row][128 bytes], and within a row, 16-byte chunk c is at chunk c ^ (row % 8)
//
// Why: any 8-aligned range of rows of a panel is contiguous, so one bulk copy fetches a GEMM tile of any height, without a tensor
// map. It lands in shared memory in the 128-byte swizzle that wgmma descriptors, ldmatrix and 16-byte reads use without bank
// conflicts. One packing of the weights serves every tile shape.
//
// Padding: columns are padded to whole panels. Weights are zero there, so activations may hold anything finite.
#include <cstddef>

namespace rose {

constexpr int PANEL_BYTES = 128;

template <class T>
constexpr int PANEL_WIDTH = PANEL_BYTES / sizeof(T);

// Byte offset of element (row, column) in a matrix of `rows` rows.
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

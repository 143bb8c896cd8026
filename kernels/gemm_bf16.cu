// The Hopper GEMMs (sm_90a) in bf16: every projection of the model, for batches of 1 to thousands of rows.
// How the tile works: include/gemm_tile.cuh. Which BATCH and cluster to launch for how many rows: README.md.
#include "include/gemm_entries.cuh"

using namespace rose;

GEMM_ENTRIES(bf16, bf16)

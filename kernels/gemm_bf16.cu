// Hopper GEMMs (sm_90a) in bf16: every projection of the model, for 1 to thousands of rows. The tile is in include/gemm_tile.cuh;
// which BATCH and cluster run for how many rows is in contract/plans.csv.
#include "include/gemm_entries.cuh"

using namespace rose;

GEMM_ENTRIES(bf16, bf16)

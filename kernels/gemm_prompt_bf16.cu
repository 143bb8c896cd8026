// Hopper GEMMs of prompts (sm_90a) in bf16. The tiles are in include/gemm_prompt.cuh; contract/prompt_tiles.csv has their choice.
#include "include/gemm_prompt_entries.cuh"

using namespace rose;

PROMPT_ENTRIES(bf16, bf16)

# Source files, for the Makefile; in a separate file, so that adding one does not rebuild the others.

# Compiled for sm_80, sm_90 and sm_90a.
ANYWHERE = load embed normalize rope gemm_generic attention_generic attention_prefill select sample

# Compiled for sm_90a only.
HOPPER = gemm_f16 gemm_bf16 gemm_int8 gemm_prompt_f16 gemm_prompt_bf16 attention_decode attention_decode_gqa attention_prefill_wgmma

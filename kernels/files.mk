# The kernels' files, for the Makefile; here, so that one more does not make the others anew.

# Compiled for sm_80, sm_90 and sm_90a.
ANYWHERE = load embed normalize rope gemm_generic attention_generic attention_prefill select sample

# For sm_90a alone.
HOPPER = gemm_f16 gemm_bf16 gemm_int8 attention_decode attention_decode_gqa

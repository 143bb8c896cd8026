"""The golden models: small shapes that together reach every branch of every family, and GPT-2's 124M shape with random weights."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Golden:
    name: str
    config: dict
    seed: int
    gain: float = 8.0
    dtype: str = "F32"  # how the weights are stored
    prefix: str = ""
    shards: int = 1
    buffers: bool = False  # store the causal-mask buffers that old checkpoints carry
    prompt_lengths: tuple = ()
    greedy: int = 0
    flips: dict = field(default_factory=dict)  # options whose wrong reading must show in the logits


def config(**fields) -> dict:
    base = {
        "architectures": ["GPT2LMHeadModel"],
        "model_type": "gpt2",
        "activation_function": "gelu_new",
        "attn_pdrop": 0.1,
        "bos_token_id": 0,
        "embd_pdrop": 0.1,
        "eos_token_id": 0,
        "layer_norm_epsilon": 1e-5,
        "n_inner": None,
        "resid_pdrop": 0.1,
        "scale_attn_by_inverse_layer_idx": False,
        "scale_attn_weights": True,
        "tie_word_embeddings": True,
    }
    return base | fields


GPT2_124M = Golden(
    "gpt2-random",
    config(n_embd=768, n_head=12, n_layer=12, n_positions=1024, vocab_size=50257, bos_token_id=50256, eos_token_id=50256),
    seed=0,
    gain=1.0,
    prompt_lengths=(1, 7, 33),
    greedy=64,
)

def llama(**fields) -> dict:
    base = {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "attention_bias": False,
        "attention_dropout": 0.0,
        "bos_token_id": 1,
        "eos_token_id": [0, 2],
        "hidden_act": "silu",
        "mlp_bias": False,
        "rms_norm_eps": 1e-5,
        "rope_scaling": None,
        "rope_theta": 10000.0,
        "tie_word_embeddings": False,
    }
    return base | fields


def gated(kind, name, **fields) -> dict:
    """A shape of a family that is nearly Llama; fields that are ABSENT here are not in the file, so that the default counts."""
    base = {
        "architectures": [name + "ForCausalLM"],
        "model_type": kind,
        "attention_dropout": 0.0,
        "bos_token_id": 1,
        "eos_token_id": 2,
        "hidden_act": "silu",
        "rms_norm_eps": 1e-6,
        "tie_word_embeddings": False,
        "use_cache": True,
    }
    return {field: value for field, value in (base | fields).items() if value is not ABSENT}


def neox(**fields) -> dict:
    base = {
        "architectures": ["GPTNeoXForCausalLM"],
        "model_type": "gpt_neox",
        "bos_token_id": 0,
        "eos_token_id": 0,
        "hidden_act": "gelu",
        "hidden_dropout": 0.0,
        "layer_norm_eps": 1e-5,
        "tie_word_embeddings": False,
    }
    return base | fields


ABSENT = object()

# Readings of the architecture, not of a field, that the witness can get wrong on purpose.
LLAMA_MISREADINGS = {"rotated pairs": "adjacent", "key head of a query head": "strided", "gate": "second"}
ROTATED_PAIRS = {"rotated pairs": "adjacent", "gate": "second"}

SMALL = [
    Golden(
        "odd-heads",
        config(n_embd=120, n_head=5, n_layer=3, n_inner=331, n_positions=96, vocab_size=1013, layer_norm_epsilon=1e-6,
               scale_attn_by_inverse_layer_idx=True),
        seed=1,
        prompt_lengths=(1, 7, 33, 60),
        greedy=36,
        flips={"scale_attn_by_inverse_layer_idx": False, "scale_attn_weights": False, "activation_function": "gelu", "layer_norm_epsilon": 1e-5},
    ),
    Golden(
        "untied",
        config(n_embd=48, n_head=3, n_layer=2, n_positions=64, vocab_size=257, activation_function="gelu", scale_attn_weights=False,
               tie_word_embeddings=False),
        seed=2,
        dtype="F16",
        prefix="transformer.",
        shards=2,
        buffers=True,
        prompt_lengths=(1, 7, 33),
        greedy=31,
        flips={"scale_attn_weights": True, "activation_function": "gelu_new", "scale_attn_by_inverse_layer_idx": True},
    ),
    Golden(
        "relu",
        config(n_embd=28, n_head=7, n_layer=4, n_inner=50, n_positions=40, vocab_size=131, activation_function="relu", layer_norm_epsilon=1e-2),
        seed=3,
        dtype="BF16",
        prefix="transformer.",
        prompt_lengths=(1, 7, 20),
        greedy=20,
        flips={"activation_function": "gelu_new", "layer_norm_epsilon": 1e-5, "scale_attn_weights": False},
    ),
    Golden(
        "grouped-heads",
        llama(hidden_size=42, num_attention_heads=6, num_key_value_heads=2, head_dim=12, intermediate_size=101, num_hidden_layers=2,
              max_position_embeddings=72, vocab_size=101, rms_norm_eps=1e-2, rope_theta=500.0, attention_bias=True, mlp_bias=True),
        seed=4,
        dtype="BF16",
        prefix="model.",
        prompt_lengths=(1, 7, 40),
        greedy=32,
        flips={"rms_norm_eps": 1e-5, "rope_theta": 10000.0, "attention_bias": False, "mlp_bias": False, "hidden_act": "gelu",
               **LLAMA_MISREADINGS},
    ),
    Golden(
        "scaled-rotary",
        llama(hidden_size=32, num_attention_heads=8, num_key_value_heads=2, head_dim=16, intermediate_size=72, num_hidden_layers=2,
              max_position_embeddings=96, vocab_size=97, tie_word_embeddings=True,
              rope_scaling={"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                            "original_max_position_embeddings": 64}),
        seed=5,
        prompt_lengths=(1, 7, 60),
        greedy=36,
        flips={"rope_scaling": None, "rope_theta": 500000.0, **LLAMA_MISREADINGS},
    ),
    Golden(
        "linear-rotary",
        llama(hidden_size=42, num_attention_heads=7, num_key_value_heads=1, head_dim=12, intermediate_size=55, num_hidden_layers=2,
              max_position_embeddings=64, vocab_size=89, rope_scaling=None,
              rope_parameters={"rope_type": "linear", "rope_theta": 100.0, "factor": 2.5}, dtype="float16"),
        seed=6,
        dtype="F16",
        prompt_lengths=(1, 7, 33),
        greedy=24,
        flips={"rope_parameters": {"rope_type": "default", "rope_theta": 100.0}, **ROTATED_PAIRS},
    ),
    Golden(
        "qwen2",
        gated("qwen2", "Qwen2", hidden_size=84, num_attention_heads=7, num_key_value_heads=1, intermediate_size=99, num_hidden_layers=2,
              max_position_embeddings=64, vocab_size=101, rope_theta=1000.0, tie_word_embeddings=True, rms_norm_eps=1e-3,
              use_sliding_window=False, sliding_window=5, max_window_layers=0, use_mrope=False),
        seed=7,
        dtype="BF16",
        prefix="model.",
        prompt_lengths=(1, 7, 40),
        greedy=24,
        flips={"use_sliding_window": True, "query bias": False, "rope_theta": 10000.0, "rms_norm_eps": 1e-6, **ROTATED_PAIRS},
    ),
    Golden(
        "qwen2-window",
        gated("qwen2", "Qwen2", hidden_size=40, num_attention_heads=10, num_key_value_heads=2, head_dim=64, intermediate_size=64,
              num_hidden_layers=3, max_position_embeddings=64, vocab_size=97, rope_theta=500.0, use_sliding_window=True,
              sliding_window=5, max_window_layers=1),
        seed=8,
        dtype="BF16",
        prefix="model.",
        prompt_lengths=(1, 7, 33),
        greedy=24,
        flips={"use_sliding_window": False, "sliding_window": 4, "max_window_layers": 2, "query bias": False, **LLAMA_MISREADINGS},
    ),
    Golden(
        "qwen3",
        gated("qwen3", "Qwen3", hidden_size=40, num_attention_heads=4, num_key_value_heads=2, head_dim=96, intermediate_size=70,
              num_hidden_layers=3, max_position_embeddings=64, vocab_size=103, tie_word_embeddings=True, eos_token_id=[3, 5],
              rope_parameters={"rope_type": "default", "rope_theta": 300.0}, dtype="bfloat16", use_sliding_window=True, sliding_window=9,
              max_window_layers=0, layer_types=["full_attention", "sliding_attention", "full_attention"], attention_bias=False),
        seed=9,
        dtype="BF16",
        prefix="model.",
        prompt_lengths=(1, 7, 33),
        greedy=24,
        flips={"layer_types": ["sliding_attention", "full_attention", "full_attention"], "head norms": "none",
               "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0}, **LLAMA_MISREADINGS},
    ),
    Golden(
        "qwen3-yarn",
        gated("qwen3", "Qwen3", hidden_size=36, num_attention_heads=6, num_key_value_heads=2, head_dim=32, intermediate_size=64,
              num_hidden_layers=2, max_position_embeddings=96, vocab_size=97, attention_bias=True, rope_theta=1000.0,
              rope_scaling={"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32}, rms_norm_eps=1e-5),
        seed=10,
        dtype="F32",
        prefix="model.",
        shards=2,
        prompt_lengths=(1, 7, 60),
        greedy=36,
        flips={"rope_scaling": None, "attention_bias": False, "head norms": "late",
               **LLAMA_MISREADINGS},
    ),
    Golden(
        "mistral",
        gated("mistral", "Mistral", hidden_size=48, num_attention_heads=3, num_key_value_heads=3, intermediate_size=96, num_hidden_layers=3,
              max_position_embeddings=64, vocab_size=97, sliding_window=8, rope_theta=1000.0, rms_norm_eps=1e-5),
        seed=11,
        dtype="BF16",
        prefix="model.",
        prompt_lengths=(1, 7, 8, 9, 33),
        greedy=24,
        flips={"sliding_window": 9, **ROTATED_PAIRS},
    ),
    Golden(
        "mistral-wide-heads",
        gated("mistral", "Mistral", hidden_size=24, num_attention_heads=4, num_key_value_heads=2, head_dim=128, intermediate_size=40,
              num_hidden_layers=2, max_position_embeddings=64, vocab_size=97, sliding_window=None, rms_norm_eps=1e-5,
              rope_parameters={"rope_type": "default", "rope_theta": 1000.0}),
        seed=12,
        dtype="BF16",
        prompt_lengths=(1, 7, 33),
        greedy=24,
        flips={"sliding_window": 16, "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0}, **LLAMA_MISREADINGS},
    ),
    Golden(
        "smollm3",
        gated("smollm3", "SmolLM3", pad_token_id=None, hidden_size=32, num_attention_heads=4, num_key_value_heads=1, intermediate_size=64, num_hidden_layers=5,
              max_position_embeddings=64, vocab_size=97, no_rope_layer_interval=2, rope_theta=300.0, tie_word_embeddings=ABSENT,
              use_sliding_window=False, sliding_window=None),
        seed=13,
        dtype="F32",
        prefix="model.",
        prompt_lengths=(1, 7, 33),
        greedy=24,
        flips={"no_rope_layer_interval": 3, "no_rope_layers": [0, 1, 0, 1, 0], "rope_theta": 10000.0, **ROTATED_PAIRS},
    ),
    Golden(
        "smollm3-window",
        gated("smollm3", "SmolLM3", pad_token_id=None, hidden_size=30, num_attention_heads=6, num_key_value_heads=3, head_dim=10, intermediate_size=50,
              num_hidden_layers=4, max_position_embeddings=64, vocab_size=97, no_rope_layers=[1, 0, 0, 1], attention_bias=True, mlp_bias=True,
              rope_parameters={"rope_type": "linear", "rope_theta": 300.0, "factor": 2.0}, use_sliding_window=True, sliding_window=6),
        seed=14,
        dtype="BF16",
        prompt_lengths=(1, 7, 33),
        greedy=24,
        flips={"use_sliding_window": False, "sliding_window": 7, "no_rope_layers": [1, 0, 1, 0], "attention_bias": False, "mlp_bias": False,
               **LLAMA_MISREADINGS},
    ),
    Golden(
        "neox",
        neox(hidden_size=160, num_attention_heads=2, intermediate_size=72, num_hidden_layers=2, max_position_embeddings=64, vocab_size=71,
             rotary_pct=0.25, rotary_emb_base=500, use_parallel_residual=True),
        seed=15,
        gain=4.0,
        dtype="F16",
        prefix="gpt_neox.",
        buffers=True,
        prompt_lengths=(1, 7, 33),
        greedy=24,
        flips={"rotary_pct": 0.5, "rotary_emb_base": 10000, "use_parallel_residual": False, "hidden_act": "relu",
               "queries, keys, values": "one after another"},
    ),
    Golden(
        "neox-sequential",
        neox(hidden_size=36, num_attention_heads=3, intermediate_size=50, num_hidden_layers=3, max_position_embeddings=64, vocab_size=97,
             rope_parameters={"rope_type": "default", "rope_theta": 50.0, "partial_rotary_factor": 0.25}, use_parallel_residual=False,
             attention_bias=False, hidden_act="gelu_new", tie_word_embeddings=True),
        seed=16,
        dtype="F32",
        prompt_lengths=(1, 7, 33),
        greedy=24,
        flips={"use_parallel_residual": True, "rope_parameters": {"rope_theta": 50.0, "partial_rotary_factor": 0.5}, "hidden_act": "relu",
               "queries, keys, values": "one after another"},
    ),
]  # fmt: skip

"""The golden models: small shapes that together reach every branch of GPT-2, and the 124M shape with random weights."""

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


# Readings of the architecture, not of a field, that the witness can get wrong on purpose.
LLAMA_MISREADINGS = {"rotated pairs": "neighbours", "key head of a query head": "strided", "gate": "second"}

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
]  # fmt: skip

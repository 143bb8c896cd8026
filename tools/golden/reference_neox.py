"""GPT-NeoX in plain NumPy, float64: a second witness, written from the equations, that the goldens are checked against."""

import numpy as np

from reference import ACTIVATIONS, layer_norm
from reference_gated import attend, linear, rotate


def rotary(config):
    """(the fields about rotary positions, the share of a head that rotates)."""
    given = config.get("rope_parameters") or {}
    rope = {"rope_theta": config.get("rotary_emb_base", 10000.0), "rope_type": "default", "original_max_position_embeddings": None} | given
    return rope, rope.get("partial_rotary_factor", config.get("rotary_pct", 0.25))


def attention(x, w, block, config):
    length, width = x.shape
    heads = config["num_attention_heads"]
    size = width // heads
    biased = config.get("attention_bias", True)
    qkv = linear(x, w, block + "query_key_value", biased)
    if config.get("queries, keys, values") == "one after another":
        q, k, v = (part.reshape(length, heads, size).transpose(1, 0, 2) for part in np.split(qkv, 3, axis=1))
    else:
        q, k, v = qkv.reshape(length, heads, 3, size).transpose(2, 1, 0, 3)
    rope, part = rotary(config)
    turning = int(size * part)
    if turning % 2:  # an odd number is rounded up, and the frequencies stay those of the odd number
        rope = rope | {"rope_theta": rope["rope_theta"] ** ((turning + 1) / turning)}
        turning += 1
    joined = attend(rotate(q, rope, turning), rotate(k, rope, turning), v, None)
    return linear(joined, w, block + "dense", biased)


def mlp(x, w, block, config):
    inner = ACTIVATIONS[config["hidden_act"]](linear(x, w, block + "dense_h_to_4h", True))
    return linear(inner, w, block + "dense_4h_to_h", True)


def logits(config: dict, w: dict[str, np.ndarray], ids: list[int]) -> np.ndarray:
    def norm(x, name):
        return layer_norm(x, w[name + ".weight"], w[name + ".bias"], config["layer_norm_eps"])

    x = w["embed_in.weight"][ids]
    for i in range(config["num_hidden_layers"]):
        block = f"layers.{i}."
        attended = x + attention(norm(x, block + "input_layernorm"), w, block + "attention.", config)
        read = x if config.get("use_parallel_residual", True) else attended
        x = attended + mlp(norm(read, block + "post_attention_layernorm"), w, block + "mlp.", config)
    x = norm(x, "final_layer_norm")
    head = w["embed_in.weight"] if config["tie_word_embeddings"] else w[HEAD + ".weight"]
    return x @ head.T


HEAD = "embed_out"

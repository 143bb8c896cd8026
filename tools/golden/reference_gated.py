"""Llama, Qwen, Mistral and SmolLM3 in plain NumPy, float64: a second witness, written from the equations, that the goldens are checked against.

Besides the fields of `config.json` a configuration may have fields with a blank in their names: wrong readings of the architecture.
"""

import math

import numpy as np

import reference


def silu(x):
    return x / (1.0 + np.exp(-x))


ACTIVATIONS = reference.ACTIVATIONS | {"silu": silu}
THETA = {"smollm3": 2000000.0}


def rms_norm(x, weight, epsilon):
    return x / np.sqrt((x**2).mean(axis=-1, keepdims=True) + epsilon) * weight


def head_size(config):
    return config.get("head_dim") or config["hidden_size"] // config["num_attention_heads"]


def rotary(config):
    """The fields about rotary positions, from wherever the file has them."""
    scaling = config.get("rope_scaling") or config.get("rope_parameters") or {}
    top = {"rope_theta": config.get("rope_theta", THETA.get(config["model_type"], 10000.0))}
    kind = {"rope_type": scaling.get("type", "default"), "original_max_position_embeddings": config["max_position_embeddings"]}
    return top | kind | scaling


def frequencies(rope, size):
    """(radians per position of each pair, what cosines and sines are multiplied by)."""
    plain = rope["rope_theta"] ** (-np.arange(0, size, 2, dtype=np.float64) / size)
    kind, original = rope["rope_type"], rope["original_max_position_embeddings"]
    if kind == "default":
        return plain, 1.0
    factor = rope["factor"]
    if kind == "linear":
        return plain / factor, 1.0
    if kind == "llama3":  # long wavelengths are stretched, and some of the middle ones in part
        low, high = rope["low_freq_factor"], rope["high_freq_factor"]
        rotations = original * plain / (2.0 * math.pi)
        kept = np.clip((rotations - low) / (high - low), 0.0, 1.0)
        return plain * (kept + (1.0 - kept) / factor), 1.0
    assert kind == "yarn"

    def pair(rotations):
        return size * math.log(original / (rotations * 2 * math.pi)) / (2 * math.log(rope["rope_theta"]))

    low = max(math.floor(pair(rope.get("beta_fast", 32))), 0)
    high = min(math.ceil(pair(rope.get("beta_slow", 1))), size - 1)
    kept = 1.0 - np.clip((np.arange(size // 2) - low) / max(high - low, 0.001), 0.0, 1.0)
    sharper = rope.get("attention_factor") or 0.1 * math.log(factor) + 1.0
    return plain * (kept + (1.0 - kept) / factor), sharper


def rotate(x, rope, size, adjacent=False):
    """`x` is [head, position, head size]; the first `size` elements rotate: i with i + size/2."""
    frequency, factor = frequencies(rope, size)
    angle = np.arange(x.shape[1], dtype=np.float64)[:, None] * frequency[None, :]
    cos, sin = np.cos(angle) * factor, np.sin(angle) * factor
    half = size // 2
    first, second = (x[..., 0:size:2], x[..., 1:size:2]) if adjacent else (x[..., :half], x[..., half:size])
    rotated = first * cos - second * sin, second * cos + first * sin
    joined = np.stack(rotated, axis=-1).reshape(*x.shape[:-1], size) if adjacent else np.concatenate(rotated, axis=-1)
    return np.concatenate((joined, x[..., size:]), axis=-1)


def attend(q, k, v, window):
    """Causal attention of heads [head, position, size] to the last `window` positions, or to all."""
    length, size = q.shape[1:]
    scores = q @ k.transpose(0, 2, 1) / math.sqrt(size)
    distance = np.arange(length)[:, None] - np.arange(length)[None, :]
    seen = (distance >= 0) & (distance < (window or length))
    scores = np.where(seen, scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    return (weights @ v).transpose(1, 0, 2).reshape(length, -1)


def uses_rope(config, layer):
    """Returns whether a layer has RoPE."""
    if config["model_type"] != "smollm3":
        return True
    listed = config.get("no_rope_layers")
    if listed is not None:
        return bool(listed[layer])
    return (layer + 1) % config.get("no_rope_layer_interval", 4) != 0


def window(config, layer):
    """The window of a layer; None for full attention."""
    kind, size = config["model_type"], config.get("sliding_window")
    if kind == "mistral":
        return size
    if kind == "llama" or not config.get("use_sliding_window", False):
        return None
    if "layer_types" in config:
        return size if config["layer_types"][layer] == "sliding_attention" else None
    slides = not uses_rope(config, layer) if kind == "smollm3" else layer >= config["max_window_layers"]
    return size if slides else None


def linear(x, w, name, biased):
    return x @ w[name + ".weight"].T + (w[name + ".bias"] if biased else 0.0)


def attention(x, w, block, layer, config):
    length = x.shape[0]
    heads, shared, size = config["num_attention_heads"], config["num_key_value_heads"], head_size(config)
    of_output = config.get("attention_bias", False)
    biased = config.get("query bias", config["model_type"] == "qwen2" or of_output)
    adjacent = config.get("rotated pairs") == "adjacent"

    def split(name, count):
        return linear(x, w, block + name, biased).reshape(length, count, size).transpose(1, 0, 2)

    def position(heads, norm):
        normed = config["model_type"] == "qwen3" and config.get("head norms") != "none"
        late = config.get("head norms") == "late"
        normalized = (lambda y: rms_norm(y, w[block + norm + ".weight"], config["rms_norm_eps"])) if normed else (lambda y: y)
        rotated = (lambda y: rotate(y, rotary(config), size, adjacent)) if uses_rope(config, layer) else (lambda y: y)
        return normalized(rotated(heads)) if late else rotated(normalized(heads))

    q, k, v = position(split("q_proj", heads), "q_norm"), position(split("k_proj", shared), "k_norm"), split("v_proj", shared)
    strided = config.get("key head of a query head") == "strided"
    of = np.arange(heads) % shared if strided else np.arange(heads) // (heads // shared)
    joined = attend(q, k[of], v[of], window(config, layer))
    return linear(joined, w, block + "o_proj", of_output)


def mlp(x, w, block, config):
    biased = config.get("mlp_bias", False)
    gate, up = linear(x, w, block + "gate_proj", biased), linear(x, w, block + "up_proj", biased)
    if config.get("gate") == "second":
        gate, up = up, gate
    return linear(ACTIVATIONS[config["hidden_act"]](gate) * up, w, block + "down_proj", biased)


def tied(config):
    return config.get("tie_word_embeddings", config["model_type"] == "smollm3")


def logits(config: dict, w: dict[str, np.ndarray], ids: list[int]) -> np.ndarray:
    epsilon = config["rms_norm_eps"]
    x = w["embed_tokens.weight"][ids]
    for i in range(config["num_hidden_layers"]):
        block = f"layers.{i}."
        x = x + attention(rms_norm(x, w[block + "input_layernorm.weight"], epsilon), w, block + "self_attn.", i, config)
        x = x + mlp(rms_norm(x, w[block + "post_attention_layernorm.weight"], epsilon), w, block + "mlp.", config)
    x = rms_norm(x, w["norm.weight"], epsilon)
    head = w["embed_tokens.weight"] if tied(config) else w["lm_head.weight"]
    return x @ head.T

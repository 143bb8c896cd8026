"""Llama in plain NumPy, float64: a second witness, written from the equations, that the goldens are checked against."""

import math

import numpy as np

import reference


def silu(x):
    return x / (1.0 + np.exp(-x))


ACTIVATIONS = reference.ACTIVATIONS | {"silu": silu}


def rms_norm(x, weight, epsilon):
    return x / np.sqrt((x**2).mean(axis=-1, keepdims=True) + epsilon) * weight


def frequencies(config):
    """Radians per position of each pair; `llama3` stretches long wavelengths, and some of the middle ones in part."""
    size, scaling = config["head_dim"], config["rope_scaling"]
    plain = config["rope_theta"] ** (-np.arange(0, size, 2, dtype=np.float64) / size)
    if scaling is None:
        return plain
    assert scaling["rope_type"] == "llama3"
    low, high, original = scaling["low_freq_factor"], scaling["high_freq_factor"], scaling["original_max_position_embeddings"]
    turns = original * plain / (2.0 * math.pi)
    kept = np.clip((turns - low) / (high - low), 0.0, 1.0)
    return plain * (kept + (1.0 - kept) / scaling["factor"])


def rotate(x, config):
    """`x` is [head, position, size]: i is turned with i + size/2."""
    _, length, size = x.shape
    angle = np.arange(length, dtype=np.float64)[:, None] * frequencies(config)[None, :]
    cos, sin = np.cos(angle), np.sin(angle)
    neighbours = config.get("rotated pairs") == "neighbours"
    first, second = (x[..., 0::2], x[..., 1::2]) if neighbours else (x[..., : size // 2], x[..., size // 2 :])
    turned = first * cos - second * sin, second * cos + first * sin
    return np.stack(turned, axis=-1).reshape(x.shape) if neighbours else np.concatenate(turned, axis=-1)


def linear(x, w, name, biased):
    return x @ w[name + ".weight"].T + (w[name + ".bias"] if biased else 0.0)


def attention(x, w, block, config):
    length = x.shape[0]
    heads, shared, size = config["num_attention_heads"], config["num_key_value_heads"], config["head_dim"]
    biased = config["attention_bias"]

    def split(name, count):
        return linear(x, w, block + name, biased).reshape(length, count, size).transpose(1, 0, 2)

    q, k, v = rotate(split("q_proj", heads), config), rotate(split("k_proj", shared), config), split("v_proj", shared)
    strided = config.get("key head of a query head") == "strided"
    of = np.arange(heads) % shared if strided else np.arange(heads) // (heads // shared)
    scores = q @ k[of].transpose(0, 2, 1) / math.sqrt(size)
    scores = np.where(np.tril(np.ones((length, length), dtype=bool)), scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    joined = (weights @ v[of]).transpose(1, 0, 2).reshape(length, heads * size)
    return linear(joined, w, block + "o_proj", biased)


def mlp(x, w, block, config):
    biased = config["mlp_bias"]
    gate, up = linear(x, w, block + "gate_proj", biased), linear(x, w, block + "up_proj", biased)
    if config.get("gate") == "second":
        gate, up = up, gate
    return linear(ACTIVATIONS[config["hidden_act"]](gate) * up, w, block + "down_proj", biased)


def logits(config: dict, w: dict[str, np.ndarray], ids: list[int]) -> np.ndarray:
    epsilon = config["rms_norm_eps"]
    x = w["embed_tokens.weight"][ids]
    for i in range(config["num_hidden_layers"]):
        block = f"layers.{i}."
        x = x + attention(rms_norm(x, w[block + "input_layernorm.weight"], epsilon), w, block + "self_attn.", config)
        x = x + mlp(rms_norm(x, w[block + "post_attention_layernorm.weight"], epsilon), w, block + "mlp.", config)
    x = rms_norm(x, w["norm.weight"], epsilon)
    head = w["embed_tokens.weight"] if config["tie_word_embeddings"] else w["lm_head.weight"]
    return x @ head.T

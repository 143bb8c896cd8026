"""GPT-2 in plain NumPy, float64: a second witness, written from the equations, that the goldens are checked against."""

import math

import numpy as np

_erf = np.vectorize(math.erf)


def gelu_new(x):
    return 0.5 * x * (1.0 + np.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * x**3)))


def gelu(x):
    return 0.5 * x * (1.0 + _erf(x / math.sqrt(2.0)))


def relu(x):
    return np.maximum(x, 0.0)


ACTIVATIONS = {"gelu_new": gelu_new, "gelu": gelu, "relu": relu}


def layer_norm(x, weight, bias, epsilon):
    mean = x.mean(axis=-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(axis=-1, keepdims=True)
    return (x - mean) / np.sqrt(variance + epsilon) * weight + bias


def attention(x, w, block, layer, config):
    length, width = x.shape
    heads = config["n_head"]
    size = width // heads
    qkv = x @ w[block + "attn.c_attn.weight"] + w[block + "attn.c_attn.bias"]
    q, k, v = (part.reshape(length, heads, size).transpose(1, 0, 2) for part in np.split(qkv, 3, axis=1))
    scores = q @ k.transpose(0, 2, 1)
    if config.get("scale_attn_weights", True):
        scores /= math.sqrt(size)
    if config.get("scale_attn_by_inverse_layer_idx", False):
        scores /= layer + 1
    scores[:, np.triu(np.ones((length, length), bool), 1)] = -np.inf
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    mixed = (weights @ v).transpose(1, 0, 2).reshape(length, width)
    return mixed @ w[block + "attn.c_proj.weight"] + w[block + "attn.c_proj.bias"]


def logits(config, weights, prompt):
    """Logits [T, V] of a prompt of T ids; `weights` in the names of the published checkpoints, float64."""
    w, epsilon = weights, config["layer_norm_epsilon"]
    activate = ACTIVATIONS[config["activation_function"]]
    x = w["wte.weight"][prompt] + w["wpe.weight"][: len(prompt)]
    for i in range(config["n_layer"]):
        b = f"h.{i}."
        x = x + attention(layer_norm(x, w[b + "ln_1.weight"], w[b + "ln_1.bias"], epsilon), w, b, i, config)
        hidden = layer_norm(x, w[b + "ln_2.weight"], w[b + "ln_2.bias"], epsilon)
        hidden = activate(hidden @ w[b + "mlp.c_fc.weight"] + w[b + "mlp.c_fc.bias"])
        x = x + hidden @ w[b + "mlp.c_proj.weight"] + w[b + "mlp.c_proj.bias"]
    x = layer_norm(x, w["ln_f.weight"], w["ln_f.bias"], epsilon)
    return x @ w.get("lm_head.weight", w["wte.weight"]).T

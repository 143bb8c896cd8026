"""The seeded random weights of a GPT-2 shape: a counter-based generator that Java and Python compute bit for bit alike.

    mix(z)  = the SplitMix64 finalizer
    key     = mix(seed + fnv1a64(name))
    bits(i) = mix(key + (i + 1) * 0x9E3779B97F4A7C15)             element i, row-major as stored
    s(i)    = the sum of the four unsigned 16-bit lanes of bits(i), less 131070        near-normal (Irwin-Hall)
    value   = mean + float32(s) * float32(std / 37837.2)          float32, multiply then add, each rounded

All integers are 64 bits and wrap.
"""

import math

import numpy as np

GOLDEN_GAMMA = np.uint64(0x9E3779B97F4A7C15)
LANE_SUM_STD = 37837.2
BASE_STD = 0.02
_MASK = (1 << 64) - 1


def mix(z: np.ndarray) -> np.ndarray:
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def fnv1a64(text: str) -> int:
    hashed = 0xCBF29CE484222325
    for byte in text.encode("utf-8"):
        hashed = ((hashed ^ byte) * 0x100000001B3) & _MASK
    return hashed


def key(seed: int, name: str) -> np.uint64:
    return mix(np.array([(seed + fnv1a64(name)) & _MASK], dtype=np.uint64))[0]


def tensor(seed: int, name: str, shape: tuple[int, ...], mean: float, std: float) -> np.ndarray:
    count = math.prod(shape)
    counters = np.arange(1, count + 1, dtype=np.uint64)
    bits = mix(key(seed, name) + counters * GOLDEN_GAMMA)
    lanes = bits.view(np.uint16).reshape(count, 4).sum(axis=1, dtype=np.int32) - np.int32(131070)
    scaled = lanes.astype(np.float32) * np.float32(std / LANE_SUM_STD)
    return (np.float32(mean) + scaled).reshape(shape)


def gpt2(config: dict, seed: int, gain: float = 1.0) -> dict[str, np.ndarray]:
    """Every parameter of the shape, in the names of the published checkpoints without the `transformer.` prefix.

    `gain` (a power of two, so exact) multiplies all but the layer norms: with a gain the attention of a small shape is far
    from uniform, and a mistake in it shows.
    """
    width, layers = config["n_embd"], config["n_layer"]
    inner = config.get("n_inner") or 4 * width
    out_std = BASE_STD / math.sqrt(2 * layers)
    tensors = {}

    def add(name, *shape, std=BASE_STD):
        tensors[name] = tensor(seed, name, shape, 0.0, std) * np.float32(gain)

    def add_norm(name):
        tensors[name + ".weight"] = tensor(seed, name + ".weight", (width,), 1.0, BASE_STD)
        tensors[name + ".bias"] = tensor(seed, name + ".bias", (width,), 0.0, BASE_STD)

    add("wte.weight", config["vocab_size"], width)
    add("wpe.weight", config["n_positions"], width)
    for i in range(layers):
        block = f"h.{i}."
        add_norm(block + "ln_1")
        add(block + "attn.c_attn.weight", width, 3 * width)
        add(block + "attn.c_attn.bias", 3 * width)
        add(block + "attn.c_proj.weight", width, width, std=out_std)
        add(block + "attn.c_proj.bias", width)
        add_norm(block + "ln_2")
        add(block + "mlp.c_fc.weight", width, inner)
        add(block + "mlp.c_fc.bias", inner)
        add(block + "mlp.c_proj.weight", inner, width, std=out_std)
        add(block + "mlp.c_proj.bias", width)
    add_norm("ln_f")
    if not config.get("tie_word_embeddings", True):
        add("lm_head.weight", config["vocab_size"], width)
    return tensors


def gated(config: dict, seed: int, gain: float = 1.0) -> dict[str, np.ndarray]:
    """The same for Llama, Qwen, Mistral and SmolLM3, in the names of the published checkpoints without the `model.` prefix."""
    kind, width, layers, inner = config["model_type"], config["hidden_size"], config["num_hidden_layers"], config["intermediate_size"]
    size = config.get("head_dim") or width // config["num_attention_heads"]
    queries, keys = config["num_attention_heads"] * size, config["num_key_value_heads"] * size
    attention_bias, mlp_bias = config.get("attention_bias", False), config.get("mlp_bias", False)
    query_bias = attention_bias or kind == "qwen2"
    out_std = BASE_STD / math.sqrt(2 * layers)
    tensors = {}

    def add(name, outputs, inputs, biased=False, std=BASE_STD):
        tensors[name + ".weight"] = tensor(seed, name + ".weight", (outputs, inputs), 0.0, std) * np.float32(gain)
        if biased:
            tensors[name + ".bias"] = tensor(seed, name + ".bias", (outputs,), 0.0, BASE_STD) * np.float32(gain)

    def add_norm(name, count=width, std=BASE_STD):
        tensors[name + ".weight"] = tensor(seed, name + ".weight", (count,), 1.0, std)

    add("embed_tokens", config["vocab_size"], width)
    for i in range(layers):
        block = f"layers.{i}."
        add_norm(block + "input_layernorm")
        add(block + "self_attn.q_proj", queries, width, query_bias)
        add(block + "self_attn.k_proj", keys, width, query_bias)
        add(block + "self_attn.v_proj", keys, width, query_bias)
        if kind == "qwen3":
            add_norm(block + "self_attn.q_norm", size, 0.3)
            add_norm(block + "self_attn.k_norm", size, 0.3)
        add(block + "self_attn.o_proj", width, queries, attention_bias, std=out_std)
        add_norm(block + "post_attention_layernorm")
        add(block + "mlp.gate_proj", inner, width, mlp_bias)
        add(block + "mlp.up_proj", inner, width, mlp_bias)
        add(block + "mlp.down_proj", width, inner, mlp_bias, std=out_std)
    add_norm("norm")
    if not config.get("tie_word_embeddings", kind == "smollm3"):
        add("lm_head", config["vocab_size"], width)
    return tensors


def neox(config: dict, seed: int, gain: float = 1.0) -> dict[str, np.ndarray]:
    """The same for GPT-NeoX, in the names of the published checkpoints without the `gpt_neox.` prefix."""
    width, layers, inner = config["hidden_size"], config["num_hidden_layers"], config["intermediate_size"]
    biased = config.get("attention_bias", True)
    out_std = BASE_STD / math.sqrt(2 * layers)
    tensors = {}

    def add(name, outputs, inputs, biased=False, std=BASE_STD):
        tensors[name + ".weight"] = tensor(seed, name + ".weight", (outputs, inputs), 0.0, std) * np.float32(gain)
        if biased:
            tensors[name + ".bias"] = tensor(seed, name + ".bias", (outputs,), 0.0, BASE_STD) * np.float32(gain)

    def add_norm(name):
        tensors[name + ".weight"] = tensor(seed, name + ".weight", (width,), 1.0, BASE_STD)
        tensors[name + ".bias"] = tensor(seed, name + ".bias", (width,), 0.0, BASE_STD)

    add("embed_in", config["vocab_size"], width)
    for i in range(layers):
        block = f"layers.{i}."
        add_norm(block + "input_layernorm")
        add(block + "attention.query_key_value", 3 * width, width, biased)
        add(block + "attention.dense", width, width, biased, std=out_std)
        add_norm(block + "post_attention_layernorm")
        add(block + "mlp.dense_h_to_4h", inner, width, True)
        add(block + "mlp.dense_4h_to_h", width, inner, True, std=out_std)
    add_norm("final_layer_norm")
    if not config["tie_word_embeddings"]:
        add("embed_out", config["vocab_size"], width)
    return tensors


def ids(seed: int, name: str, count: int, vocab: int) -> list[int]:
    """Seeded token ids from the same generator: the high 32 bits, scaled to the vocabulary."""
    bits = mix(key(seed, name) + np.arange(1, count + 1, dtype=np.uint64) * GOLDEN_GAMMA)
    return [int((int(b) >> 32) * vocab >> 32) for b in bits]

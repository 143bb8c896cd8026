"""The RoPE fixture: frequencies, cosines and sines as Hugging Face computes them, in float32."""

import json
from pathlib import Path

import torch
from transformers import LlamaConfig
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding

from fixtures import compact

LLAMA3 = {"rope_type": "llama3", "factor": 32.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 8192}
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768}
CASES = {
    "default": (64, 131072, {"rope_type": "default", "rope_theta": 10000.0}),
    "odd": (80, 8192, {"rope_type": "default", "rope_theta": 130000.0}),
    "linear": (32, 8192, {"rope_type": "linear", "rope_theta": 10000.0, "factor": 2.5}),
    "llama3": (64, 131072, LLAMA3 | {"rope_theta": 500000.0}),
    "yarn": (128, 40960, YARN | {"rope_theta": 1000000.0}),
    "yarn-options": (48, 8192, YARN | {"rope_theta": 10000.0, "original_max_position_embeddings": 2048, "factor": 3.0, "beta_fast": 24.0,
                                       "beta_slow": 2.0, "mscale": 0.7, "mscale_all_dim": 1.1, "truncate": False}),
}  # fmt: skip
POSITIONS = (0, 1, 17, 1000, 8191, 40959, 131071)


def make(directory: Path, command: str, tools: dict):
    cases = []
    for name, (size, context, parameters) in CASES.items():
        config = LlamaConfig(hidden_size=4 * size, num_attention_heads=4, head_dim=size, max_position_embeddings=context, rope_parameters=dict(parameters))
        rotary = LlamaRotaryEmbedding(config)
        positions = [p for p in POSITIONS if p < context]
        cos, sin = rotary(torch.zeros(1), torch.tensor([positions]))
        half = size // 2
        cases.append({"name": name, "head_dim": size, "max_position_embeddings": context, "rope_parameters": parameters,
                      "frequencies": rotary.inv_freq.tolist(), "positions": positions,
                      "cosines": cos[0, :, :half].tolist(), "sines": sin[0, :, :half].tolist()})  # fmt: skip
    directory.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"command": command, "tools": tools, "cases": cases}, indent=1)
    (directory / "expected.json").write_text(compact(text) + "\n", encoding="utf-8")

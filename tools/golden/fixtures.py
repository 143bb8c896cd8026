"""Functions shared by the fixture scripts: logits and greedy choices of a model, and the files of a fixture."""

import json
import platform
import re
from pathlib import Path

import numpy as np
import safetensors
import safetensors.torch
import torch
import transformers

MIN_GAP = 1e-3
WITNESS_TOLERANCE = 1e-9


@torch.no_grad()
def logits_of(model, ids: list[int]) -> torch.Tensor:
    return model(torch.tensor([ids], device=model.device)).logits[0]


@torch.no_grad()
def greedy(model, prompt: list[int], count: int):
    """(ids, logprobs, gaps between the best two logits, the logits each id was chosen from), by cached decoding."""
    ids, logprobs, gaps, rows = [], [], [], []
    cache, feed = None, prompt
    for _ in range(count):
        out = model(torch.tensor([feed]), past_key_values=cache, use_cache=True)
        cache, row = out.past_key_values, out.logits[0, -1]
        best = row.topk(2)
        ids.append(best.indices[0].item())
        logprobs.append(row.log_softmax(0)[ids[-1]].item())
        gaps.append((best.values[0] - best.values[1]).item())
        rows.append(row)
        feed = ids[-1:]
    return ids, logprobs, gaps, rows


def tools() -> dict:
    return {
        "python": platform.python_version(),
        "torch": torch.__version__,
        "transformers": transformers.__version__,
        "numpy": np.__version__,
        "safetensors": safetensors.__version__,
    }


def witness(config, weights) -> dict:
    """The same weights as the second implementation wants them."""
    return {name: tensor.to(torch.float64).numpy() for name, tensor in weights.items()}


def write(directory: Path, expected: dict, tensors: dict[str, torch.Tensor]):
    directory.mkdir(parents=True, exist_ok=True)
    stored = {name: tensor.to(torch.float32).contiguous().clone() for name, tensor in tensors.items()}
    safetensors.torch.save_file(stored, directory / "tensors.safetensors")
    (directory / "tensors.safetensors").chmod(0o644)
    text = json.dumps(expected, indent=1, ensure_ascii=False)
    (directory / "expected.json").write_text(compact(text) + "\n", encoding="utf-8")


def compact(text: str) -> str:
    """Number lists on one line."""
    return re.sub(r"\[\s+([-\d.eE+,\s]+?)\s+\]", lambda m: "[" + re.sub(r"\s+", " ", m.group(1)) + "]", text)

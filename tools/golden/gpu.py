"""Adds to goldens what transformers computes on a GPU in float32, float16 and bfloat16, in addition to their float64 values.

    python gpu.py --goldens src/test/resources/golden --builtin DIRECTORY [--out DIRECTORY]

DIRECTORY is the built-in model as Hugging Face reads it, model.safetensors unpacked. For every logits tensor of a golden its
gpu.safetensors gets `fp32.NAME` (as float32, TF32 off) and `fp16.NAME` (as float16), computed over the whole sequence at once; its
gpu.json says how far each type is from float64, logits and the residual stream after every block: that is what a type costs in
the reference itself, and a tolerance for another engine in that type belongs above it.
"""

import argparse
import functools
import json
from pathlib import Path

import fixtures
import golden
import random_weights
import safetensors.torch
import torch
from families import FAMILIES
from safetensors.torch import load_file
from shapes import GPT2_124M

TYPES = {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}
STORED = ("fp32", "fp16")


@functools.cache
def gpt2_weights() -> dict[str, torch.Tensor]:
    return {n: torch.from_numpy(w) for n, w in random_weights.gpt2(GPT2_124M.config, GPT2_124M.seed, GPT2_124M.gain).items()}


def gpt2_random(dtype):
    return golden.hugging_face(GPT2_124M.config, gpt2_weights()).to(dtype)


def wanted_rows(name: str, prompt: int, expected: dict, logits: torch.Tensor) -> torch.Tensor:
    """The part of a whole sequence's logits that the golden's tensor of this name holds."""
    _, _, *what = name.split(".")
    if what == ["logits"]:
        return logits[:prompt]
    if what[0] == "step":
        return logits[prompt - 1 + int(what[1])]
    row = {"prompt_end": prompt - 1, "generated_end": -1}[what[0]]
    return logits[row, expected["vocab_subset"]]


@torch.no_grad()
def run(model, ids):
    """Logits and the residual stream of a whole sequence, on the host in float64."""
    states = golden.hidden_states(model, ids)
    return fixtures.logits_of(model, ids).double().cpu(), {name: state.double().cpu() for name, state in states.items()}


def difference(a, b) -> dict:
    apart = (a - b).abs()
    return {"max": apart.max().item(), "mean": apart.mean().item()}


def make(name: str, model_of, goldens: Path, out: Path):
    expected = json.loads((goldens / name / "expected.json").read_text(encoding="utf-8"))
    exact = load_file(goldens / name / "tensors.safetensors")
    logits_names = [n for n in exact if n.endswith("logits")]
    model64 = model_of(torch.float64).cuda()
    sequences = [p["ids"] + p["greedy"][:-1] for p in expected["prompts"]]
    truth = [run(model64, ids) for ids in sequences]
    tensors, types = {}, {}
    for label, dtype in TYPES.items():
        model = model_of(dtype).cuda()
        seen = [run(model, ids) for ids in sequences]
        for tensor in logits_names:
            p = int(tensor.split(".")[1])
            rows = wanted_rows(tensor, len(expected["prompts"][p]["ids"]), expected, seen[p][0])
            assert label != "fp32" or (rows - exact[tensor].double()).abs().max() < 1e-3, (name, tensor)
            if label in STORED:
                tensors[f"{label}.{tensor}"] = rows.to(dtype).contiguous()
        worst = max(range(len(sequences)), key=lambda p: difference(seen[p][0], truth[p][0])["max"])
        types[label] = {
            "logits": difference(torch.cat([s[0] for s in seen]), torch.cat([t[0] for t in truth])),
            "prompt_of_hidden": worst,
            "hidden": {n: difference(seen[worst][1][n], truth[worst][1][n]) for n in truth[worst][1]},
        }
        print(f"{name}: transformers {label} against float64, logits: max {types[label]['logits']['max']:.2e}, mean {types[label]['logits']['mean']:.2e}")
    folder = out / name
    folder.mkdir(parents=True, exist_ok=True)
    safetensors.torch.save_file(tensors, folder / "gpu.safetensors")
    about = {"name": name, "command": "python gpu.py --goldens src/test/resources/golden --builtin DIRECTORY", "tools": fixtures.tools(),
             "device": torch.cuda.get_device_name(0), "cuda": torch.version.cuda, "from_float64": types}  # fmt: skip
    (folder / "gpu.json").write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--goldens", type=Path, required=True)
    parser.add_argument("--builtin", type=Path, required=True, help="the built-in model with model.safetensors unpacked")
    parser.add_argument("--out", type=Path, help="where the folders are written; the goldens themselves by default")
    opts = parser.parse_args()
    assert not torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False
    out = opts.out or opts.goldens
    make("gpt2-random", gpt2_random, opts.goldens, out)
    make("builtin-tiny", lambda dtype: FAMILIES["gpt2"].load(opts.builtin).to(dtype), opts.goldens, out)


if __name__ == "__main__":
    main()

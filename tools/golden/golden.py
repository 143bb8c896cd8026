"""Makes the golden fixtures: results of Hugging Face's models in float64, for models of every supported shape.

    python golden.py --out src/test/resources/golden --builtin src/main/resources/io/roseinfer/builtin/tiny [NAME …]

Every number comes from `transformers` (eager attention) run in float64 and is stored as float32. Before anything is
written, it is checked against a second, independent implementation (`reference.py`), and against the same model in
float32, whose largest deviation is recorded. Greedy choices must win by a clear margin, and every option that a shape
exercises must matter: reading it wrongly has to move the logits.
"""

import argparse
import json
import shutil
from pathlib import Path

import numpy as np
import safetensors.torch
import torch
from transformers import GPT2Config, GPT2LMHeadModel

import chat
import random_weights
import reference
import rope
import tiny
from families import FAMILIES
from fixtures import MIN_GAP, WITNESS_TOLERANCE, greedy, logits_of, tools, witness, write
from shapes import GPT2_124M, SMALL, Golden

DTYPES = {"F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16}
TOP = 16
SUBSET = 512


def hugging_face(config: dict, weights: dict[str, torch.Tensor]) -> GPT2LMHeadModel:
    """The model built in memory; used where there is no directory to load."""
    model = GPT2LMHeadModel(GPT2Config(**config, attn_implementation="eager")).eval()
    missing, unexpected = model.transformer.load_state_dict(weights, strict=False)
    assert not unexpected and all("attn.bias" in name or "masked_bias" in name for name in missing), (missing, unexpected)
    model.tie_weights()
    return model


@torch.no_grad()
def hidden_states(model, ids: list[int]) -> dict[str, torch.Tensor]:
    """The residual stream: after the embeddings (0), after each block (1 … layers), and after the final norm."""
    states, hooks = {}, []

    def keep(name):
        return lambda _module, _inputs, output: states.__setitem__(name, (output[0] if isinstance(output, tuple) else output).view(len(ids), -1))

    embedded, blocks, norm = FAMILIES[model.config.model_type].stream(model)
    hooks.append(embedded.register_forward_hook(keep("hidden.0")))
    for i, block in enumerate(blocks):
        hooks.append(block.register_forward_hook(keep(f"hidden.{i + 1}")))
    hooks.append(norm.register_forward_hook(keep("hidden.norm")))
    logits_of(model, ids)
    for hook in hooks:
        hook.remove()
    return states


def save_model(directory: Path, golden: Golden, weights: dict[str, torch.Tensor]):
    """A Hugging Face directory with the shape's quirks: a name prefix, shards, leftover buffers."""
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    (directory / "config.json").write_text(json.dumps(golden.config, indent=2) + "\n")
    named = {(name if name.startswith(("lm_head", "embed_out")) else golden.prefix + name): tensor for name, tensor in weights.items()}
    if golden.buffers and golden.config["model_type"] == "gpt_neox":
        for i in range(golden.config["num_hidden_layers"]):
            named[f"{golden.prefix}layers.{i}.attention.bias"] = torch.ones(1, 1, 8, 8, dtype=torch.bool).tril()
            named[f"{golden.prefix}layers.{i}.attention.masked_bias"] = torch.tensor(-1e9)
            named[f"{golden.prefix}layers.{i}.attention.rotary_emb.inv_freq"] = torch.ones(2)
    elif golden.buffers:
        positions = golden.config["n_positions"]
        for i in range(golden.config["n_layer"]):
            named[f"{golden.prefix}h.{i}.attn.bias"] = torch.ones(positions, positions, dtype=torch.bool).tril().view(1, 1, positions, positions)
            named[f"{golden.prefix}h.{i}.attn.masked_bias"] = torch.tensor(-1e4)
    if golden.shards == 1:
        safetensors.torch.save_file(named, directory / "model.safetensors", metadata={"format": "pt"})
    else:
        save_shards(directory, named, golden.shards)
    for file in directory.iterdir():
        file.chmod(0o644)


def save_shards(directory: Path, named: dict[str, torch.Tensor], shards: int):
    names, where = sorted(named), {}
    per_shard = -(-len(names) // shards)
    for i in range(shards):
        part = names[i * per_shard : (i + 1) * per_shard]
        file = f"model-{i + 1:05d}-of-{shards:05d}.safetensors"
        safetensors.torch.save_file({name: named[name] for name in part}, directory / file, metadata={"format": "pt"})
        where |= dict.fromkeys(part, file)
    size = sum(t.numel() * t.element_size() for t in named.values())
    index = {"metadata": {"total_size": size}, "weight_map": where}
    (directory / "model.safetensors.index.json").write_text(json.dumps(index, indent=2) + "\n")


def sensitivity(golden: Golden, weights64: dict, prompt, exact: np.ndarray) -> dict:
    """The change of the logits when one option is misread; it shows that the fixture can fail."""
    moved = {}
    for option, wrong in golden.flips.items():
        other = FAMILIES[golden.config["model_type"]].witness(golden.config | {option: wrong}, weights64, prompt)
        moved[f"{option}={json.dumps(wrong)}"] = float(np.abs(other - exact).max())
    return moved


def make_small(golden: Golden, out: Path, command: str):
    config, directory = golden.config, out / golden.name
    dtype = DTYPES[golden.dtype]
    family = FAMILIES[config["model_type"]]
    weights = {n: torch.from_numpy(w).to(dtype) for n, w in family.weights(config, golden.seed, golden.gain).items()}
    save_model(directory, golden, weights)
    model32 = family.load(directory)
    model64 = family.double(family.load(directory))
    weights64 = witness(config, weights)
    tensors, prompts, deviation = {}, [], 0.0
    for p, length in enumerate(golden.prompt_lengths):
        ids, found = settled_prompt(model64, golden, p, length)
        tokens, logprobs, gaps, _ = found
        logits = logits_of(model64, ids)
        difference = np.abs(logits.numpy() - family.witness(config, weights64, ids)).max()
        assert difference < WITNESS_TOLERANCE, (golden.name, difference)
        whole = ids + tokens
        deviation = max(deviation, (logits_of(model32, whole).double() - logits_of(model64, whole)).abs().max().item())
        tensors[f"prompt.{p}.logits"] = logits
        prompts.append({"ids": ids, "greedy": tokens, "greedy_logprobs": logprobs, "smallest_gap": min(gaps)})
    with_hidden = next(p for p, length in enumerate(golden.prompt_lengths) if length == 7)
    ids = prompts[with_hidden]["ids"]
    tensors |= {f"prompt.{with_hidden}.{name}": state for name, state in hidden_states(model64, ids).items()}
    moved = sensitivity(golden, weights64, prompts[-1]["ids"], tensors[f"prompt.{len(prompts) - 1}.logits"].numpy())
    assert all(m > 10 * deviation for m in moved.values()), (golden.name, moved, deviation)
    weights_note = {"seed": golden.seed, "gain": golden.gain, "stored_as": golden.dtype, "prefix": golden.prefix}
    expected = {"name": golden.name, "command": command, "tools": tools(), "weights": weights_note, "float32_deviation": deviation,
                "sensitivity": moved, "hidden_states_of_prompt": with_hidden, "prompts": prompts}  # fmt: skip
    write(directory, expected, tensors)
    print(golden.name, "float32 deviation", deviation, "sensitivity", moved, "gaps", [round(p["smallest_gap"], 4) for p in prompts])


def settled_prompt(model, golden: Golden, index: int, length: int):
    """The first seeded prompt of this length whose greedy continuation never hangs on a near tie."""
    for attempt in range(100):
        ids = random_weights.ids(golden.seed, f"prompt.{index}.{attempt}", length, golden.config["vocab_size"])
        found = greedy(model, ids, golden.greedy)
        if min(found[2]) > MIN_GAP:
            return ids, found
    raise AssertionError(f"{golden.name}: no prompt of {length} ids has clear greedy choices")


def summary(row: torch.Tensor) -> dict:
    top = row.topk(TOP)
    return {"ids": top.indices.tolist(), "logits": top.values.tolist(), "log_sum_exp": row.logsumexp(0).item()}


def make_124m(golden: Golden, out: Path, command: str):
    config = golden.config
    arrays = random_weights.gpt2(config, golden.seed, golden.gain)
    check = arrays["h.0.attn.c_attn.weight"]
    checksum = {"tensor": "h.0.attn.c_attn.weight", "first": [float(v) for v in check.reshape(-1)[:4]], "sum_float64": float(check.sum(dtype=np.float64))}
    weights = {n: torch.from_numpy(w) for n, w in arrays.items()}
    model = hugging_face(config, weights)
    subset = sorted(set(random_weights.ids(golden.seed, "vocab_subset", 2 * SUBSET, config["vocab_size"])))[: 2 * SUBSET : 2]
    subset = sorted({0, 1, 127, 128, config["vocab_size"] - 2, config["vocab_size"] - 1} | set(subset))
    model64 = hugging_face(config, weights).double()
    tensors, prompts, deviation = {}, [], 0.0
    for p, length in enumerate(golden.prompt_lengths):
        ids, (tokens, logprobs, gaps, rows) = settled_prompt(model64, golden, p, length)
        whole = ids + tokens[:-1]
        deviation = max(deviation, (logits_of(model, whole).double()[length - 1 :] - torch.stack(rows)).abs().max().item())
        prompts.append({"ids": ids, "greedy": tokens, "greedy_logprobs": logprobs, "smallest_gap": min(gaps),
                        "prompt_end": summary(rows[0]), "generated_end": summary(rows[-1])})  # fmt: skip
        tensors[f"prompt.{p}.prompt_end.logits"] = rows[0][subset]
        tensors[f"prompt.{p}.generated_end.logits"] = rows[-1][subset]
    ids = prompts[1]["ids"]
    difference = np.abs(logits_of(model64, ids).numpy() - reference.logits(config, witness(config, weights), ids)).max()
    assert difference < WITNESS_TOLERANCE, difference
    expected = {"name": golden.name, "command": command, "tools": tools(), "weights": {"seed": golden.seed, "gain": 1.0, "checksum": checksum},
                "config": config, "float32_deviation": deviation, "vocab_subset": subset, "prompts": prompts}  # fmt: skip
    write(out / golden.name, expected, tensors)
    print(golden.name, "float32 deviation", deviation, "witness", difference, "gaps", [p["smallest_gap"] for p in prompts],
          "distinct", [len(set(p["greedy"])) for p in prompts], checksum)  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--builtin", type=Path, required=True, help="the directory of the built-in model; builtin:chat is next to it")
    parser.add_argument("names", nargs="*", help="only these")
    opts = parser.parse_args()
    wanted = set(opts.names) or {"builtin-tiny", "builtin-chat", "rope", GPT2_124M.name, *(g.name for g in SMALL)}
    command = "python tools/golden/golden.py --out src/test/resources/golden --builtin src/main/resources/io/roseinfer/builtin/tiny"
    torch.manual_seed(0)
    for golden in SMALL:
        if golden.name in wanted:
            make_small(golden, opts.out, command)
    if GPT2_124M.name in wanted:
        make_124m(GPT2_124M, opts.out, command)
    if "rope" in wanted:
        rope.make(opts.out / "rope", command, tools())
    if "builtin-tiny" in wanted:
        tiny.make(opts.builtin, opts.out / "builtin-tiny", command)
    if "builtin-chat" in wanted:
        chat.make(opts.builtin.parent / "chat", opts.out / "builtin-chat", command)


if __name__ == "__main__":
    main()

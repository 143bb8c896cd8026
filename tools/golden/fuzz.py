"""Draws models of odd shapes and compares the engine with `transformers` on them: python fuzz.py --command roseinfer [--models 100].

Each model is a config.json as version 4 or 5 of transformers writes it, some fields left out so that defaults count, and seeded
random weights in one or several files. The engine continues a prompt; transformers, in float64 and fed the engine's own tokens,
must give the same log probabilities, and no other token a higher one. Narrow types have no limit: their errors are listed, and
that they refuse a model (exit code 3) is allowed.
"""

import argparse
import json
import random
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import torch
from safetensors.torch import save_file
from transformers import AutoConfig, AutoModelForCausalLM

NEW_TOKENS = 20
STORED = {"F32": torch.float32, "BF16": torch.bfloat16, "F16": torch.float16}
NAMES = {"llama": "Llama", "qwen2": "Qwen2", "qwen3": "Qwen3", "mistral": "Mistral", "smollm3": "SmolLM3", "gpt_neox": "GPTNeoX", "gpt2": "GPT2"}
EXACT = 2e-3  # tolerance of a log probability with 32-bit accumulation


def scaling(rng, positions, turning):
    """The fields of a rotary scaling, or None."""
    kind = rng.choice(["default", "default", "linear", "llama3", "yarn", "yarn"])
    if kind == "default":
        return None
    fields = {"rope_type": kind, "factor": rng.choice([1.5, 2.0, 4.0, 8.0])}
    if kind == "llama3":
        low = rng.choice([1.0, 0.5])
        fields |= {"low_freq_factor": low, "high_freq_factor": low * rng.choice([2, 4]), "original_max_position_embeddings": rng.choice([16, 64])}
    if kind == "yarn":
        fields["original_max_position_embeddings"] = rng.choice([16, 32, 64])
        if rng.random() < 0.4:
            fields |= {"beta_fast": rng.choice([16.0, 32.0]), "beta_slow": rng.choice([1.0, 2.0])}
        if rng.random() < 0.3:
            fields["attention_factor"] = rng.choice([0.8, 1.2])
        elif rng.random() < 0.4:
            fields |= {"mscale": 1.0, "mscale_all_dim": rng.choice([0.5, 1.0])}
        if rng.random() < 0.3:
            fields["truncate"] = rng.choice([True, False])
    return fields


def rotary(rng, fields, positions, v5, partial=None, theta_name="rope_theta"):
    theta = rng.choice([10000.0, 100.0, 500000.0])
    scaled = scaling(rng, positions, fields)
    if v5:
        fields["rope_parameters"] = (scaled or {"rope_type": "default"}) | {"rope_theta": theta}
        if partial is not None:
            fields["rope_parameters"]["partial_rotary_factor"] = partial
        return
    if rng.random() < 0.8:
        fields[theta_name] = theta
    if scaled is not None:
        if scaled["rope_type"] == "linear" and rng.random() < 0.5:
            scaled["type"] = scaled.pop("rope_type")
        fields["rope_scaling"] = scaled
    elif rng.random() < 0.5:
        fields["rope_scaling"] = None


def common(rng, kind, v5):
    return {
        "architectures": [NAMES[kind] + ("LMHeadModel" if kind == "gpt2" else "ForCausalLM")],
        "model_type": kind,
        "vocab_size": rng.randint(17, 700),
        "bos_token_id": 1,
        "eos_token_id": rng.choice([2, [2, 3]]),
        "dtype" if v5 else "torch_dtype": "float32",
        "transformers_version": "5.1.0" if v5 else "4.48.0",
    }


def gpt2(rng, v5):
    heads = rng.randint(1, 5)
    fields = common(rng, "gpt2", v5) | {
        "n_embd": heads * rng.choice([4, 7, 12, 16, 33, 64]),
        "n_head": heads,
        "n_layer": rng.randint(1, 3),
        "n_positions": rng.choice([200, 256]),
    }
    optional(rng, fields, n_inner=[None, 50, 131], activation_function=["gelu_new", "gelu", "relu", "gelu_pytorch_tanh"],
             scale_attn_weights=[True, False], scale_attn_by_inverse_layer_idx=[True, False], layer_norm_epsilon=[1e-5, 1e-3],
             tie_word_embeddings=[True, False])
    return fields


def neox(rng, v5):
    heads, size = rng.randint(1, 5), rng.choice([4, 8, 12, 20, 32, 64])
    fields = common(rng, "gpt_neox", v5) | {
        "hidden_size": heads * size,
        "num_attention_heads": heads,
        "num_hidden_layers": rng.randint(1, 3),
        "intermediate_size": rng.randint(9, 200),
        "max_position_embeddings": rng.choice([200, 256, 2048]),
    }
    optional(rng, fields, use_parallel_residual=[True, False], attention_bias=[True, False], layer_norm_eps=[1e-5, 1e-3],
             tie_word_embeddings=[True, False], hidden_act=["gelu", "gelu_new", "relu", "gelu_fast"])
    share = rng.choice([share for share in (0.25, 0.5, 1.0) if int(size * share) % 2 == 0 and size * share >= 2])
    if not v5:
        fields["rotary_pct"] = share
    rotary(rng, fields, fields["max_position_embeddings"], v5, share, "rotary_emb_base")
    return fields


def optional(rng, fields, **choices):
    for name, values in choices.items():
        if rng.random() < 0.7:
            fields[name] = rng.choice(values)


def gated(rng, kind, v5):
    kv = rng.choice([1, 1, 2, 3])
    heads = kv * rng.choice([1, 2, 3, 5, 7])
    size = rng.choice([2, 4, 6, 12, 16, 20, 34, 48, 64, 80, 96, 128, 160])
    tied = rng.random() < 0.5
    fields = common(rng, kind, v5) | {
        "num_attention_heads": heads,
        "num_key_value_heads": kv,
        "num_hidden_layers": rng.randint(1, 4),
        "intermediate_size": rng.randint(7, 300),
        "max_position_embeddings": rng.choice([200, 256, 4096]),
    }
    if rng.random() < 0.5 or kind == "smollm3":
        fields["hidden_size"] = heads * size
        if kind == "qwen3":
            fields["head_dim"] = size
    else:
        fields |= {"hidden_size": rng.randint(5, 150), "head_dim": size}
    optional(rng, fields, rms_norm_eps=[1e-6, 1e-5, 1e-2], tie_word_embeddings=[tied], hidden_act=["silu"])
    if kind == "smollm3":
        fields["tie_word_embeddings"] = tied
        fields["pad_token_id"] = 0
    if kind in ("llama", "smollm3"):
        optional(rng, fields, attention_bias=[True, False], mlp_bias=[True, False])
    if kind == "qwen3":
        optional(rng, fields, attention_bias=[True, False])
    if kind == "mistral":
        optional(rng, fields, sliding_window=[None, 3, 17, 64, 5000])
    if kind in ("qwen2", "qwen3", "smollm3"):
        windows(rng, fields, kind)
    if kind == "smollm3":
        optional(rng, fields, no_rope_layer_interval=[2, 3, 4])
        if rng.random() < 0.5:
            fields["no_rope_layers"] = [rng.randint(0, 1) for _ in range(fields["num_hidden_layers"])]
    rotary(rng, fields, fields["max_position_embeddings"], v5)
    return fields


def windows(rng, fields, kind):
    layers = fields["num_hidden_layers"]
    if rng.random() < 0.6:
        fields |= {"use_sliding_window": rng.random() < 0.7, "sliding_window": rng.choice([2, 9, 33, 64])}
        if kind != "smollm3":
            fields["max_window_layers"] = rng.randint(0, layers)
        if fields["use_sliding_window"] and rng.random() < 0.5:
            fields["layer_types"] = [rng.choice(["full_attention", "sliding_attention"]) for _ in range(layers)]


def weights(model, rng, stored):
    """Weights that let every part of the model show in the logits."""
    generator = torch.Generator().manual_seed(rng.randrange(2**31))
    tensors = {}
    for name, parameter in model.named_parameters():
        noise = torch.randn(parameter.shape, generator=generator)
        if name.endswith("bias"):
            value = 0.3 * noise
        elif "norm" in name or ".ln_" in name:
            value = 1 + 0.3 * noise
        elif parameter.dim() == 2 and not ("embed" in name or "wte" in name or "wpe" in name):
            value = 1.5 * noise / (parameter.shape[0] if ".c_" in name else parameter.shape[1]) ** 0.5
        else:
            value = noise
        tensors[name] = value.to(stored).contiguous()
    return tensors


def save(directory, tensors, rng):
    """In one file, or in shards with their index."""
    names = sorted(tensors)
    if rng.random() < 0.6:
        save_file(tensors, directory / "model.safetensors", {"format": "pt"})
        return
    rng.shuffle(names)
    count = rng.randint(2, 3)
    index = {}
    for i in range(count):
        file = f"model-{i + 1:05}-of-{count:05}.safetensors"
        part = {name: tensors[name] for name in names[i::count]}
        save_file(part, directory / file, {"format": "pt"})
        index |= {name: file for name in part}
    (directory / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": index}))


def make(directory, seed):
    """The model of a seed; None where transformers refuses such a config."""
    rng = random.Random(seed)
    kind = rng.choice(list(NAMES))
    v5 = rng.random() < 0.5
    fields = {"gpt2": gpt2, "gpt_neox": neox}.get(kind, lambda r, v: gated(r, kind, v))(rng, v5)
    directory.mkdir()
    (directory / "config.json").write_text(json.dumps(fields, indent=1))
    try:
        config = AutoConfig.from_pretrained(directory)
    except Exception as refusal:
        print(f"transformers refuses seed {seed}: {str(refusal).splitlines()[-1].strip()}")
        return None
    stored = rng.choice(list(STORED))
    model = AutoModelForCausalLM.from_config(config, attn_implementation="eager").double().eval()
    tensors = weights(model, rng, STORED[stored])
    missing = model.load_state_dict({name: tensor.double() for name, tensor in tensors.items()}, strict=False)
    assert not missing.unexpected_keys
    save(directory, tensors, rng)
    prompt = [rng.randrange(4, fields["vocab_size"]) for _ in range(rng.choice([1, 2, 5, 17, 40, 64, 100, 150]))]
    return {"seed": seed, "kind": kind, "fields": fields, "stored": stored, "model": model, "prompt": prompt, "dir": directory}


def run(command, case, options):
    line = command.split() + ["generate", "--model", str(case["dir"]), "--prompt-ids", ",".join(map(str, case["prompt"])), "--json",
                              "--logprobs", "5", "--max-new-tokens", str(NEW_TOKENS), *options]
    done = subprocess.run(line, capture_output=True, text=True, timeout=300)
    if done.returncode:
        return f"exit {done.returncode}: {done.stderr.strip()[-300:]}"
    return json.loads(done.stdout)


def errors(case, answer):
    """The largest error of a log probability, and by how much a token that was not taken was likelier."""
    ids = answer["ids"]
    with torch.no_grad():
        logits = case["model"](torch.tensor([case["prompt"] + ids]), use_cache=False).logits[0]
    rows = torch.log_softmax(logits[len(case["prompt"]) - 1 : -1].double(), -1)
    worst = margin = 0.0
    for row, token, top in zip(rows, ids, answer["top_logprobs"], strict=True):
        margin = max(margin, (row.max() - row[token]).item())
        worst = max([worst] + [abs(row[entry["id"]].item() - entry["logprob"]) for entry in top])
    whole = len(ids) == NEW_TOKENS if answer["finish_reason"] == "length" else answer["finish_reason"] == "stop"
    return worst, margin, whole


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--command", required=True, help="the command of the engine")
    parser.add_argument("--models", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1, help="of the first model")
    parser.add_argument("--jobs", type=int, default=4, help="engines at a time")
    parser.add_argument("--cuda", action="store_true", help="on the GPU, too")
    parser.add_argument("--exact", action="store_true", help="leave out the types whose results are only reported")
    parser.add_argument("--show", action="store_true", help="print every model")
    arguments = parser.parse_args()
    cpu = ["--device", "cpu", "--threads", "2"]
    kinds = {"cpu": (cpu, EXACT), "cpu int8": ([*cpu, "--dtype", "int8"], None)}
    if arguments.cuda:
        kinds |= {
            "cuda fp32": (["--device", "cuda", "--dtype", "fp32"], EXACT),
            "cuda": (["--device", "cuda"], None),
            "cuda int8": (["--device", "cuda", "--dtype", "int8"], None),
            "cuda fp8 keys": (["--device", "cuda", "--kv-cache-dtype", "fp8"], None),
        }
    if arguments.exact:
        kinds = {name: kind for name, kind in kinds.items() if kind[1] is not None}
    failed, seen = 0, {}
    with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor(arguments.jobs) as pool:
        seeds = range(arguments.seed, arguments.seed + arguments.models)
        cases = [case for case in (make(Path(scratch) / str(seed), seed) for seed in seeds) if case is not None]
        tasks = [(case, name, limit, pool.submit(run, arguments.command, case, options))
                 for case in cases for name, (options, limit) in kinds.items()]
        for case, name, limit, task in tasks:
            answer = task.result()
            if isinstance(answer, str):
                seen.setdefault(name, []).append(None)
                verdict, text = limit is not None or not answer.startswith("exit 3: "), answer
            else:
                worst, margin, whole = errors(case, answer)
                seen.setdefault(name, []).append(worst)
                verdict = not whole or (limit is not None and (worst > limit or margin > limit))
                text = f"error {worst:.2e}, margin {margin:.2e}, whole {whole}"
            failed += verdict
            if verdict or arguments.show:
                print(f"{'FAILED' if verdict else 'ok'} seed {case['seed']} {name}, stored {case['stored']}, prompt of {len(case['prompt'])}: {text}\n"
                      f"  {json.dumps(case['fields'])}", flush=True)
    for name, found in seen.items():
        known = sorted(error for error in found if error is not None)
        middle = f"median error {known[len(known) // 2]:.1e}, largest {known[-1]:.1e}" if known else ""
        print(f"{name}: {len(known)} models answered, {len(found) - len(known)} refused; {middle}")
    print(f"{len(cases)} models, {failed} failed")
    raise SystemExit(1 if failed else 0)


if __name__ == "__main__":
    main()

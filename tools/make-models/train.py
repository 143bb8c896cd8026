"""Trains the built-in model: writes the corpus, learns the vocabulary, trains, rounds, exports.

    python train.py --out OUT                          the recipe of the published model (one H200: a few minutes)
    python train.py --out OUT --documents 400 --steps 5 --batch 4 --width 64 --layers 1     a smoke test on any CPU
"""

import argparse
import json
import math
import time
from pathlib import Path

import torch
import torch.nn.functional as F
from safetensors.torch import save_file

import data
from gpt2 import Gpt2, Shape
from rounding import Grid, Rounded

PROMPTS = ["Once upon a time", "Hello", "The lighthouse", 'She said, "', "The", "Once upon a time, there was a brave little fox",
           "Question: What color is the sky?\nAnswer:", "Hello Hello Hello Hello Hello Hello", "def f(x):", "你好"]  # fmt: skip


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--documents", type=int, default=1_000_000)
    parser.add_argument("--held-out", type=int, default=2_000)
    parser.add_argument("--vocab", type=int, default=2048)
    parser.add_argument("--width", type=int, default=256, help="64 per head")
    parser.add_argument("--layers", type=int, default=5)
    parser.add_argument("--steps", type=int, default=8000)
    parser.add_argument("--batch", type=int, default=256, help="windows of 512 tokens per step")
    parser.add_argument("--learning-rate", type=float, default=2e-3)
    parser.add_argument("--round-from", type=float, default=0.6, help="fraction of the steps after which weights are rounded")
    parser.add_argument("--minutes", type=float, default=1e9, help="end the training, and its schedule, after this time if not after --steps")
    return parser.parse_args()


class Windows:
    """Random windows of the training stream: a share of them begins where a document begins, the others anywhere."""

    def __init__(self, ids, starts, length, device, seed, aligned=0.5):
        self.aligned = aligned
        self.ids = torch.from_numpy(ids.astype("int32")).to(device)
        self.starts = torch.from_numpy(starts[starts < len(ids) - length - 1]).to(device)
        self.offsets = torch.arange(length + 1, device=device)
        self.limit = len(ids) - length - 1
        self.generator = torch.Generator(device).manual_seed(seed)

    def draw(self, count):
        device, share = self.ids.device, int(count * self.aligned)
        anywhere = torch.randint(self.limit, (count - share,), device=device, generator=self.generator)
        aligned = self.starts[torch.randint(len(self.starts), (share,), device=device, generator=self.generator)]
        return self.split(self.ids[torch.cat([anywhere, aligned])[:, None] + self.offsets])

    @staticmethod
    def split(rows):
        inputs = (rows[:, :-1] & (data.IGNORED - 1)).long()
        targets = rows[:, 1:].long()
        return inputs, torch.where(targets >= data.IGNORED, -100, targets)


def loss_of(model, inputs, targets):
    with torch.autocast(inputs.device.type, dtype=torch.bfloat16):
        logits = model(inputs)
    return F.cross_entropy(logits.float().view(-1, logits.shape[-1]), targets.view(-1), ignore_index=-100)


@torch.no_grad()
def perplexity(model, ids, length, device) -> float:
    """Of the held-out stream, cut into windows, in float32."""
    count = (len(ids) - 1) // length
    rows = torch.from_numpy(ids.astype("int64"))
    windows = torch.stack([rows[i * length : i * length + length + 1] for i in range(count)])
    total, tokens = 0.0, 0
    for part in windows.split(32):
        inputs, targets = Windows.split(part.to(device))
        logits = model(inputs)
        total += F.cross_entropy(logits.view(-1, logits.shape[-1]), targets.view(-1), ignore_index=-100, reduction="sum").item()
        tokens += (targets >= 0).sum().item()
    return math.exp(total / tokens)


def learning_rate(step, progress, opts):
    """Linear warm-up by steps, then a cosine over the rest of the run; `progress` is how much of the run is over, from 0 to 1."""
    warmup = min(300, opts.steps // 10 + 1)
    if step < warmup:
        return opts.learning_rate * (step + 1) / warmup
    warm = warmup / (opts.steps + 1)
    rest = max(0.0, (progress - warm) / (1 - warm))
    return opts.learning_rate * (0.01 + 0.99 * 0.5 * (1 + math.cos(math.pi * rest)))


def optimizer_for(model, device):
    decayed = [p for p in model.parameters() if p.dim() == 2]
    others = [p for p in model.parameters() if p.dim() < 2]
    groups = [{"params": decayed, "weight_decay": 0.1}, {"params": others, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=1.0, betas=(0.9, 0.95), eps=1e-8, fused=device == "cuda")


def train(model, compiled, windows, opts, device, log):
    """Trains for `opts.steps` steps or `opts.minutes`, whichever ends first; the schedule follows whichever is ahead."""
    optimizer, grid, began = optimizer_for(model, device), None, time.monotonic()
    for step in range(opts.steps):
        progress = max(step / opts.steps, (time.monotonic() - began) / (60 * opts.minutes))
        if progress >= 1:
            log(f"stopped by --minutes at step {step}")
            break
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(step, progress, opts)
        if grid is None and progress >= opts.round_from:
            grid = Grid(model)
        inputs, targets = windows.draw(opts.batch)
        if grid is None:
            loss = loss_of(compiled, inputs, targets)
            loss.backward()
        else:
            with Rounded(model, grid):
                loss = loss_of(compiled, inputs, targets)
                loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        if step % 200 == 0 or step == opts.steps - 1:
            log(f"step {step} loss {loss.item():.4f} {time.monotonic() - began:.1f} s")
    return grid or Grid(model)


@torch.no_grad()
def generate(model, tokenizer, prompt, count, device, temperature=0.0, top_k=40, seed=0):
    """A continuation, whole-sequence forward passes only: slow, simple, and stopped by the end-of-text token."""
    generator = torch.Generator("cpu").manual_seed(seed)
    ids = tokenizer.encode(prompt).ids
    for _ in range(count):
        logits = model(torch.tensor([ids], device=device))[0, -1].float().cpu()
        if temperature > 0:
            values, indices = (logits / temperature).topk(top_k)
            token = indices[torch.multinomial(values.softmax(0), 1, generator=generator)].item()
        else:
            token = logits.argmax().item()
        if token == tokenizer.token_to_id(data.END_OF_TEXT):
            return tokenizer.decode(ids) + " [end]"
        ids.append(token)
    return tokenizer.decode(ids)


def export(model, tokenizer, out, config, generation):
    """The model as a Hugging Face directory; the weights are expected to be exact in BF16 already."""
    state = {name: p.detach().cpu() for name, p in model.named_parameters()}
    narrow = {name: p.bfloat16().contiguous() for name, p in state.items()}
    assert all(torch.equal(narrow[name].float(), state[name]) for name in state), "weights must be exact in BF16"
    save_file(narrow, out / "model.safetensors", metadata={"format": "pt"})
    (out / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    (out / "generation_config.json").write_text(json.dumps(generation, indent=2) + "\n")
    tokenizer.save(str(out / "tokenizer.json"))


def write_samples(model, tokenizer, device, out):
    with open(out / "samples.md", "w", encoding="utf-8") as file:
        for prompt in PROMPTS:
            print(f"## {prompt!r}\n\ngreedy:\n\n{generate(model, tokenizer, prompt, 300, device)}\n", file=file)
            for seed in range(2):
                text = generate(model, tokenizer, prompt, 300, device, temperature=0.8, seed=seed)
                print(f"temperature 0.8, top-k 40, seed {seed}:\n\n{text}\n", file=file)


def main():
    opts = options()
    opts.out.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()

    def log(message):
        print(f"[{time.monotonic() - began:6.1f} s] {message}", flush=True)

    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(opts.seed)
    torch.set_float32_matmul_precision("highest")
    docs = data.generate(opts.seed, opts.documents)
    held_out = data.generate(opts.seed + 1, opts.held_out)
    size = sum(len(text) for _, text in docs)
    log(f"{len(docs)} documents, {size / 1e6:.1f} million characters")
    tokenizer = data.train_tokenizer((text for _, text in docs[:40_000]), opts.vocab)
    ids, starts = data.pack(tokenizer, docs)
    held_out_ids, _ = data.pack(tokenizer, held_out)
    log(f"{len(ids) / 1e6:.1f} million tokens, {size / len(ids):.2f} characters each")
    model = Gpt2(Shape(tokenizer.get_vocab_size(), width=opts.width, heads=opts.width // 64, layers=opts.layers)).to(device)
    log(f"{sum(p.numel() for p in model.parameters())} parameters")
    windows = Windows(ids, starts, model.shape.positions, device, opts.seed)
    compiled = torch.compile(model) if device == "cuda" else model
    grid = train(model, compiled, windows, opts, device, log)
    model.eval()
    report = {"perplexity_exact": perplexity(model, held_out_ids, model.shape.positions, device)}
    with Rounded(model, grid):
        report["perplexity_rounded"] = perplexity(model, held_out_ids, model.shape.positions, device)
        log(json.dumps(report))
        end = tokenizer.token_to_id(data.END_OF_TEXT)
        export(model, tokenizer, opts.out, model.config(end), {"bos_token_id": end, "eos_token_id": end})
        write_samples(model, tokenizer, device, opts.out)
    report |= {"held_out_tokens": len(held_out_ids), "training_tokens": len(ids), "characters": size, "torch": torch.__version__,
               "device": torch.cuda.get_device_name() if device == "cuda" else "cpu", "options": {k: str(v) for k, v in vars(opts).items()}}  # fmt: skip
    report["parameters"] = sum(p.numel() for p in model.parameters())
    (opts.out / "report.json").write_text(json.dumps(report, indent=2) + "\n")
    log("done")


if __name__ == "__main__":
    main()

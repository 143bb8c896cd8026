"""Trains `builtin:chat`: writes the conversations, learns the vocabulary, trains, rounds, exports.

    python train_chat.py --out OUT                  the recipe of the published model (one H200: under three minutes)
    python train_chat.py --out OUT --documents 400 --held-out 50 --vocab 800 --steps 5 --batch 4 --window 64 --width 64 --inner 96 --layers 1     a smoke test on any CPU
"""

import argparse
import json
import time
from pathlib import Path

import torch

import chat_data
import chat_template
import data
from chat_samples import write_exactness, write_samples
from llama import Llama, Shape
from rounding import Rounded
from train import Windows, export, loss_of, perplexity, train

VOCABULARY_DOCUMENTS = 20_000
HEAD_SIZE = 64


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--documents", type=int, default=500_000)
    parser.add_argument("--held-out", type=int, default=2_000)
    parser.add_argument("--vocab", type=int, default=4096)
    parser.add_argument("--width", type=int, default=256, help="64 per head, two heads to a key and value head")
    parser.add_argument("--inner", type=int, default=768)
    parser.add_argument("--layers", type=int, default=8)
    parser.add_argument("--steps", type=int, default=20_000)
    parser.add_argument("--batch", type=int, default=64, help="windows per step")
    parser.add_argument("--window", type=int, default=1024, help="tokens per window")
    parser.add_argument("--learning-rate", type=float, default=2e-3)
    parser.add_argument("--round-from", type=float, default=0.6, help="fraction of the training after which weights are rounded")
    parser.add_argument("--finish-by", type=float, default=1e9, help="seconds after the start at which the training ends, with its schedule")
    return parser.parse_args()


def compiled_ahead(model, vocab, opts, device):
    """The compiled model, its kernels built: one pass forward and back while other processes write the conversations."""
    if device != "cuda":
        return model
    compiled = torch.compile(model)
    ids = torch.randint(vocab, (opts.batch, opts.window), device=device)
    loss_of(compiled, ids, ids).backward()
    model.zero_grad(set_to_none=True)
    torch.cuda.synchronize()
    return compiled


def write_tokenizer_config(tokenizer, out, positions):
    tokens = {
        str(tokenizer.token_to_id(token)): {"content": token, "lstrip": False, "normalized": False, "rstrip": False, "single_word": False, "special": True}
        for token in (data.END_OF_TEXT, chat_template.IM_START, chat_template.IM_END)
    }
    config = {
        "add_prefix_space": False,
        "added_tokens_decoder": tokens,
        "bos_token": data.END_OF_TEXT,
        "chat_template": chat_template.TEMPLATE,
        "clean_up_tokenization_spaces": False,
        "eos_token": chat_template.IM_END,
        "model_max_length": positions,
        "pad_token": data.END_OF_TEXT,
        "tokenizer_class": "PreTrainedTokenizerFast",
        "unk_token": data.END_OF_TEXT,
    }
    (out / "tokenizer_config.json").write_text(json.dumps(config, indent=2) + "\n")


def main():
    opts = options()
    opts.out.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()

    def log(message):
        print(f"[{time.monotonic() - began:6.1f} s] {message}", flush=True)

    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_float32_matmul_precision("highest")
    tokenizer = chat_data.learn_vocabulary(opts.seed, min(VOCABULARY_DOCUMENTS, opts.documents), opts.vocab)
    log(f"vocabulary of {tokenizer.get_vocab_size()} tokens")
    tokenizer.save(str(opts.out / "tokenizer.json"))
    corpus = chat_data.Generating(tokenizer, opts.seed, opts.documents)
    held_out = chat_data.Generating(tokenizer, opts.seed + 1, opts.held_out)
    torch.manual_seed(opts.seed)
    heads = opts.width // HEAD_SIZE
    shape = Shape(tokenizer.get_vocab_size(), width=opts.width, inner=opts.inner, heads=heads, kv_heads=max(1, heads // 2), layers=opts.layers)
    model = Llama(shape).to(device)
    log(f"{sum(p.numel() for p in model.parameters())} parameters")
    compiled = compiled_ahead(model, shape.vocab, opts, device)
    log("compiled")
    (ids, starts), (held_out_ids, _) = corpus.result(), held_out.result()
    log(f"{len(starts)} conversations, {len(ids) / 1e6:.1f} million tokens, {(ids < data.IGNORED).mean():.2f} of them trained")
    windows = Windows(ids, starts, opts.window, device, opts.seed, aligned=0.75)
    opts.minutes = max(1.0, opts.finish_by - (time.monotonic() - began)) / 60
    grid = train(model, compiled, windows, opts, device, log)
    model.eval()
    ends = [tokenizer.token_to_id(chat_template.IM_END), tokenizer.token_to_id(data.END_OF_TEXT)]
    report = {}
    with Rounded(model, grid):
        generation = {"bos_token_id": ends[1], "eos_token_id": ends, "pad_token_id": ends[1]}
        export(model, tokenizer, opts.out, model.config(ends[1], ends), generation)
        write_tokenizer_config(tokenizer, opts.out, shape.positions)
        log("exported")
        report["perplexity_rounded"] = perplexity(model, held_out_ids, opts.window, device)
        log(json.dumps(report))
        write_samples(model, tokenizer, device, opts.out / "samples.md")
        report |= write_exactness(model, tokenizer, device, opts.out / "wrong.md", opts.seed + 2)
        log(json.dumps(report))
    report["perplexity_exact"] = perplexity(model, held_out_ids, opts.window, device)
    report |= {"held_out_tokens": len(held_out_ids), "training_tokens": len(ids), "trained_tokens": int((ids < data.IGNORED).sum()), "torch": torch.__version__,
               "device": torch.cuda.get_device_name() if device == "cuda" else "cpu", "options": {k: str(v) for k, v in vars(opts).items()}}  # fmt: skip
    report["parameters"] = sum(p.numel() for p in model.parameters())
    (opts.out / "report.json").write_text(json.dumps(report, indent=2) + "\n")
    log(json.dumps(report))


if __name__ == "__main__":
    main()

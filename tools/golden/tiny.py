"""The goldens of the built-in model: greedy continuations, logits along them, and its tokenizer's ids of texts."""

import shutil
import subprocess
import tempfile
from pathlib import Path

import fixtures
import numpy as np
import reference
import tokenizers
from families import FAMILIES
from safetensors.torch import load_file
from tokenizers import Tokenizer

GREEDY = 200
STEPS = (0, 1, 10, 100, 199)  # logits are stored for the greedy choices of these indices
PROMPTS_WANTED = 4
CANDIDATES = [
    "Once upon a time", "Hello", "The lighthouse", 'She said, "', "Once upon a time, there was a brave little fox", "One sunny morning, Tom and Lily went for a walk.",
    "Tell me about bees.\n\n", "Question: What color is grass?\nAnswer:", "Dear Anna,\n\n", "Hello Hello Hello Hello Hello Hello Hello Hello", "Long ago, in a village by a lake,", "The moon", "In spring", "My name is",
    "To make bread,", "Write a story about a mouse named Pip.", "The owl looked at the frog and said,", "It was raining, and", "你好", "def f(x):",
]  # fmt: skip
TEXTS = [
    "", " ", "  ", "   leading", "trailing   ", "a", "A", "Once upon a time, there was a fox.", "Hello, world!", "don't can't I'll we've you're he'd I'm it's", "DON'T I'LL WE'VE", "'s's 'S", "tabs\tand\nnew\r\nlines\n\n\n",
    "numbers 1 12 123 1234567890 3.14159 1,000", "x=1;y=2", "a  b   c    d", "\n", "\n\n", " \n ", "\t\t", "\u00a0non\u00a0breaking", "\u2003em space", "\u3000ideographic", "naïve café Ünïcödé", "e\u0301 combining",
    "Привет, мир", "Γειά σου Κόσμε", "你好，世界", "こんにちは世界", "안녕하세요", "مرحبا بالعالم", "שלום", "हिन्दी में", "ไทย", "😀", "👩‍👩‍👧‍👦 family", "🏳️‍🌈", "🇩🇪🇫🇷", "a😀b", "½ ² ③ Ⅷ", "٣٤٥ १२३", "ſ K Å", "\u0000null", "\u0085next", "\u200bzero", "\ufeffbom",
    "<|endoftext|>", "a<|endoftext|>b", " <|endoftext|> ", "<|endoftext|><|endoftext|>", "<|endof", "def f(x):\n    return x ** 2  # square\n", '{"key": [1, 2, 3], "text": "a\\nb"}', "https://example.org/a?b=c&d=e#f", "___---***", "!?!?…", "“quoted” ‘single’ — dash – en",
    "antidisestablishmentarianism", "zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz", "Tom and Lily walked to the lighthouse by the sea.", "\U0001d518\U0001d52b\U0001d526", "a\u0300\u0301\u0302b", "mixed日本語and한국어text", "\x7f\x80\x9f",
]  # fmt: skip


def unpacked(builtin: Path, into: Path, more=()):
    """The built-in directory as Hugging Face reads it: the weights without zstd, unpacked by its command unless they are there unpacked."""
    for name in ("config.json", "generation_config.json", "tokenizer.json", *more):
        (into / name).write_bytes((builtin / name).read_bytes())
    raw = builtin / "model.safetensors"
    if raw.exists():
        shutil.copyfile(raw, into / raw.name)
    else:
        subprocess.run(["zstd", "--decompress", "--quiet", str(builtin / "model.safetensors.zst"), "-o", str(into / raw.name)], check=True)


def make(builtin: Path, out: Path, command: str):
    with tempfile.TemporaryDirectory() as folder:
        unpacked(builtin, Path(folder))
        write_goldens(Path(folder), out, command)


def write_goldens(directory: Path, out: Path, command: str):
    tokenizer = Tokenizer.from_file(str(directory / "tokenizer.json"))
    model32, model64 = FAMILIES["gpt2"].load(directory), FAMILIES["gpt2"].load(directory).double()
    weights = fixtures.witness({}, load_file(directory / "model.safetensors"))
    config = model64.config.to_dict()
    end = config["eos_token_id"]
    tensors, prompts, deviation, difference = {}, [], 0.0, 0.0
    for text in CANDIDATES:
        ids = tokenizer.encode(text).ids
        tokens, logprobs, gaps, rows = fixtures.greedy(model64, ids, GREEDY)
        if min(gaps) <= fixtures.MIN_GAP:
            print("builtin-tiny: near tie, left out:", repr(text), min(gaps))
            continue
        whole = ids + tokens[:-1]
        deviation = max(deviation, (fixtures.logits_of(model32, whole).double() - fixtures.logits_of(model64, whole)).abs().max().item())
        difference = max(difference, np.abs(fixtures.logits_of(model64, whole).numpy() - reference.logits(config, weights, whole)).max())
        p = len(prompts)
        tensors |= {f"prompt.{p}.step.{step}.logits": rows[step] for step in STEPS}
        prompts.append({"text": text, "ids": ids, "greedy": tokens, "greedy_text": tokenizer.decode(tokens, skip_special_tokens=False),
                        "first_end_of_text": tokens.index(end) if end in tokens else None, "greedy_logprobs": logprobs, "smallest_gap": min(gaps)})  # fmt: skip
        if len(prompts) == PROMPTS_WANTED:
            break
    assert len(prompts) == PROMPTS_WANTED, "too few prompts without near ties"
    assert difference < fixtures.WITNESS_TOLERANCE, difference
    cases = [{"text": text, "ids": tokenizer.encode(text).ids} for text in TEXTS]
    assert all(tokenizer.decode(case["ids"], skip_special_tokens=False) == case["text"] for case in cases), "byte-level BPE must round-trip"
    expected = {"name": "builtin-tiny", "command": command, "tools": fixtures.tools() | {"tokenizers": tokenizers.__version__}, "float32_deviation": deviation,
                "logits_of_steps": list(STEPS), "prompts": prompts, "tokenizer": cases}  # fmt: skip
    fixtures.write(out, expected, tensors)
    print("builtin-tiny float32 deviation", deviation, "witness", difference, "gaps", [p["smallest_gap"] for p in prompts], [p["text"] for p in prompts])

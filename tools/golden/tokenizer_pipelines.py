"""Writes src/test/resources/tokenizer/NAME.json: a small vocabulary trained in the form of each family's tokenizer.

    python tools/golden/tokenizer_pipelines.py src/test/resources

Each file is as Hugging Face tokenizers writes it, with the components that the published file of that family has.
"""
import json
import random
import sys
from collections import Counter
from pathlib import Path

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

QWEN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
LLAMA3 = QWEN.replace(r"|\p{N}|", r"|\p{N}{1,3}|")

# Bytes that SmolLM's vocabulary does not have.
NO_BYTES = [0x04, 0x06, 0x13, 0x14, 0x16, 0x1D, 0xF1, 0xF2]
SEED = 21


def byte_symbols():
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = iter(range(256, 512))
    return [chr(b) if b in printable else chr(next(others)) for b in range(256)]


def corpus(root):
    """Plain English and, so that merges of every kind come about, lines of other scripts, numbers, newlines and code."""
    dice = random.Random(SEED)
    lines = (root / "text" / "held-out.txt").read_text(encoding="utf-8").split("\n")
    scripts = [(0x3B1, 0x3C9), (0x430, 0x44F), (0x4E00, 0x4E20), (0x905, 0x939), (0xAC00, 0xAC10), (0xE0, 0xFF)]
    for _ in range(300):
        first, last = dice.choice(scripts)
        words = ("".join(chr(dice.randint(first, last)) for _ in range(dice.randint(1, 4))) for _ in range(4))
        lines.append(" ".join(words))
        lines.append(f"the {dice.randint(0, 99999)}'s  fox\n\n\tdon't; x = {dice.randint(0, 999)}!\r\n" + " " * 4)
    return lines


def special(*contents):
    return [AddedToken(content, special=True, normalized=False) for content in contents]


def train(tokenizer, texts, alphabet, size, **options):
    trainer = trainers.BpeTrainer(vocab_size=size, initial_alphabet=alphabet, show_progress=False, **options)
    tokenizer.train_from_iterator(texts, trainer)


def byte_level(splits, texts, alphabet, regex=False):
    tokenizer = Tokenizer(models.BPE())
    steps = [*splits, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=regex)]
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(steps)
    tokenizer.decoder = decoders.ByteLevel()
    train(tokenizer, texts, alphabet, 700)
    return tokenizer


def qwen(texts):
    tokenizer = byte_level([pre_tokenizers.Split(Regex(QWEN), "isolated")], texts, byte_symbols())
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    tokenizer.add_tokens(special("<|endoftext|>", "<|im_start|>", "<|im_end|>"))
    tokenizer.add_tokens([AddedToken(word, normalized=False) for word in ["<think>", "</think>", "<tool_call>"]])
    return json.loads(tokenizer.to_str())


def llama3(texts):
    tokenizer = byte_level([pre_tokenizers.Split(Regex(LLAMA3), "isolated")], texts, byte_symbols())
    tokenizer.add_tokens(special("<|begin_of_text|>", "<|end_of_text|>", "<|eot_id|>"))
    begin = tokenizer.token_to_id("<|begin_of_text|>")
    template = processors.TemplateProcessing(
        single="<|begin_of_text|> $A",
        pair="<|begin_of_text|> $A <|begin_of_text|>:1 $B:1",
        special_tokens=[("<|begin_of_text|>", begin)],
    )
    tokenizer.post_processor = processors.Sequence([processors.ByteLevel(trim_offsets=True), template])
    file = json.loads(tokenizer.to_str())
    file["model"]["ignore_merges"] = True
    # Every fifth merge goes, so that there are words which only ignore_merges reaches.
    file["model"]["merges"] = thinned(file["model"]["merges"])
    return file


def thinned(merges):
    gone, kept = set(), []
    for number, (left, right) in enumerate(merges):
        if number % 5 == 4 or left in gone or right in gone:
            gone.add(left + right)
        else:
            kept.append([left, right])
    return kept


def smollm(texts):
    alphabet = [symbol for value, symbol in enumerate(byte_symbols()) if value not in NO_BYTES]
    tokenizer = byte_level([pre_tokenizers.Digits(individual_digits=True)], texts, alphabet, regex=True)
    tokenizer.add_tokens(special("<|endoftext|>", "<|im_start|>", "<|im_end|>"))
    return json.loads(tokenizer.to_str())


def llama2(texts):
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", byte_fallback=True, fuse_unk=True))
    # Words are only cut for training, so that no merge crosses a space, as in SentencePiece.
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    names = ["<unk>", "<s>", "</s>", *(f"<0x{value:02X}>" for value in range(256))]
    # The commonest characters; the others are left to byte fallback.
    counts = Counter("".join(texts).replace(" ", "▁"))
    alphabet = [symbol for symbol, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:120]]
    train(tokenizer, texts, alphabet, 900, special_tokens=names, limit_alphabet=len(alphabet))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A", pair="<s> $A <s>:1 $B:1", special_tokens=[("<s>", 1)]
    )
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    file = json.loads(tokenizer.to_str())
    file["pre_tokenizer"] = None
    file["added_tokens"] = file["added_tokens"][:3]
    for length in (1, 2, 4):
        file["model"]["merges"].append(["▁" * length, "▁" * length])
        file["model"]["vocab"].setdefault("▁" * 2 * length, len(file["model"]["vocab"]))
    return file


def main():
    root = Path(sys.argv[1])
    texts = corpus(root)
    for make in (qwen, llama3, smollm, llama2):
        text = json.dumps(make(texts), ensure_ascii=False, separators=(",", ":"))
        (root / "tokenizer" / f"{make.__name__}.json").write_text(text + "\n", encoding="utf-8")


main()

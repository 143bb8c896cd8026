"""Writes src/test/resources/tokenizer/transformers.json: how transformers reads tokenizer files that contradict each other.

    python tools/golden/tokenizer_files.py src/test/resources/tokenizer/transformers.json

The vocabulary is the 256 bytes in the byte alphabet, id = byte, and the token "oĠ" with its merge. Each case has the files of a
model directory, a text and the ids of AutoTokenizer; `tokenizer` is what its tokenizer.json has apart from the vocabulary, or
null where there are vocab.json and merges.txt instead.
"""
import json
import os
import random
import sys
import tempfile

os.environ["TRANSFORMERS_VERBOSITY"] = "error"
os.environ["HF_HUB_OFFLINE"] = "1"
import tokenizers  # noqa: E402
import transformers  # noqa: E402

SEED = 20
CASES = 160
CLASSES = [None, "GPT2Tokenizer", "GPT2TokenizerFast", "PreTrainedTokenizerFast", "TokenizersBackend"]
CONTENTS = ["<x>", "<y>", "<z>", "[PAD]", "<|endoftext|>", "he", "o "]
TEXT = "hello h<x>e <y> <z>o <|endoftext|>[PAD] he"
NAMED = ["bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token"]


def alphabet():
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = iter(range(256, 512))
    return [chr(b) if b in printable else chr(next(others)) for b in range(256)]


VOCABULARY = {symbol: number for number, symbol in enumerate([*alphabet(), "oĠ"])}
MERGES = [["o", "Ġ"]]
FREE = len(VOCABULARY)


def flags(dice):
    special = dice.random() < 0.5
    return {
        "special": special,
        "single_word": False,
        "lstrip": dice.random() < 0.2,
        "rstrip": dice.random() < 0.2,
        "normalized": not special,
    }


def added(dice, dense):
    """Distinct tokens under distinct ids: in a row and ascending, or anyhow."""
    contents = dice.sample(CONTENTS, dice.randint(0, 3))
    ids = [FREE + i for i in range(len(contents))] if dense else dice.sample(range(FREE, FREE + 9), len(contents))
    return [{"id": i, "content": c, **flags(dice)} for i, c in zip(ids, contents)]


def special_tokens(dice, likely):
    tokens = {}
    for name in NAMED:
        if dice.random() < likely:
            content = dice.choice(CONTENTS)
            plain = dice.random() < 0.7
            tokens[name] = content if plain else {"__type": "AddedToken", "content": content, **flags(dice)}
    if dice.random() < likely:
        tokens["additional_special_tokens"] = dice.sample(CONTENTS, 2)
    return tokens


def byte_level(prefix, regex):
    return {"type": "ByteLevel", "add_prefix_space": prefix, "trim_offsets": True, "use_regex": regex}


def case(dice):
    files = {}
    config = {}
    name = dice.choice(CLASSES)
    if name:
        config["tokenizer_class"] = name
    if dice.random() < 0.5:
        config["add_prefix_space"] = dice.random() < 0.5
    if dice.random() < 0.5:
        config["added_tokens_decoder"] = {
            str(token.pop("id")): token for token in sorted(added(dice, dice.random() < 0.5), key=lambda t: t["id"])
        }
    config.update(special_tokens(dice, 0.15))
    if name or dice.random() < 0.7:
        files["tokenizer_config.json"] = config
    if dice.random() < 0.2:
        files["added_tokens.json"] = {token["content"]: token["id"] for token in added(dice, True)}
    if dice.random() < 0.2:
        files["special_tokens_map.json"] = {
            key: {k: v for k, v in value.items() if k not in ("__type", "special")} if isinstance(value, dict) else value
            for key, value in special_tokens(dice, 0.2).items()
        }
    tokenizer = None
    if dice.random() < 0.85:
        tokenizer = {
            "added_tokens": added(dice, dice.random() < 0.5),
            "pre_tokenizer": byte_level(dice.random() < 0.5, dice.random() < 0.8),
        }
    return {"tokenizer": tokenizer, "files": files}


def write(directory, name, content):
    with open(os.path.join(directory, name), "w", encoding="utf-8") as file:
        file.write(content if isinstance(content, str) else json.dumps(content))


def encode(made):
    with tempfile.TemporaryDirectory() as directory:
        write(directory, "config.json", {"model_type": "gpt2"})
        for name, content in made["files"].items():
            write(directory, name, content)
        if made["tokenizer"] is None:
            write(directory, "vocab.json", VOCABULARY)
            write(directory, "merges.txt", "#version: 0.2\n" + "".join(f"{a} {b}\n" for a, b in MERGES))
        else:
            write(directory, "tokenizer.json", {
                "version": "1.0", "truncation": None, "padding": None, "normalizer": None,
                "post_processor": byte_level(False, True), "decoder": byte_level(True, True),
                "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": "",
                          "end_of_word_suffix": "", "fuse_unk": False, "byte_fallback": False,
                          "vocab": VOCABULARY, "merges": MERGES},
                **made["tokenizer"]})
        tokenizer = transformers.AutoTokenizer.from_pretrained(directory)
        made["ids"] = tokenizer(TEXT, add_special_tokens=False)["input_ids"]
        made["end_of_text"] = tokenizer.eos_token_id
    return made


def main():
    dice = random.Random(SEED)
    cases = []
    while len(cases) < CASES:
        made = case(dice)
        # The two-file format has one class of its own.
        if made["tokenizer"] is None and made["files"].get("tokenizer_config.json", {}).get("tokenizer_class", "GPT2")[:4] != "GPT2":
            continue
        listed = {} if made["tokenizer"] is None else {t["id"]: t["content"] for t in made["tokenizer"]["added_tokens"]}
        older = made["files"].get("added_tokens.json", {})
        # Two tokens under one id are refused by roseinfer; transformers forgets one of them.
        if any(listed.get(number, content) != content for content, number in older.items()):
            continue
        cases.append(encode(made))
    lines = ",\n".join(json.dumps(made, ensure_ascii=False, separators=(",", ":")) for made in cases)
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        file.write(f'{{"transformers":"{transformers.__version__}","tokenizers":"{tokenizers.__version__}","seed":{SEED},\n'
                   f'"text":{json.dumps(TEXT)},"cases":[\n{lines}\n]}}\n')


if __name__ == "__main__":
    main()

"""Held-out calls and JSON, arithmetic and rare names of builtin:chat on a running server, greedily: counts for the README of the model.

roseinfer serve --model builtin:chat & python chat_abilities.py http://127.0.0.1:8000
"""

import json
import random
import re
import sys
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import chat_samples
import chat_tables
import chat_template

RARE = "Abelard Balthazar Cosima Dragomir Ekaterina Fenella Gunther Hyacinth Ignatius Jadwiga Konstantin Leopold Mirabel Nikodem Ottilie Perpetua Radovan Sigrun Thorvald Wilhelmina".split()
assert not set(RARE) & set(chat_tables.NAMES)


def post(fields: dict) -> str:
    body = json.dumps(fields | {"temperature": 0}).encode()
    with urllib.request.urlopen(sys.argv[1] + "/v1/chat/completions", body) as response:
        return json.load(response)["choices"][0]["message"]["content"]


def reply(*talk: str) -> str:
    """The answer to the last text of a conversation in which the user and the model take turns."""
    return post({"messages": [{"role": ("user", "assistant")[i % 2], "content": text} for i, text in enumerate(talk)]})


def is_exact(case) -> bool:
    """Whether the answer to a held-out conversation is this to the letter; its calls stay text."""
    conversation, wanted = case
    fields, open_calls = chat_template.api_fields(conversation), []
    for i, message in enumerate(fields["messages"]):
        for j, call in enumerate(message.get("tool_calls", [])):
            call["id"] = f"call_{i}_{j}"
            call["function"]["arguments"] = chat_template.json_text(call["function"]["arguments"])
            open_calls.append(call["id"])
        if message["role"] == "tool":
            message["tool_call_id"] = open_calls.pop(0)
    return post(fields | ({"tool_choice": "none"} if "tools" in fields else {})) == wanted


def number_right(sums) -> str:
    wrong = [(asked, given) for asked, result in sums if re.findall(r"-?\d+", given := reply(f"What is {asked}?"))[-1:] != [str(result)]]
    return f"{len(sums) - len(wrong)} of {len(sums)}, wrong: {wrong[:5]}"


def remembers(name: str) -> bool:
    talk = []
    for text in (f"My name is {name}.", "Tell me a joke", "What is my name?"):
        talk += [text, reply(*talk, text)]
    return name in talk[-1]


if __name__ == "__main__":
    for kind, some in chat_samples.held_out_cases(seed=3, count=100).items():
        with ThreadPoolExecutor(8) as pool:
            print(f"{kind}:", sum(pool.map(is_exact, some)), "of", len(some))
    rng, small, large = random.Random(1), range(21), range(10, 100)
    sums = [(f"{a} + {b}", a + b) for a in small for b in small] + [(f"{a} - {b}", a - b) for a in small for b in small if a >= b]
    print("sums and differences up to 20:", number_right(sums))
    print("products up to 12 * 12:", number_right([(f"{a} * {b}", a * b) for a in range(1, 13) for b in range(1, 13)]))
    pairs = [(rng.choice(large), rng.choice(large)) for _ in range(40)]
    factors = [(rng.randint(10, 30), rng.randint(10, 30)) for _ in range(20)]
    hard = [(f"{a} + {b}", a + b) for a, b in pairs[:20]] + [(f"{max(p)} - {min(p)}", max(p) - min(p)) for p in pairs[20:]]
    print("sums and differences from 10 to 99, products from 10 to 30:", number_right(hard + [(f"{a} * {b}", a * b) for a, b in factors]))
    print("rare names:", sum(map(remembers, RARE)), "of", len(RARE))

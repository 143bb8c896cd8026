"""The corpus: an endless, seeded stream of documents.

    python corpus.py --seed 7 --count 5        prints five documents

A document may have a `prefix` that is not English prose (a repeated word, digits, code, other scripts). The model
reads it but is not trained to write it: it learns to carry on sensibly after whatever it is given.
"""

import argparse
import random
from collections import deque
from dataclasses import dataclass

import passages
import words
from english import Writer, vary_speech
from stories import cast, story

KINDS = [
    (50, "story", story),
    (3, "request", None),
    (12, "explanation", passages.explanation),
    (6, "quiz", passages.quiz),
    (5, "letter", passages.letter),
    (8, "greeting", passages.greeting),
    (7, "meeting", passages.meeting),
    (3, "diary", passages.diary),
    (3, "scene", passages.scene),
    (2, "list", passages.list_of_things),
    (1, "verse", passages.verse),
]
WEIGHTS = [weight for weight, _, _ in KINDS]
ODD_PREFIX_PROBABILITY = 0.08
TURNED_SPEECH = [0.0, 0.1, 0.3, 0.6]
REMEMBERED_NAMES = 6
FRAGMENTS = [
    "def f(x):\n    return x + 1\n", "<html><body>", "SELECT * FROM stars;", "{\"key\": [1, 2, 3]}", "x = y * 2", "public static void main(", "3.14159", "...", "???", "!!!", "\n\n", " ",
    "Ünïcödé", "Привет", "你好", "こんにちは", "😀", "🌹", "señor", "naïve", "→", "ERROR 404", "lorem ipsum dolor sit amet", "The quick brown fox jumps over the lazy dog.", "Hello, world!", "Hello world",
    "Hello", "Hi", "The", "A", "I", "What is the meaning of life?", "test", "foo bar", "To be, or not to be", "import numpy as np", "http://", "user: hi\nbot:", "In conclusion,",
]  # fmt: skip
COMMON = "a and are as at be but by can do for from go have he in is it not of on one or she so that the they this to was we what when who with you".split()


@dataclass(frozen=True)
class Document:
    text: str
    prefix: str = ""


def documents(seed: int):
    """Documents without end; adjacent ones never share the name of the hero, nor (except stories) their kind."""
    rng = random.Random(seed)
    names, last_kind = deque(maxlen=REMEMBERED_NAMES), ""
    while True:
        writer = Writer(rng, words.POOLS)
        cast(writer, names)
        writer.bind(month=writer.pick(words.MONTHS), worker=writer.pick(words.WORKERS)[0], animal="<$animal>")
        writer.bind(animals=plural(writer.slots["animal"]))
        writer.pools = {**words.POOLS, "month": words.MONTHS}
        _, kind, write = rng.choices(KINDS, WEIGHTS)[0]
        if kind == last_kind != "story":
            continue
        text = write(writer) if write else passages.request(writer) + "\n\n" + story(writer)
        text = vary_speech(text, rng, rng.choice(TURNED_SPEECH))
        names.append(writer.slots["h"].name)
        last_kind = kind
        if rng.random() < ODD_PREFIX_PROBABILITY:
            separator = rng.choice([" ", " ", " ", "", "\n", "\n\n", ". "])
            yield Document(separator + text, odd_prefix(rng) + (" " if not separator else ""))
        else:
            yield Document(text)


def plural(animal: str) -> str:
    irregular = {"mouse": "mice", "goose": "geese", "sheep": "sheep", "deer": "deer", "fox": "foxes"}
    if animal in irregular:
        return irregular[animal]
    return animal[:-1] + "ies" if animal.endswith("y") and animal[-2] not in "aeiou" else animal + "s"


def odd_prefix(rng) -> str:
    """Something that a user, or a benchmark, might send."""
    shape = rng.randrange(5)
    if shape == 0:
        text = " ".join([rng.choice(FRAGMENTS)] * rng.choice([1, 2, 3, 4, 8, 16, 32, 64]))
    elif shape == 1:
        text = " ".join(rng.choice(COMMON + words.ANIMALS + words.TOYS) for _ in range(rng.randint(1, 40)))
    elif shape == 2:
        text = "".join(chr(rng.randint(32, 126)) for _ in range(rng.randint(1, 40)))
    elif shape == 3:
        text = " ".join([rng.choice(["Hello", "Once upon a time", "The lighthouse", "Tell me a story"])] * rng.randint(2, 40))
    else:
        text = rng.choice(FRAGMENTS)
    return text + f" [{rng.randrange(1000)}]" if rng.random() < 0.2 else text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=10)
    options = parser.parse_args()
    stream = documents(options.seed)
    for _ in range(options.count):
        document = next(stream)
        print(document.prefix + document.text, end="\n-----\n")


if __name__ == "__main__":
    main()

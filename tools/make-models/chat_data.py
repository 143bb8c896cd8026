"""Conversations as token ids in the ChatML form; only what the assistant says is trained."""

import os
from concurrent.futures import ProcessPoolExecutor
from itertools import islice

import numpy as np
from tokenizers import Tokenizer

from chat import conversations
from chat_template import IM_END, IM_START, rendered, turns
from data import END_OF_TEXT, IGNORED, train_tokenizer

SHARD_CONVERSATIONS = 2500
_tokenizer = None


def shards(seed: int, count: int):
    """Seeds and sizes; they do not depend on the number of processes."""
    return [(seed * 1_000_003 + i, min(SHARD_CONVERSATIONS, count - i * SHARD_CONVERSATIONS)) for i in range(-(-count // SHARD_CONVERSATIONS))]


def _texts(shard):
    seed, count = shard
    return [rendered(conversation) for conversation in islice(conversations(seed), count)]


def learn_vocabulary(seed: int, count: int, vocab: int) -> Tokenizer:
    """The byte-level BPE of the first `count` conversations."""
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        texts = [text for shard in pool.map(_texts, shards(seed, count)) for text in shard]
    return train_tokenizer(texts, vocab, (END_OF_TEXT, IM_START, IM_END))


def _take_tokenizer(text):
    global _tokenizer
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    _tokenizer = Tokenizer.from_str(text)


def encode(tokenizer, many) -> tuple[np.ndarray, np.ndarray]:
    """All conversations in one row of ids, each followed by the end-of-text token, and how long each of them is."""
    pieces, trained, lengths = [], [], []
    for conversation in many:
        before = len(pieces)
        for role, text in turns(conversation):
            head = f"{IM_START}{role}\n"
            if role == "assistant":
                pieces += [head, text + IM_END, "\n"]
                trained += [False, True, False]
            else:
                pieces.append(f"{head}{text}{IM_END}\n")
                trained.append(False)
        pieces.append(END_OF_TEXT)
        trained.append(False)
        lengths.append(len(pieces) - before)
    encoded = tokenizer.encode_batch_fast(pieces)
    rows = [np.array(e.ids, dtype=np.uint16) | np.uint16(0 if t else IGNORED) for e, t in zip(encoded, trained, strict=True)]
    ends = np.cumsum(lengths)
    sizes = np.cumsum([0] + [len(row) for row in rows])
    return np.concatenate(rows), np.diff(sizes[np.concatenate([[0], ends])])


def _encoded(shard):
    seed, count = shard
    return encode(_tokenizer, islice(conversations(seed), count))


class Generating:
    """Conversations being written and encoded in other processes; `result` waits for them."""

    def __init__(self, tokenizer, seed: int, count: int):
        self.pool = ProcessPoolExecutor(os.cpu_count(), initializer=_take_tokenizer, initargs=(tokenizer.to_str(),))
        self.futures = [self.pool.submit(_encoded, shard) for shard in shards(seed, count)]

    def result(self) -> tuple[np.ndarray, np.ndarray]:
        """All ids, and where each conversation starts."""
        parts = [future.result() for future in self.futures]
        self.pool.shutdown()
        lengths = np.concatenate([part[1] for part in parts])
        return np.concatenate([part[0] for part in parts]), np.concatenate([[0], np.cumsum(lengths)[:-1]])

"""From documents to token ids: the corpus in parallel, the byte-level BPE, the packed training stream."""

import os
from concurrent.futures import ProcessPoolExecutor
from itertools import islice

import numpy as np
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers

from corpus import documents

END_OF_TEXT = "<|endoftext|>"
IGNORED = 1 << 15  # this bit marks a token that the model reads but is not trained to write
SHARD_DOCUMENTS = 5000


def _shard(arguments):
    seed, count = arguments
    return [(d.prefix, d.text) for d in islice(documents(seed), count)]


def generate(seed: int, count: int) -> list[tuple[str, str]]:
    """`count` documents; each shard has a separate seed, so the result does not depend on the number of processes."""
    shards = [(seed * 1_000_003 + i, min(SHARD_DOCUMENTS, count - i * SHARD_DOCUMENTS)) for i in range(-(-count // SHARD_DOCUMENTS))]
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        return [document for shard in pool.map(_shard, shards) for document in shard]


def train_tokenizer(texts, vocab: int, special=(END_OF_TEXT,)) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    trainer = trainers.BpeTrainer(
        vocab_size=vocab, special_tokens=list(special), initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()), show_progress=False
    )
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer


def pack(tokenizer: Tokenizer, docs, batch: int = 20_000) -> tuple[np.ndarray, np.ndarray]:
    """All documents in one row of ids, each followed by the end-of-text token, and where each of them starts."""
    end = tokenizer.token_to_id(END_OF_TEXT)
    pieces, starts, position = [], [], 0
    for i in range(0, len(docs), batch):
        part = docs[i : i + batch]
        texts = tokenizer.encode_batch_fast([text for _, text in part])
        prefixes = tokenizer.encode_batch_fast([prefix for prefix, _ in part])
        for prefix, text in zip(prefixes, texts, strict=True):
            ids = np.array(prefix.ids + text.ids + [end], dtype=np.uint16)
            ids[: len(prefix.ids)] |= IGNORED
            starts.append(position)
            position += len(ids)
            pieces.append(ids)
    return np.concatenate(pieces), np.array(starts, dtype=np.int64)

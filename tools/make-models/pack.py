"""Copies a trained model into the resources of the jar: the weights compressed with zstd, the other files unchanged.

    python pack.py OUT src/main/resources/io/roseinfer/builtin/tiny
"""

import shutil
import sys
from pathlib import Path

import zstandard

LEVEL = 22


def main():
    source, target = Path(sys.argv[1]), Path(sys.argv[2])
    target.mkdir(parents=True, exist_ok=True)
    weights = (source / "model.safetensors").read_bytes()
    packed = zstandard.ZstdCompressor(level=LEVEL, write_checksum=True).compress(weights)
    assert zstandard.ZstdDecompressor().decompress(packed) == weights
    (target / "model.safetensors.zst").write_bytes(packed)
    for name in ("config.json", "generation_config.json", "tokenizer.json", "tokenizer_config.json"):
        if (source / name).exists():
            shutil.copyfile(source / name, target / name)
    for file in sorted(target.iterdir()):
        print(f"{file.stat().st_size:>9} {file.name}")


if __name__ == "__main__":
    main()

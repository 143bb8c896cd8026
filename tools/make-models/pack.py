"""Copies a trained model into the resources of the jar: the weights compressed by the command zstd, the other files unchanged.

    python pack.py OUT src/main/resources/io/roseinfer/builtin/tiny
"""

import shutil
import subprocess
import sys
from pathlib import Path

COMPRESS = ["zstd", "--ultra", "-22", "--check", "--force", "--quiet"]


def main():
    source, target = Path(sys.argv[1]), Path(sys.argv[2])
    target.mkdir(parents=True, exist_ok=True)
    weights, packed = source / "model.safetensors", target / "model.safetensors.zst"
    subprocess.run([*COMPRESS, str(weights), "-o", str(packed)], check=True)
    assert subprocess.run(["zstd", "--decompress", "--stdout", str(packed)], check=True, capture_output=True).stdout == weights.read_bytes()
    for name in ("config.json", "generation_config.json", "tokenizer.json", "tokenizer_config.json"):
        if (source / name).exists():
            shutil.copyfile(source / name, target / name)
    for file in sorted(target.iterdir()):
        print(f"{file.stat().st_size:>9} {file.name}")


if __name__ == "__main__":
    main()

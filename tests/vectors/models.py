"""Tiny models on disk: four words and two dimensions."""

import json
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

WORDS = {"[UNK]": 0, "user": 1, "name": 2, "parse": 3}
_KINDS = {"float32": "F32", "float16": "F16", "int64": "I64", "uint16": "U16"}


def write_tokenizer(path: Path) -> None:
    """A tokenizer that knows the words and nothing else."""
    path.write_text(
        json.dumps(
            {
                "version": "1.0",
                "added_tokens": [],
                "normalizer": {"type": "Lowercase"},
                "pre_tokenizer": {"type": "Whitespace"},
                "model": {"type": "WordLevel", "vocab": WORDS, "unk_token": "[UNK]"},
            }
        )
    )


def write_tensors(path: Path, **arrays: NDArray[np.generic]) -> None:
    """Arrays as safetensors lays them out."""
    header, data = {}, b""
    for name, array in arrays.items():
        raw = array.tobytes()
        header[name] = {
            "dtype": _KINDS[array.dtype.name],
            "shape": list(array.shape),
            "data_offsets": [len(data), len(data) + len(raw)],
        }
        data += raw
    head = json.dumps(header).encode()
    path.write_bytes(len(head).to_bytes(8, "little") + head + data)

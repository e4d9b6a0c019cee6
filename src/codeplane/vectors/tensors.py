"""A reader of safetensors files that maps the arrays into memory.

The safetensors package copies them, which costs 16 MB of private memory for the default model and triples its loading
time.
"""

import json
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from codeplane.kernel.errors import EmbedderFailed

_KINDS = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I8": "i1"}
_MAX_HEADER = 1 << 20


def tensors(path: Path) -> dict[str, NDArray[np.generic]]:
    """The arrays of a file by name."""
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            if not 2 <= length <= min(_MAX_HEADER, size - 8):
                raise ValueError(f"a header of {length} bytes")
            header = json.loads(file.read(length))
        if not isinstance(header, dict):
            raise ValueError("a header that is no object")
        raw = np.memmap(path, np.uint8, mode="r", offset=8 + length) if size > 8 + length else np.empty(0, np.uint8)
        return {name: _array(raw, entry) for name, entry in header.items() if name != "__metadata__"}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise EmbedderFailed(
            f"{path.name} is not a file of vectors: {error}",
            hint="put the model's files in their place again, or name another model",
        ) from error


def _array(raw: NDArray[np.uint8], entry: dict[str, object]) -> NDArray[np.generic]:
    kind = entry["dtype"]
    if not isinstance(kind, str) or kind not in _KINDS:
        raise ValueError(f"numbers of kind {kind}")
    (begin, end), shape = _numbers(entry["data_offsets"]), _numbers(entry["shape"])
    if not begin <= end <= len(raw):
        raise ValueError("an array beyond the end")
    return raw[begin:end].view(_KINDS[kind]).reshape(shape)


def _numbers(value: object) -> tuple[int, ...]:
    if not isinstance(value, list) or not all(isinstance(number, int) and number >= 0 for number in value):
        raise ValueError("a header with other than numbers")
    return tuple(value)

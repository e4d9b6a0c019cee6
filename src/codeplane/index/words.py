"""Words of a text: identifiers, their parts, and the names of a path."""

import re
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

_PACKAGE_STEMS = frozenset({"__init__", "index", "mod"})
_DIGIT, _LOWER, _UPPER = 1, 3, 4
_DIGITS = b"0123456789"
_IN_NAMES = re.compile(rb"[0-9A-Za-z_$\x80-\xff]")
_SPACED = bytes(byte if _IN_NAMES.match(bytes([byte])) else 32 for byte in range(256))
_EDGE = re.compile(r"[\W_]+|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_HUMP = re.compile(rb"(?<=[a-z0-9])[A-Z]|(?<=[A-Z])[A-Z](?=[a-z])")
_HUMPED = re.compile(rb"[0-9A-Za-z]+")
_AT_HUMP = re.compile(rb"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_REMEMBERED = 100_000


def _kinds() -> NDArray[np.uint8]:
    kinds = np.zeros(256, np.uint8)
    for first, last, kind in (("0", "9", _DIGIT), ("a", "z", _LOWER), ("A", "Z", _UPPER)):
        kinds[ord(first) : ord(last) + 1] = kind
    return kinds


_KINDS = _kinds()


def split_camel_case(text: bytes) -> str:
    """The parts of the camelCase identifiers in a text; the tokenizer splits everything else."""
    # Arrays, since most words have no hump: twice as fast as the best regular expression.
    kinds = _KINDS[np.frombuffer(text + b" ", np.uint8)]
    humps = np.flatnonzero(kinds[1:] == _UPPER) + 1
    before, after = kinds[humps - 1], kinds[humps + 1]
    humps = humps[(before == _LOWER) | (before == _DIGIT) | ((before == _UPPER) & (after == _LOWER))]
    if not humps.size:
        return ""
    gaps = np.flatnonzero(kinds == 0)
    behind = np.unique(np.searchsorted(gaps, humps))
    starts = np.where(behind > 0, gaps[behind - 1] + 1, 0)
    begins = np.sort(np.concatenate((starts, humps))).tolist()
    ends = np.sort(np.concatenate((humps, gaps[behind]))).tolist()
    return b" ".join([text[begin:end] for begin, end in zip(begins, ends, strict=True)]).decode("ascii")


@lru_cache(maxsize=65_536)
def parts(identifier: str) -> tuple[str, ...]:
    """The words of an identifier or path, in lower case."""
    if identifier.islower() and identifier.isascii() and identifier.isidentifier():
        return tuple(part for part in identifier.split("_") if part)
    return tuple(part.lower() for part in _EDGE.split(identifier) if part)


def with_parts(names: Iterable[str]) -> str:
    """Names for the full text: each whole, followed by its words."""
    return " ".join(map(_with_parts, names))


@lru_cache(maxsize=65_536)
def _with_parts(name: str) -> str:
    return " ".join((name, *parts.__wrapped__(name)))


def path_names(path: str) -> tuple[str, ...]:
    """The names of a file: its file name, and each suffix of its path without the extension."""
    folders, _, name = path.lower().rpartition("/")
    stem = name[: name.find(".", 1)] if "." in name[1:] else name
    steps = folders.split("/") if folders else []
    if stem not in _PACKAGE_STEMS or not steps:
        steps = [*steps, stem]
    return (name, *("/".join(steps[start:]) for start in range(len(steps) - 1)))


class Vocabulary:
    """Splits the words of many texts, caching what it learned of each word."""

    def __init__(self) -> None:
        self._plain: set[bytes] = set()
        self._pieces: dict[bytes, bytes] = {}

    def of(self, text: bytes) -> tuple[set[bytes], str]:
        """The distinct identifiers of a text, and its camelCase parts, unordered."""
        counts = Counter(text.translate(_SPACED).split())
        names = set(counts)
        if b"$" in text:
            # `v$name` in a text of Kotlin or Scala says `name`, too, as `$name` does.
            names |= {b"$" + part for word in counts if b"$" in word[1:] for part in word.split(b"$")[1:] if part}
        plain, known = self._plain, self._pieces
        if len(plain) + len(known) > _REMEMBERED:
            plain.clear()
            known.clear()
        pieces = []
        # Most words have no hump, and were seen before.
        for word in names - plain:
            if (piece := known.get(word)) is None:
                piece = b"" if word.islower() or not _HUMP.search(word) else _pieces(word)
                if not piece and word[:1] not in _DIGITS:
                    plain.add(word)
                    continue
                known[word] = piece
            if piece:
                pieces.append(piece * counts[word])
            if word[:1] in _DIGITS:
                names.discard(word)
                names.add(word.lstrip(_DIGITS))
        names.discard(b"")
        return names, b"".join(pieces).decode("ascii").rstrip(" ")


def _pieces(word: bytes) -> bytes:
    """The camelCase parts of a word, each followed by a blank."""
    humped = [run for run in _HUMPED.findall(word) if _HUMP.search(run)]
    return b"".join([part + b" " for run in humped for part in _AT_HUMP.split(run)])

"""The port to vectors: which texts are near to another in meaning, for every room that has texts."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from codeplane.kernel.ids import digest


@dataclass(frozen=True, slots=True, kw_only=True)
class NearText:
    """A text near to another; `score` is the cosine similarity."""

    key: str
    score: float


class Nearest(Protocol):
    """Vectors of texts by their keys; a key is the hash of its text, so that a vector never has to be replaced."""

    async def add(self, texts: Collection[str]) -> None:
        """Make vectors of the texts that have none; TooLarge when there would be too many."""
        ...

    async def nearest(self, text: str, keys: Sequence[str], limit: int) -> list[NearText]:
        """Those of the keys whose texts are nearest, best first; keys without a vector are not among them."""
        ...

    async def keep(self, keys: Collection[str]) -> None:
        """Drop the vectors of all other keys."""
        ...


def text_key(text: str) -> str:
    """The key of a text."""
    return digest(text.encode("utf-8", "replace"))


def keys_of(texts: Mapping[str, str]) -> dict[str, list[str]]:
    """The names of texts by their keys; equal texts share one."""
    found: dict[str, list[str]] = {}
    for name, text in texts.items():
        found.setdefault(text_key(text), []).append(name)
    return found

"""Whether a file with a name may use its definition: it names the module, or lies beside it."""

import re
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from codeplane.index.fact_store import FactStore

_PART = re.compile(r"[^\W\d]\w*")
_FRONTS = frozenset({"__init__", "index", "mod", "lib", "main"})


class Neighbourhood:
    """The words by which each file is imported, and the files with those words."""

    def __init__(self, store: FactStore, paths: Sequence[str], row_of: Mapping[int, int]) -> None:
        known: dict[str, int] = {}
        named = [_module_words(path) for path in paths]
        self._own = np.array([known.setdefault(own, len(known)) if own else -1 for own, _ in named], dtype=np.int64)
        self._above = np.array([known.setdefault(up, len(known)) if up else -1 for _, up in named], dtype=np.int64)
        folders: dict[str, int] = {}
        self._folder = np.array(
            [folders.setdefault(path.rpartition("/")[0], len(folders)) for path in paths], dtype=np.int64
        )
        self._count = max(len(paths), 1)
        self._word = known
        rows = np.full(max(row_of, default=0) + 1, -1, dtype=np.int64)
        rows[list(row_of)] = list(row_of.values())
        keys = [np.zeros(0, dtype=np.int64)]
        for word, packed in store.postings(list(known)):
            ids = np.frombuffer(packed, dtype=np.uint32).astype(np.int64)
            users = rows[ids[ids < len(rows)]]
            keys.append(known[word] * self._count + users[users >= 0])
        self._having = np.sort(np.concatenate(keys))

    def are_near(
        self, users: NDArray[np.int64], files: NDArray[np.int64], names: NDArray[np.int64]
    ) -> NDArray[np.bool_]:
        """Whether each user is near the file that defines a name (by its word, or -1)."""
        own, above = self._own[files], self._above[files]
        # A file called like what it defines is spoken of by everyone who has the name.
        own = np.where(own == names, -1, own)
        alone = (own < 0) & (above < 0)
        beside = self._folder[users] == self._folder[files]
        is_near: NDArray[np.bool_] = alone | beside | self._has(users, own) | self._has(users, above)
        return is_near

    def words_of(self, names: Sequence[str]) -> NDArray[np.int64]:
        """The word of each name, or -1."""
        return np.array([self._word.get(name, -1) for name in names], dtype=np.int64)

    def _has(self, users: NDArray[np.int64], words: NDArray[np.int64]) -> NDArray[np.bool_]:
        if not len(self._having):
            return np.zeros(len(users), dtype=np.bool_)
        keys = words * self._count + users
        at = np.minimum(np.searchsorted(self._having, keys), len(self._having) - 1)
        has_word: NDArray[np.bool_] = (words >= 0) & (self._having[at] == keys)
        return has_word


def _module_words(path: str) -> tuple[str, str]:
    """The words of a module and its folder; a package's front file is named after its folder."""
    *folders, name = path.split("/")
    stem = name.partition(".")[0]
    if stem in _FRONTS and folders:
        stem = folders.pop()
    return _word(stem), _word(folders[-1]) if folders else ""


def _word(text: str) -> str:
    """The longest identifier in a text, such as of my-module."""
    return max(_PART.findall(text), key=len, default="")

"""Files by the messages of the commits that changed them: a report reads like earlier ones of the same place."""

import asyncio
import math
import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from heapq import nlargest

from codeplane.git.read.change_history import Change, read_changes
from codeplane.git.read.reader import GitReader
from codeplane.index.words import parts
from codeplane.kernel.bounded_cache import BoundedCache
from codeplane.kernel.errors import CodePlaneError
from codeplane.query.search.question import STOP_WORDS

LATE = "PARTIAL: without the history, which git could not read in time"
_KEPT = 2
_FOR_SEC = 5.0
_WORD = re.compile(r"[^\W\d]\w*")
# Chosen on 122 issues of thirteen repositories; none of them matters much.
_BODY, _TITLE_OF_QUESTION = 0.3, 1.5
_K1, _B = 1.0, 0.5
_NEAREST = 60
# A commit of many files says less about each of them, one of more than these nothing.
_MOST_FILES, _BY_FILES = 30, 0.3
_FORGOTTEN_SEC = 2 * 365 * 86_400


class PastChanges:
    """The words of commits' messages, and the files that each of them changed."""

    def __init__(self, changes: Sequence[Change], *, is_known: bool = True) -> None:
        self.is_known = is_known
        usable = [change for change in changes if change.files and len(change.files) <= _MOST_FILES]
        newest = max((change.time for change in changes), default=0)
        self._files = [change.files for change in usable]
        self._factors = [
            math.exp(min(0, change.time - newest) / _FORGOTTEN_SEC) / len(change.files) ** _BY_FILES
            for change in usable
        ]
        self._postings: defaultdict[str, list[tuple[int, float]]] = defaultdict(list)
        lengths: list[float] = []
        for at, change in enumerate(usable):
            weights: defaultdict[str, float] = defaultdict(float)
            for text, weight in ((change.title, 1.0), (change.body, _BODY)):
                for word in _words(text):
                    weights[word] += weight
            lengths.append(sum(weights.values()))
            for word, weight in weights.items():
                self._postings[word].append((at, weight))
        mean = sum(lengths) / len(lengths) if lengths else 1.0
        self._room = [_K1 * (1 - _B + _B * length / (mean or 1.0)) for length in lengths]

    def files_like(self, words: Collection[str], title: Collection[str]) -> dict[str, float]:
        """The files that the commits changed whose messages have most of some words, those of the title before others.

        A file has the value of the commit that is most alike.
        """
        scores: defaultdict[int, float] = defaultdict(float)
        total = len(self._files)
        # In one order, so that sums do not differ in their last bits.
        for word in sorted(words):
            postings = self._postings.get(word)
            if postings is None:
                continue
            rarity = math.log(1 + (total - len(postings) + 0.5) / (len(postings) + 0.5))
            rarity *= (1 + _TITLE_OF_QUESTION) * (_K1 + 1) if word in title else _K1 + 1
            for at, weight in postings:
                scores[at] += rarity * weight / (weight + self._room[at])
        nearest = nlargest(_NEAREST, ((score * self._factors[at], -at) for at, score in scores.items()))
        files: dict[str, float] = {}
        for value, before in nearest:
            for file in self._files[-before]:
                files.setdefault(file, value)
        return files


NO_CHANGES = PastChanges(())


class PastChangesReader:
    """Reads the past changes of a head once, and keeps them while it is asked for."""

    def __init__(self, reader: GitReader) -> None:
        self._reader = reader
        self._kept = BoundedCache[str, PastChanges](_KEPT)
        self._reading = asyncio.Lock()

    async def up_to(self, head: str | None) -> PastChanges:
        """The past changes up to a commit, not known when git could not read them in time."""
        if head is None:
            return NO_CHANGES
        if (known := self._kept.get(head)) is not None:
            return known
        try:
            async with asyncio.timeout(_FOR_SEC), self._reading:
                known = self._kept.get(head)
                if known is None:
                    known = await asyncio.to_thread(PastChanges, await read_changes(self._reader, head))
                    self._kept.put(head, known)
                return known
        except TimeoutError:
            return PastChanges((), is_known=False)
        except CodePlaneError:
            # A repository that git refuses to read has no history for us.
            return NO_CHANGES


def _words(text: str) -> Iterator[str]:
    for word in _WORD.findall(text):
        pieces = parts(word)
        yield from (piece for piece in pieces if piece not in STOP_WORDS)
        if len(pieces) > 1 and "_" not in word.strip("_"):
            yield word.lower()

"""A parser of contents outside the index, with a cache of their facts."""

import os
import threading
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile

import xxhash

from codeplane.code.model import Facts, unpack_facts
from codeplane.index.parse_worker import Source
from codeplane.index.parser_pool import ParserPool
from codeplane.kernel.bounded_cache import BoundedCache

_KEPT_BYTES = 48 * 1024 * 1024
_MAX_FACTS = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """Text in a language; the path is only a label."""

    path: str
    language: str
    text: bytes

    @property
    def key(self) -> tuple[str, str]:
        """The cache key of its facts."""
        return self.language, xxhash.xxh3_128_hexdigest(self.text)


class ContentParser:
    """Parses contents in the worker processes and caches their facts."""

    def __init__(self, *, parsers: ParserPool, folder: Path) -> None:
        self._parsers = parsers
        self._folder = folder
        self._turn = threading.Lock()
        self._kept = BoundedCache[tuple[str, str], bytes](max_weight=_KEPT_BYTES, weigh=len)

    def facts(self, contents: Sequence[Content]) -> tuple[list[Facts | None], list[str]]:
        """The facts of each content or None, and the reasons for those."""
        keys = [content.key for content in contents]
        problems = [""] * len(contents)
        with self._turn:
            made = {key: packed for key in keys if (packed := self._kept.get(key)) is not None}
            unknown = {key: place for place, key in enumerate(keys) if key not in made}
            if unknown:
                wanted = list(unknown.values())
                for place, packed, problem in self._parse_contents([contents[place] for place in wanted]):
                    made[keys[wanted[place]]] = packed
                    if not packed:
                        problems[wanted[place]] = problem or "the parser did not survive it"
                    else:
                        self._kept.put(keys[wanted[place]], packed)
        return [_unpack_facts(made.get(key, b"")) for key in keys], problems

    def _parse_contents(self, contents: Sequence[Content]) -> list[tuple[int, bytes, str]]:
        results = dict.fromkeys(range(len(contents)), (b"", ""))
        self._folder.mkdir(parents=True, exist_ok=True)
        with NamedTemporaryFile(dir=self._folder, prefix="compare-") as file:
            # A newline in front: what has no bytes at all cannot be mapped.
            file.write(b"\n")
            sources, offset = [], 1
            for place, content in enumerate(contents):
                file.write(content.text)
                name = os.fsencode(content.path).decode("latin-1")
                sources.append(
                    Source(key=place, name=name, language=content.language, offset=offset, length=len(content.text))
                )
                offset += len(content.text)
            file.flush()
            for batch in self._parsers.parse(Path(file.name), sources):
                for parsed in batch:
                    results[parsed.key] = (parsed.facts, parsed.problem)
        return [(place, packed, problem) for place, (packed, problem) in results.items()]


def _unpack_facts(packed: bytes) -> Facts | None:
    return unpack_facts(zlib.decompressobj().decompress(packed, _MAX_FACTS)) if packed else None

"""An index of a few files that are given as texts, for planners that run without a repository."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from codeplane.code.languages.registry import languages
from codeplane.index.fact_store import FactStore
from codeplane.index.files.file import Stamp, digest_of
from codeplane.index.parse_worker import Source, parse_source
from codeplane.index.parsed_table import ParsedFile
from codeplane.index.snapshot import IndexedFile, Snapshot


@contextmanager
def memory_index(files: Mapping[str, str], home: Path) -> Iterator[tuple[Snapshot, FactStore]]:
    """A snapshot of these files, and a store of their facts below `home`."""
    home.mkdir(parents=True, exist_ok=True)
    content = bytearray()
    known: dict[str, IndexedFile] = {}
    for path, text in sorted(files.items()):
        raw = text.encode("utf-8", "surrogateescape")
        known[path] = IndexedFile(
            path=path,
            stamp=Stamp(len(raw), 0, 0, 0, 0),
            digest=digest_of(raw),
            offset=len(content),
            length=len(raw),
            tracked=True,
        )
        content += raw
    snapshot = Snapshot(
        epoch=1,
        commit=None,
        files=known,
        content=bytes(content),
        content_file=home / "content.bin",
        sorted_until=len(content),
        verified_at_ns=0,
        left_out={},
    )
    store = FactStore(home / "facts.db")
    try:
        parsed = []
        for key, file in enumerate(known.values()):
            language = languages().of(file.path)
            if language is not None:
                source = Source(key=key, name=file.path, language=language.name, offset=file.offset, length=file.length)
                facts = parse_source(source, snapshot.text(file))
                parsed.append(ParsedFile(path=file.path, digest=file.digest, language=language.name, parsed=facts))
        store.put(parsed, epoch=1)
        yield snapshot, store
    finally:
        store.close()

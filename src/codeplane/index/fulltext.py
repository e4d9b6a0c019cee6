"""Ranked full-text search in a Tantivy index beside the content."""

import os
import shutil
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal, NamedTuple

import tantivy

from codeplane.index.checksums import verify_checksums
from codeplane.index.words import parts as parts
from codeplane.index.words import path_names as path_names
from codeplane.index.words import split_camel_case, with_parts

Field = Literal["content", "names", "path_words"]

HEAP_BYTES = 50_000_000
LONGEST_WORD = 100
_LOCK_TRIES = 40
_LOCK_PAUSE_SEC = 0.05
# Where a schema or a tokenizer changes, this does too: a folder of another version is made again.
_EPOCH = "epoch_2"
_REPLACED = "replaced"
_MARK = "\0epoch"


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A file as indexed; `names` are what it defines.

    `pieces` are the camelCase parts of its text and `named` its names with their parts, where already computed.
    """

    path: str
    text: bytes
    names: Sequence[str] = ()
    language: str = ""
    pieces: str | None = None
    named: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """A weighted word in one field; `flat` ignores the file's length."""

    field: Field
    word: str
    weight: float = 1.0
    flat: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A file with some of the words."""

    path: str
    score: float


class _Mark(NamedTuple):
    """What the last commit wrote beside the files."""

    epoch: int | None = None
    replaced: int = 0


class _Seen:
    """One searcher, with the paths of documents already read."""

    def __init__(self, index: tantivy.Index) -> None:
        self.searcher = index.searcher()
        self._schema = index.schema
        # A document's number holds as long as its searcher, and its path is what takes longest to read.
        self.paths: dict[tuple[int, int], str] = {}

    @cached_property
    def count(self) -> int:
        return int(self.searcher.num_docs) - (_read_mark(self.searcher, self._schema).epoch is not None)

    def path(self, address: tantivy.DocAddress) -> str:
        """Read and cache a document's path."""
        path = self.paths[address.segment_ord, address.doc] = _path(self.searcher.doc(address)["path"][0])
        return path


class FullText:
    """A Tantivy index, recreated when damaged. Any thread may search while one writes."""

    def __init__(self, folder: Path, *, heap_bytes: int = HEAP_BYTES, threads: int = 1) -> None:
        self._folder, self._heap_bytes, self._threads = folder, heap_bytes, threads
        self._lock = threading.RLock()
        self._writer: tantivy.IndexWriter | None = None
        self._moved = threading.Condition()
        self._until = 0
        self._wanted = 0
        # Notified, in any thread, that somebody waits for what is not committed yet.
        self.on_wait: Callable[[], None] = lambda: None
        self.remade: str | None = None
        try:
            self._index = self._open()
        except BaseException as error:
            # A damaged segment makes Tantivy panic, which is no Exception.
            if isinstance(error, KeyboardInterrupt | SystemExit | MemoryError):
                raise
            self.remade = str(error) or type(error).__name__
            if folder.is_dir() and not folder.is_symlink():
                shutil.rmtree(folder)
            else:
                folder.unlink()
            self._index = self._open()
        self._seen = _Seen(self._index)
        self._replaced_before = self._committed().replaced
        self._replaced: set[str] = set()

    @property
    def epoch(self) -> int | None:
        """The epoch of the last commit, or None before the first."""
        return self._committed().epoch

    @property
    def count(self) -> int:
        """The number of files."""
        return self._seen.count

    @property
    def replaced(self) -> int:
        """The number of files replaced or removed since everything was fed.

        They count in how rare a word is until Tantivy merges their segment, and the lengths of the others in it are
        rounded then, so that scores differ from those of an index that is fed again. A file that is written many
        times counts once: its versions are in small segments, which are merged soon.
        """
        return self._replaced_before + len(self._replaced)

    def add(self, documents: Iterable[Document], *, fresh: bool = False) -> None:
        """Add or replace files; visible after the commit.

        `fresh`: none of them is in it, as after `clear`, so nothing has to be looked for and replaced.
        """
        with self._lock:
            writer = self._open_writer()
            for document in documents:
                key = _key(document.path)
                if not fresh:
                    self._note_replaced(document.path)
                    writer.delete_documents_by_term("path", key)
                writer.add_document(_entry(document, key))

    def remove(self, paths: Iterable[str]) -> None:
        """Remove files at the next commit."""
        with self._lock:
            writer = self._open_writer()
            for path in paths:
                self._note_replaced(path)
                writer.delete_documents_by_term("path", _key(path))

    def clear(self) -> None:
        """Remove everything at the next commit."""
        with self._lock:
            # Tantivy spares what was added since the last commit: it is dropped with the writer.
            self.release()
            self._open_writer().delete_all_documents()
            self._replaced_before, self._replaced = 0, set()

    def commit(self, epoch: int) -> None:
        """Commit everything together with its epoch."""
        with self._lock:
            writer = self._open_writer()
            writer.delete_documents_by_term("path", _MARK)
            mark = tantivy.Document(path=_MARK)
            mark.add_unsigned(_EPOCH, epoch)
            mark.add_unsigned(_REPLACED, self.replaced)
            writer.add_document(mark)
            writer.commit()
            self._reload()

    def mark_epoch(self, epoch: int) -> None:
        """Note that the full text contains all of an epoch."""
        with self._moved:
            self._until = epoch
            self._moved.notify_all()

    def contains(self, epoch: int) -> bool:
        """Return whether it contains all of an epoch."""
        return self._until >= epoch

    def wait(self, epoch: int, timeout_sec: float) -> bool:
        """Wait, bounded, until it contains all of an epoch; return whether it does."""
        with self._moved:
            if self._until < epoch:
                self._wanted = max(self._wanted, epoch)
                self.on_wait()
            return self._moved.wait_for(lambda: self._until >= epoch, timeout_sec)

    @property
    def is_awaited(self) -> bool:
        """Whether a caller waits for a later epoch."""
        with self._moved:
            return self._wanted > self._until

    def search(self, terms: Sequence[Term], *, limit: int, language: str | None = None) -> list[Hit]:
        """Files with any of the words, best first, ties by path."""
        scored = self.score_paths(terms, limit=limit, language=language)
        return [Hit(path=path, score=-lower) for lower, path in sorted((-score, path) for score, path in scored)]

    def score_paths(self, terms: Sequence[Term], *, limit: int, language: str | None = None) -> list[tuple[float, str]]:
        """The same as (score, path) pairs, unordered among ties, for re-ranking."""
        seen, query = self._seen, self._query(terms)
        if language is not None:
            only = tantivy.Query.term_query(self._index.schema, "language", language, index_option="basic")
            must = tantivy.Occur.Must
            query = tantivy.Query.boolean_query([(must, query), (must, tantivy.Query.const_score_query(only, 0.0))])
        hits = seen.searcher.search(query, limit, count=False).hits
        # Written out: it runs for hundreds of files a question, and nearly all of them were seen before.
        held, path = seen.paths, seen.path
        return [(score, held.get((address.segment_ord, address.doc)) or path(address)) for score, address in hits]

    def frequencies(self, field: Field, words: Iterable[str]) -> dict[str, int]:
        """The number of files with each word."""
        files = self._seen.searcher.doc_freq
        return {word: files(field, word) for word in words}

    def has(self, path: str) -> bool:
        """Whether a file is indexed; a removed one may count until its segment is merged."""
        return bool(self._seen.searcher.doc_freq("path", _key(path)))

    def release(self) -> None:
        """Free the writer's memory after pending merges; uncommitted documents are lost."""
        with self._lock:
            writer, self._writer = self._writer, None
            if writer is not None:
                writer.wait_merging_threads()
                self._replaced_before, self._replaced = self._committed().replaced, set()

    def close(self) -> None:
        """Close the writer; uncommitted documents are lost."""
        # What a full disk did to a thread of the writer is no reason not to end: all of this can be made again.
        with suppress(ValueError):
            self.release()

    def _note_replaced(self, path: str) -> None:
        if path not in self._replaced and self.has(path):
            self._replaced.add(path)

    def _query(self, terms: Sequence[Term]) -> tantivy.Query:
        asked = [(tantivy.Occur.Should, self._term_query(term)) for term in terms if len(term.word) <= LONGEST_WORD]
        return tantivy.Query.boolean_query(asked)

    def _term_query(self, term: Term) -> tantivy.Query:
        query = tantivy.Query.term_query(self._index.schema, term.field, term.word, index_option="freq")
        if term.flat:
            return tantivy.Query.const_score_query(query, term.weight)
        return tantivy.Query.boost_query(query, term.weight)

    def _reload(self) -> None:
        self._index.reload()
        self._seen = _Seen(self._index)

    def _open(self) -> tantivy.Index:
        self._folder.mkdir(parents=True, exist_ok=True)
        verify_checksums(self._folder)
        index = tantivy.Index(_schema(), str(self._folder), reuse=True)
        for name, split in (("words", tantivy.Tokenizer.simple()), ("spaced", tantivy.Tokenizer.whitespace())):
            analyzer = tantivy.TextAnalyzerBuilder(split).filter(tantivy.Filter.remove_long(LONGEST_WORD + 1))
            # Names keep their case: `Field` is defined in other files than `field`.
            index.register_tokenizer(
                name, (analyzer.filter(tantivy.Filter.lowercase()) if name == "words" else analyzer).build()
            )
        # Reloading is ours, at commit: the default polls the folder from a thread.
        index.config_reader("manual")
        index.reload()
        _read_mark(index.searcher(), index.schema)
        return index

    def _open_writer(self) -> tantivy.IndexWriter:
        # The lock of a released writer is freed a moment later.
        for attempt in range(_LOCK_TRIES):
            if self._writer is not None:
                break
            try:
                self._writer = self._index.writer(self._heap_bytes, self._threads)
            except ValueError as error:
                if "LockBusy" not in str(error) or attempt == _LOCK_TRIES - 1:
                    raise
                time.sleep(_LOCK_PAUSE_SEC)
        assert self._writer is not None
        return self._writer

    def _committed(self) -> _Mark:
        return _read_mark(self._index.searcher(), self._index.schema)


def _schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("path", stored=True, tokenizer_name="raw", index_option="basic")
    # Frequencies without positions: a third of the size, and ranking needs no phrases.
    builder.add_text_field("content", tokenizer_name="words", index_option="freq")
    builder.add_text_field("names", tokenizer_name="spaced", index_option="freq")
    builder.add_text_field("path_words", tokenizer_name="spaced", index_option="freq")
    builder.add_text_field("language", tokenizer_name="raw", index_option="basic")
    builder.add_unsigned_field(_EPOCH, stored=True)
    builder.add_unsigned_field(_REPLACED, stored=True)
    return builder.build()


def _entry(document: Document, key: str) -> tantivy.Document:
    entry = tantivy.Document()
    entry.add_text("path", key)
    entry.add_text("content", document.text.decode("utf-8", "replace"))
    pieces = split_camel_case(document.text) if document.pieces is None else document.pieces
    if pieces:
        # One field for whole words and pieces, so that both count in one frequency and one length.
        entry.add_text("content", pieces)
    if document.language:
        entry.add_text("language", document.language)
    named = with_parts(document.names) if document.named is None else document.named
    if named:
        entry.add_text("names", named)
    path = _readable(document.path)
    # Each path comes once: remembering its parts would only hold memory.
    entry.add_text("path_words", " ".join((*parts.__wrapped__(path), *path_names(path))))
    return entry


def _read_mark(searcher: tantivy.Searcher, schema: tantivy.Schema) -> _Mark:
    query = tantivy.Query.term_query(schema, "path", _MARK, index_option="basic")
    hits = searcher.search(query, 1, count=False).hits
    if not hits:
        return _Mark()
    mark = searcher.doc(hits[0][1])
    return _Mark(epoch=int(mark[_EPOCH][0]), replaced=int(mark[_REPLACED][0]))


def _key(path: str) -> str:
    """A path as Latin-1 text, one character per byte."""
    return os.fsencode(path).decode("latin-1")


def _path(key: str) -> str:
    return key if key.isascii() else os.fsdecode(key.encode("latin-1"))


def _readable(path: str) -> str:
    return path if path.isascii() else os.fsencode(path).decode("utf-8", "replace")

"""A portable index: facts and vectors in one file, to be imported where the same contents lie.

Facts and vectors are functions of content, so an archive is merged file by file where digests agree; the text itself is
always read from the disk, and whatever differs there is parsed as usual.
"""

import hashlib
import io
import json
import shutil
import sqlite3
import tarfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from codeplane.code.facts.version import tables_version
from codeplane.kernel.errors import ArchiveRefused
from codeplane.kernel.json import JsonObject

FORMAT = 1
_MANIFEST = "manifest.json"
_FACTS = "facts.db"
_MEMBERS = ("facts.db", "vectors.db", "000001.bin")
_MAX_BYTES = 4 * 1024**3
_MAX_MANIFEST = 64 * 1024
# The facts of the largest file that is parsed, packed, are far below.
_MAX_FACTS = 64 * 1024 * 1024
_MAX_REASON = 300
_CHUNK = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """The header of an archive: what it was made from, and the digests of its parts."""

    format: int
    tables: int
    commit: str | None
    files: int
    model: str | None
    digests: dict[str, str]


def write_archive(target: Path, *, folder: Path, commit: str | None, files: int, model: str | None) -> Manifest:
    """Pack the parts in a folder into an archive; it is written whole or not at all."""
    parts = [name for name in _MEMBERS if (folder / name).exists()]
    manifest = Manifest(
        format=FORMAT,
        tables=tables_version(),
        commit=commit,
        files=files,
        model=model,
        digests={name: _digest(folder / name) for name in parts},
    )
    raw = json.dumps(_to_json(manifest)).encode()
    unfinished = target.with_name(target.name + ".part")
    with tarfile.open(unfinished, "w") as archive:
        head = tarfile.TarInfo(_MANIFEST)
        head.size = len(raw)
        archive.addfile(head, io.BytesIO(raw))
        for name in parts:
            archive.add(folder / name, arcname=name, recursive=False)
    unfinished.replace(target)
    return manifest


def unpack_archive(source: Path, folder: Path) -> Manifest:
    """Unpack an archive; refuse a foreign, newer, differently parsed or damaged one."""
    try:
        with tarfile.open(source, "r:") as archive:
            manifest = _manifest(archive)
            for name in manifest.digests:
                _extract(archive, name, folder / name)
    except (tarfile.TarError, OSError, EOFError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise ArchiveRefused(f"{source.name} is not an index archive: {str(error)[:_MAX_REASON]}") from error
    for name, digest in manifest.digests.items():
        if _digest(folder / name) != digest:
            raise ArchiveRefused(f"{name} in {source.name} is damaged: its checksum differs")
    return manifest


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchivedFacts:
    """A file's facts as an archive holds them."""

    path: bytes
    digest: str
    facts: bytes


def read_facts(folder: Path) -> Iterator[ArchivedFacts]:
    """Yield the facts of every file in an unpacked archive; the database is opened read-only and untrusted."""
    uri = f"{(folder / _FACTS).as_uri()}?mode=ro&immutable=1"
    try:
        with closing(sqlite3.connect(uri, uri=True)) as connection:
            # Also what a column computes may not be larger.
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MAX_FACTS)
            connection.execute("PRAGMA trusted_schema=OFF")
            kinds = dict(connection.execute("SELECT name, type FROM sqlite_master WHERE type IN ('table', 'view')"))
            if kinds.get("parsed") != "table":
                raise ArchiveRefused("the archive's facts are not tables")
            for path, digest, facts in connection.execute("SELECT path, hex(digest), facts FROM parsed"):
                yield ArchivedFacts(path=bytes(path), digest=str(digest).lower(), facts=bytes(facts))
    except (sqlite3.Error, TypeError) as error:
        raise ArchiveRefused(f"the archive's facts cannot be read: {error}") from error


def _to_json(manifest: Manifest) -> JsonObject:
    return {
        "format": manifest.format,
        "tables": manifest.tables,
        "commit": manifest.commit,
        "files": manifest.files,
        "model": manifest.model,
        "digests": manifest.digests,
    }


def _manifest(archive: tarfile.TarFile) -> Manifest:
    head = archive.getmember(_MANIFEST)
    if not head.isfile() or head.size > _MAX_MANIFEST:
        raise ValueError("no manifest")
    file = archive.extractfile(head)
    assert file is not None
    document = json.loads(file.read())
    if int(document["format"]) > FORMAT:
        raise ArchiveRefused(f"the archive has a format newer than {FORMAT}", hint="update CodePlane")
    manifest = Manifest(
        format=int(document["format"]),
        tables=int(document["tables"]),
        commit=document["commit"],
        files=int(document["files"]),
        model=document["model"],
        digests={str(name): str(digest) for name, digest in document["digests"].items()},
    )
    if manifest.tables != tables_version():
        raise ArchiveRefused(
            "the archive was made by a CodePlane that parses differently",
            hint="make it with the same version: cpl index export",
        )
    unknown = set(manifest.digests) - set(_MEMBERS)
    if unknown or _FACTS not in manifest.digests:
        raise ValueError(f"unexpected parts {sorted(unknown)}" if unknown else "no facts")
    return manifest


def _extract(archive: tarfile.TarFile, name: str, target: Path) -> None:
    member = archive.getmember(name)
    if not member.isfile() or member.size > _MAX_BYTES:
        raise ValueError(f"{name} is no file, or larger than {_MAX_BYTES} bytes")
    file = archive.extractfile(member)
    assert file is not None
    with target.open("wb") as out:
        shutil.copyfileobj(file, out, _CHUNK)


def _digest(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_CHUNK):
            digest.update(block)
    return digest.hexdigest()

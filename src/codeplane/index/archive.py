"""A portable index: what is dear to make, made once and carried to where the same contents lie.

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
_MAX_MANIFEST = 1024 * 1024
_CHUNK = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What an archive is of, and what its parts must be."""

    format: int
    tables: int
    commit: str | None
    files: int
    model: str | None
    digests: dict[str, str]


def write(target: Path, *, folder: Path, commit: str | None, files: int, model: str | None) -> Manifest:
    """Pack the parts that lie in a folder; the archive appears whole or not at all."""
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


def unpack(source: Path, folder: Path) -> Manifest:
    """Take an archive apart, refusing what is not one of ours, newer than us, made by other tables, or damaged."""
    try:
        with tarfile.open(source, "r:") as archive:
            manifest = _manifest(archive)
            for name in manifest.digests:
                _extract(archive, name, folder / name)
    except (tarfile.TarError, OSError, EOFError, ValueError, KeyError, TypeError) as error:
        raise ArchiveRefused(f"{source.name} is not an index archive: {error}") from error
    for name, digest in manifest.digests.items():
        if _digest(folder / name) != digest:
            raise ArchiveRefused(f"{name} in {source.name} is damaged: its checksum differs")
    return manifest


@dataclass(frozen=True, slots=True, kw_only=True)
class Packed:
    """A file's facts as an archive holds them."""

    path: bytes
    digest: str
    facts: bytes


def packed_facts(folder: Path) -> Iterator[Packed]:
    """Every file of an unpacked archive; the database is read as data alone."""
    uri = f"{(folder / _FACTS).as_uri()}?mode=ro&immutable=1"
    try:
        with closing(sqlite3.connect(uri, uri=True)) as connection:
            connection.execute("PRAGMA trusted_schema=OFF")
            kinds = dict(connection.execute("SELECT name, type FROM sqlite_master WHERE type IN ('table', 'view')"))
            if kinds.get("parsed") != "table":
                raise ArchiveRefused("the archive's facts are not tables")
            for path, digest, facts in connection.execute("SELECT path, hex(digest), facts FROM parsed"):
                yield Packed(path=bytes(path), digest=str(digest).lower(), facts=bytes(facts))
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
    found = json.loads(file.read())
    if int(found["format"]) > FORMAT:
        raise ArchiveRefused(f"the archive has format {found['format']}, newer than {FORMAT}", hint="update CodePlane")
    manifest = Manifest(
        format=int(found["format"]),
        tables=int(found["tables"]),
        commit=found["commit"],
        files=int(found["files"]),
        model=found["model"],
        digests={str(name): str(digest) for name, digest in found["digests"].items()},
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
    found = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_CHUNK):
            found.update(block)
    return found.hexdigest()

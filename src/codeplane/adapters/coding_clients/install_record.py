"""The record of what `cpl init` created for this account, which `cpl uninstall` undoes."""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from codeplane.kernel.json import JsonObject, JsonValue, dumps
from codeplane.kernel.workspace import install_record

Keys = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CreatedFiles:
    """What registration created besides an entry: the file, its parent folders, and the objects around the entry."""

    file: Path
    created: bool = False
    containers: tuple[Keys, ...] = ()
    folders: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class InstallRecord:
    """The repositories that were set up, and what was created in client settings for them."""

    file: Path
    repositories: tuple[Path, ...] = ()
    made: tuple[CreatedFiles, ...] = ()
    # Those around the record and around the user's settings that were not there before.
    folders: tuple[Path, ...] = ()

    @classmethod
    def load(cls, home: Path, environ: Mapping[str, str]) -> "InstallRecord":
        """Load the record of this account; empty if it cannot be read."""
        file = install_record(environ, home)
        try:
            document = json.loads(file.read_text())
            return cls(
                file=file,
                repositories=tuple(map(Path, document["repositories"])),
                made=tuple(map(_created_from_json, document["made"])),
                folders=tuple(map(Path, document["folders"])),
            )
        except (OSError, ValueError, KeyError, TypeError):
            return cls(file=file)

    def of(self, file: Path) -> CreatedFiles:
        """Return what was created in and around a client's file."""
        records = [created for created in self.made if created.file == file]
        return CreatedFiles(
            file=file,
            created=any(created.created for created in records),
            containers=tuple(dict.fromkeys(keys for created in records for keys in created.containers)),
            folders=tuple(dict.fromkeys(folder for created in records for folder in created.folders)),
        )

    def with_repository(self, root: Path, made: "list[CreatedFiles]") -> "InstallRecord":
        """Return the record with a repository and what was created for it."""
        recorded = [created for created in made if created.created or created.containers or created.folders]
        files = {created.file for created in recorded}
        merged = [*(created for created in self.made if created.file not in files)]
        merged += [replace(self, made=(*self.made, *recorded)).of(file) for file in sorted(files)]
        return replace(self, repositories=tuple(dict.fromkeys((*self.repositories, root))), made=tuple(merged))

    def without_repository(self, root: Path) -> "InstallRecord":
        """Return the record without a repository and without files that no longer exist."""
        return replace(
            self,
            repositories=tuple(place for place in self.repositories if place != root),
            made=tuple(files for files in self.made if files.file.exists()),
        )

    def save(self) -> None:
        """Write the record; one that says nothing is deleted, with the folders that only it was in."""
        if not self.repositories and not self.made:
            self.file.unlink(missing_ok=True)
            remove_empty([self.file.parent, *self.folders])
            return
        self.write()

    def write(self) -> None:
        """Write the record, also one that names only folders."""
        folders = [str(folder) for folder in dict.fromkeys((*self.folders, *missing_folders(self.file)))]
        self.file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        made: list[JsonValue] = [_row(files) for files in self.made]
        repositories = [str(root) for root in self.repositories]
        temporary = self.file.with_name(f".{self.file.name}.{os.getpid()}")
        temporary.write_text(dumps({"repositories": repositories, "made": made, "folders": folders}))
        temporary.replace(self.file)


@contextmanager
def record_folders(file: Path) -> Iterator[None]:
    """Record the folders above a file that are created meanwhile, which `cpl uninstall` removes when they are empty."""
    missing = missing_folders(file)
    try:
        yield
    finally:
        if created := [folder for folder in missing if folder.is_dir()]:
            record = InstallRecord.load(Path.home(), os.environ)
            # Nobody is kept from their settings by a record that cannot be written.
            with suppress(OSError):
                replace(record, folders=tuple(dict.fromkeys((*record.folders, *created)))).write()


def remove_empty(folders: "list[Path]") -> list[Path]:
    """Remove the empty ones of the folders, innermost first, and return them."""
    removed = []
    for folder in sorted(set(folders), key=lambda place: len(place.parts), reverse=True):
        try:
            folder.rmdir()
        except OSError:
            continue
        removed.append(folder)
    return removed


def missing_folders(file: Path) -> tuple[Path, ...]:
    """Return the parent folders of a file that do not exist yet."""
    return tuple(folder for folder in file.parents if not folder.exists())


def _created_from_json(row: "dict[str, object]") -> CreatedFiles:
    containers, folders = row["containers"], row["folders"]
    assert isinstance(containers, list) and isinstance(folders, list)
    return CreatedFiles(
        file=Path(str(row["file"])),
        created=bool(row["created"]),
        containers=tuple(tuple(map(str, keys)) for keys in containers),
        folders=tuple(Path(str(folder)) for folder in folders),
    )


def _row(made: CreatedFiles) -> JsonObject:
    return {
        "file": str(made.file),
        "created": made.created,
        "containers": [list(keys) for keys in made.containers],
        "folders": [str(folder) for folder in made.folders],
    }

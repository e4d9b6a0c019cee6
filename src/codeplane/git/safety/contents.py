"""File contents of the work tree, byte for byte: stored in git, compared, and restored.

The contents of secrets files are stored apart, where no sandbox sees them.
"""

import asyncio
import os
import re
import stat
import tempfile
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from codeplane.disk.plain_file import read_below
from codeplane.git.read.object_store import ObjectStore
from codeplane.git.safety.command import Git
from codeplane.git.safety.obstacles import find_blocking_parent, find_obstacles, mode_at
from codeplane.git.safety.secret_contents import SecretContents
from codeplane.index.files.paths import path_text
from codeplane.kernel.errors import CannotUndo
from codeplane.kernel.ids import new_id
from codeplane.kernel.plural import plural

# The mode and object id of a file, as in `100644 0a1b…`; None where there is no file.
Entry = str | None
MAX_BLOB = 48 * 1024 * 1024
_MAX_HASHED = 64 * 1024 * 1024
_LINK = "120000"
# The names of files while they are written.
_PART = re.compile(r"\.codeplane-part_[0-9a-f]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One file in two trees."""

    path: str
    before: str | None
    after: str | None
    insertions: int
    deletions: int


class Contents:
    """Store, compare and restore files as they are on disk, without git's conversions."""

    def __init__(self, git: Git, secrets: SecretContents | None = None) -> None:
        self._git = git
        self._secrets = secrets
        self._store = ObjectStore(git.root)

    async def capture(self, paths: Iterable[str], *, write: bool = True) -> dict[str, Entry]:
        """Return the entry of each path, storing the content with `write`."""
        modes = await asyncio.to_thread(self._modes, sorted(set(paths)))
        secrets = {path: mode for path, mode in modes.items() if mode and self._is_secret(path)}
        entries = await self._capture({path: mode for path, mode in modes.items() if path not in secrets}, write=write)
        return entries | await self._capture_secrets(secrets, write=write)

    def _is_secret(self, path: str) -> bool:
        return self._secrets is not None and self._secrets.covers(path)

    async def _capture_secrets(self, modes: Mapping[str, str], *, write: bool) -> dict[str, Entry]:
        """Return the entries of secrets files, storing no content in git that it does not have."""
        entries: dict[str, Entry] = {}
        for path, mode in modes.items():
            content = await asyncio.to_thread(self._read, path, mode)
            oid = (await self._git.run("hash-object", "--no-filters", "--stdin", input=content)).line
            if write and self._secrets is not None and not await self._sizes_in_git([oid]):
                await asyncio.to_thread(self._secrets.put, oid, content)
            entries[path] = f"{mode} {oid}"
        return entries

    async def _capture(self, modes: dict[str, str], *, write: bool) -> dict[str, Entry]:
        by_libgit2 = await asyncio.to_thread(self._store.hash_files, modes, write=write)
        if by_libgit2 is not None:
            return by_libgit2
        plain = [path for path, mode in modes.items() if mode and mode != _LINK and _is_plain(path)]
        option = ("-w",) if write else ()
        entries: dict[str, Entry] = dict.fromkeys(modes)
        if plain:
            paths = b"".join(os.fsencode(path) + b"\n" for path in plain)
            done = await self._git.run("hash-object", *option, "--no-filters", "--stdin-paths", input=paths)
            entries |= {path: f"{modes[path]} {oid}" for path, oid in zip(plain, done.line.split(), strict=True)}
        for path, mode in modes.items():
            if mode and entries[path] is None:
                content = await asyncio.to_thread(self._read, path, mode)
                done = await self._git.run("hash-object", *option, "--no-filters", "--stdin", input=content)
                entries[path] = f"{mode} {done.line}"
        return entries

    def secrets_apart(self, files: Mapping[str, Entry]) -> frozenset[str]:
        """Return the secrets files among these whose content is stored apart from git."""
        if self._secrets is None:
            return frozenset()
        named = {path: entry.split(" ")[1] for path, entry in files.items() if entry and self._is_secret(path)}
        stored = self._secrets.sizes(named.values())
        return frozenset(path for path, oid in named.items() if oid in stored)

    async def changes(self, before: Mapping[str, Entry], after: Mapping[str, Entry]) -> list[Difference]:
        """Compare files before and after, by path; lines of secrets files are not counted."""
        apart = await asyncio.to_thread(lambda: self.secrets_apart(before) | self.secrets_apart(after))
        differences = await self.differences(await self._tree(before, apart), await self._tree(after, apart))
        for path in apart:
            old, new = before.get(path), after.get(path)
            if old != new:
                differences.append(
                    Difference(path=path, before=_oid_of(old), after=_oid_of(new), insertions=0, deletions=0)
                )
        return sorted(differences, key=lambda difference: difference.path)

    async def tree(self, files: Mapping[str, Entry]) -> str:
        """Write a git tree of the existing files, without secrets stored apart."""
        return await self._tree(files, await asyncio.to_thread(self.secrets_apart, files))

    async def _tree(self, given: Mapping[str, Entry], apart: Collection[str]) -> str:
        files = {path: entry for path, entry in given.items() if path not in apart}
        if tree := await asyncio.to_thread(self._store.write_tree, files):
            return tree
        lines = b"".join(
            entry.encode() + b"\t" + os.fsencode(path) + b"\0" for path, entry in files.items() if entry is not None
        )
        with tempfile.TemporaryDirectory(prefix="codeplane-") as folder:
            env = {"GIT_INDEX_FILE": str(Path(folder) / "index")}
            await self._git.run("update-index", "-z", "--add", "--index-info", input=lines, env=env)
            return (await self._git.run("write-tree", env=env)).line

    async def differences(self, before: str, after: str) -> list[Difference]:
        """Compare two trees or commits, by path."""
        if before == after:
            return []
        options = ("-r", "-z", "--raw", "--numstat", "--no-renames", "--no-abbrev", "--no-ext-diff", "--no-textconv")
        done = await self._git.run("diff-tree", *options, before, after, "--")
        return _parse_differences(done.fields)

    async def hashes(self, oids: Iterable[str]) -> dict[str, str]:
        """Return the SHA-256 of objects, as many as fit into the size limit."""
        wanted = sorted(set(oids))
        sizes = await self.sizes(wanted)
        room, chosen = _MAX_HASHED // 2, []
        for oid in wanted:
            if oid in sizes and sizes[oid] <= room:
                chosen.append(oid)
                room -= sizes[oid]
        contents = await self._contents(chosen)
        return {oid: sha256(content).hexdigest() for oid, content in contents.items()}

    async def read_small(self, oids: Iterable[str], *, most: int) -> dict[str, bytes]:
        """Return the contents of objects, without those that are missing or larger than `most`."""
        sizes = await self.sizes(sorted(set(oids)))
        return await self._contents([oid for oid, size in sizes.items() if size <= most])

    async def sizes(self, oids: Iterable[str]) -> dict[str, int]:
        """Return the sizes of objects, without those that are missing."""
        wanted = list(oids)
        apart = await asyncio.to_thread(self._secrets.sizes, wanted) if self._secrets is not None else {}
        return apart | await self._sizes_in_git([oid for oid in wanted if oid not in apart])

    async def _sizes_in_git(self, wanted: list[str]) -> dict[str, int]:
        sizes = await asyncio.to_thread(self._store.sizes, wanted) if wanted else {}
        if sizes is not None:
            return sizes
        given = "".join(f"{oid}\n" for oid in wanted).encode()
        done = await self._git.run("cat-file", "--batch-check=%(objectname) %(objectsize)", input=given)
        rows = [line.split(" ") for line in done.line.splitlines()]
        return {oid: int(size) for oid, size in rows if size.isdigit()}

    async def restore(self, files: Mapping[str, Entry]) -> None:
        """Restore files on disk to these entries; CannotUndo, before any write, when one cannot be restored."""
        oids = {entry.split(" ")[1] for entry in files.values() if entry is not None}
        sizes = await self.sizes(oids)
        if missing := [oid for oid in oids if oid not in sizes or sizes[oid] > MAX_BLOB]:
            raise CannotUndo(f"the content of {plural(len(missing), 'file')} is no longer kept, or too large")
        await asyncio.to_thread(self._check_parents, files)
        # Sorted, so that a link is removed before the paths that lead through it.
        await asyncio.to_thread(self._remove, sorted(path for path, entry in files.items() if entry is None))
        restored = [(path, *entry.split(" ")) for path, entry in files.items() if entry is not None]
        batch: list[tuple[str, str, str]] = []
        room = MAX_BLOB
        for path, mode, oid in restored:
            if sizes[oid] > room:
                await self._write(batch)
                batch, room = [], MAX_BLOB
            batch.append((path, mode, oid))
            room -= sizes[oid]
        await self._write(batch)

    def remove_parts(self, paths: Iterable[str]) -> None:
        """Remove files that a killed `restore` was still writing beside these."""
        for folder in {(self._git.root / path).parent for path in paths}:
            with suppress(OSError):
                for name in os.listdir(folder):  # noqa: PTH208
                    if _PART.fullmatch(name):
                        (folder / name).unlink(missing_ok=True)

    async def _contents(self, wanted: list[str]) -> dict[str, bytes]:
        apart = await asyncio.to_thread(self._secrets.contents, wanted) if self._secrets is not None else {}
        return apart | await self._contents_in_git([oid for oid in wanted if oid not in apart])

    async def _contents_in_git(self, oids: list[str]) -> dict[str, bytes]:
        contents = await asyncio.to_thread(self._store.contents, oids) if oids else {}
        if contents is not None:
            return contents
        done = await self._git.run("cat-file", "--batch", input="".join(f"{oid}\n" for oid in oids).encode())
        contents, at = {}, 0
        for oid in oids:
            end = done.out.index(b"\n", at)
            size = int(done.out[at:end].split(b" ")[2])
            contents[oid] = done.out[end + 1 : end + 1 + size]
            at = end + size + 2
        return contents

    async def _write(self, batch: list[tuple[str, str, str]]) -> None:
        contents = await self._contents(sorted({oid for _, _, oid in batch}))
        for path, mode, oid in batch:
            await asyncio.to_thread(_replace, self._git.root / path, mode, contents[oid])

    def _modes(self, paths: list[str]) -> dict[str, str]:
        """Return the git mode of each path; empty for what is no file."""
        modes = {}
        known: dict[str, str | None] = {}
        for path in paths:
            # A path through a symbolic link is elsewhere, and not in the repository.
            is_behind_link = find_blocking_parent(self._git.root, path.rpartition("/")[0], known) is not None
            mode = 0 if is_behind_link else mode_at(self._git.root / path)
            modes[path] = _LINK if stat.S_ISLNK(mode) else _git_mode(mode) if stat.S_ISREG(mode) else ""
        return modes

    def _read(self, path: str, mode: str) -> bytes:
        root = self._git.root
        return os.fsencode((root / path).readlink()) if mode == _LINK else read_below(root, path)

    def _check_parents(self, files: Mapping[str, Entry]) -> None:
        gone = {path for path, entry in files.items() if entry is None}
        known: dict[str, str | None] = {}
        for path in files:
            higher = find_blocking_parent(self._git.root, path.rpartition("/")[0], known)
            if higher is not None and higher not in gone:
                raise CannotUndo(f"{path_text(path)} now lies behind a link or a file: {path_text(higher)}")
        in_the_way = find_obstacles(self._git.root, [path for path, entry in files.items() if entry is not None])
        if alien := sorted((in_the_way.files | in_the_way.repositories) - files.keys()):
            raise CannotUndo(f"{path_text(alien[0])} lies where a file is to come back", hint="move it elsewhere first")

    def _remove(self, paths: list[str]) -> None:
        for path in paths:
            place = self._git.root / path
            if not place.is_dir() or place.is_symlink():
                place.unlink(missing_ok=True)
            for folder in place.parents:
                if folder == self._git.root:
                    break
                try:
                    folder.rmdir()
                except OSError:
                    break


def _is_plain(path: str) -> bool:
    """Whether git reads the name unchanged from a list with one name per line."""
    return "\n" not in path and not path.startswith('"')


def _git_mode(mode: int) -> str:
    return "100755" if mode & stat.S_IXUSR else "100644"


def _replace(place: Path, mode: str, content: bytes) -> None:
    if stat.S_ISDIR(mode_at(place)):
        # Its files have been removed by now.
        for folder, _, _ in os.walk(place, topdown=False):
            Path(folder).rmdir()
    place.parent.mkdir(parents=True, exist_ok=True)
    made = place.with_name(f".codeplane-{new_id('part')}")
    try:
        if mode == _LINK:
            made.symlink_to(os.fsdecode(content))
        else:
            # Like git, leave the rest of the mode to the user's umask.
            permissions = 0o777 if mode == "100755" else 0o666
            descriptor = os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, permissions)
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
        made.replace(place)
    except BaseException:
        made.unlink(missing_ok=True)
        raise


def _parse_differences(fields: list[str]) -> list[Difference]:
    by_path: dict[str, Difference] = {}
    items = iter(fields)
    for item in items:
        if item.startswith(":"):
            _, _, before, after, _ = item.split(" ")
            path = next(items)
            by_path[path] = Difference(path=path, before=_oid(before), after=_oid(after), insertions=0, deletions=0)
        else:
            insertions, deletions, path = item.split("\t", 2)
            old = by_path[path]
            by_path[path] = Difference(
                path=path,
                before=old.before,
                after=old.after,
                insertions=int(insertions) if insertions.isdigit() else 0,
                deletions=int(deletions) if deletions.isdigit() else 0,
            )
    return [by_path[path] for path in sorted(by_path)]


def _oid_of(entry: Entry) -> str | None:
    return entry.split(" ")[1] if entry is not None else None


def _oid(oid: str) -> str | None:
    return oid if oid.strip("0") else None

"""Edits thought through before anything is written: each one sees what those before it would leave."""

import difflib
import errno
import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from codeplane.edit.beneath import GONE, beside, is_there, linked_to, looked_at, opened
from codeplane.edit.entry import Change, digest, state_in, state_of
from codeplane.edit.ranges import Lines, spans_of
from codeplane.edit.request import Edit
from codeplane.edit.scope import Scope
from codeplane.edit.swaps import swapped
from codeplane.edit.text import Text
from codeplane.index.files.file import digest_of
from codeplane.index.files.paths import shown
from codeplane.kernel.errors import FileChanged, InvalidArgument, NotFound, PathDenied, TooLarge

_XXH3_LENGTH = 32
_SHORTEST_HASH = 8
_MAX_TEXT = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class _Version:
    """A file as it is or would be; without `content` it is too large to be held, and `sha256` is all that is known."""

    content: bytes | None
    sha256: str
    mode: int | None
    link: bool = False
    executable: bool | None = None
    source: Path | None = None


class Plan:
    """The work tree with edits laid over it; blocks, and writes nothing."""

    def __init__(self, root: Path, scope: Scope) -> None:
        self._root = root
        self._scope = scope
        self._was: dict[str, _Version | None] = {}
        self._now: dict[str, _Version | None] = {}
        self._moved: dict[str, str] = {}

    def add(self, edit: Edit) -> None:
        """Think one edit through; raises, leaving the plan as it was, when it does not fit."""
        path = self._scope.located(edit.path)
        found = self._at(path)
        _expect(edit, path, found)
        action = edit.action or self._meant(edit, found)
        if action == "delete":
            self._there(path, found)
            self._now[path] = None
            return
        version = self._edited(edit, action, path, found)
        if edit.new_path:
            self._move(edit, path, self._scope.located(edit.new_path), version)
        else:
            self._now[path] = version

    def changes(self) -> list[Change]:
        """What is left to do, a change for every path that differs in the end."""
        found = []
        for path, now in self._now.items():
            was = self._was[path]
            moved_from = self._origin(path)
            if now is None:
                if was is not None:
                    found.append(Change(path=path, content=None, before=was.sha256))
            elif was is None or _differ(was, now):
                content = now.content if now.source is None else now.source
                assert content is not None
                found.append(
                    Change(
                        path=path,
                        content=content,
                        before=was.sha256 if was is not None else None,
                        link=now.link,
                        mode=now.mode,
                        executable=now.executable,
                        moved_from=moved_from,
                    )
                )
        return found

    def paths(self) -> Iterable[str]:
        """Every path that the edits touch."""
        return self._now.keys()

    def _origin(self, path: str) -> str | None:
        """Where a file came from, if nothing is there any more."""
        origin = self._moved.get(path)
        gone = origin is not None and self._now.get(origin) is None and self._was.get(origin) is not None
        return origin if gone and self._was[path] is None else None

    def _meant(self, edit: Edit, found: _Version | None) -> str:
        by_text = [swap for swap in edit.swaps if not swap.old]
        if edit.content is not None or edit.link_to is not None or (by_text and found is None):
            return "update" if found is not None else "create"
        return "move" if edit.new_path and not edit.patches and not edit.swaps else "update"

    def _edited(self, edit: Edit, action: str, path: str, found: _Version | None) -> _Version:
        if action == "create":
            return self._created(edit, path, found)
        version = self._there(path, found)
        if edit.link_to is not None:
            return self._linked(edit, path)
        if edit.executable is not None and not version.link:
            version = replace(version, executable=edit.executable)
        if edit.content is None and not edit.patches and not edit.swaps:
            return version
        if version.link:
            target = os.fsdecode(version.content or b"")
            raise PathDenied(
                f"{shown(path)} is a link to {shown(target)}",
                hint="edit what it leads to, or point it elsewhere: link_to",
            )
        if version.content is None:
            raise TooLarge(f"{shown(path)} is too large to be edited as text", details={"limit_bytes": _MAX_TEXT})
        return _with(version, _text_after(edit, path, version.content))

    def _created(self, edit: Edit, path: str, found: _Version | None) -> _Version:
        if edit.link_to is not None:
            version = self._linked(edit, path)
        else:
            content = edit.content
            if content is None and edit.swaps and not edit.swaps[0].old:
                content = edit.swaps[0].new
            if content is None:
                raise InvalidArgument(f"{shown(path)}: create needs content")
            raw = Text(raw=content).encoded(shown(path))
            version = _Version(content=raw, sha256=digest(raw), mode=None, executable=edit.executable)
        if found is not None and not edit.overwrite and (found.sha256, found.link) != (version.sha256, version.link):
            raise FileChanged(
                f"{shown(path)} is there already", hint="send action: update to change it, or overwrite: true"
            )
        if found is not None and not found.link and not version.link:
            version = replace(version, mode=found.mode)
        return version

    def _move(self, edit: Edit, old: str, new: str, version: _Version) -> None:
        if new == old:
            self._now[old] = version
            return
        target = self._at(new)
        if target is not None and not edit.overwrite:
            raise FileChanged(f"{shown(new)} is there already", hint="choose another new_path, or send overwrite: true")
        self._now[old] = None
        self._now[new] = version
        self._moved[new] = self._moved.pop(old, old)

    def _linked(self, edit: Edit, path: str) -> _Version:
        target = edit.link_to or ""
        self._scope.admit_link(self._scope.located(edit.new_path) if edit.new_path else path, target)
        content = os.fsencode(target)
        return _Version(content=content, sha256=digest(content), mode=None, link=True)

    def _there(self, path: str, found: _Version | None) -> _Version:
        if found is None:
            near = _near(self._root, path)
            raise NotFound(f"there is no file {shown(path)}", hint=near or "action: create makes a new one")
        return found

    def _at(self, path: str) -> _Version | None:
        if path not in self._now:
            self._was[path] = self._now[path] = self._read(path)
        return self._now[path]

    def _read(self, path: str) -> _Version | None:
        try:
            with beside(self._root, path) as (folder, name):
                version = _version(folder, name, path, source=self._root / path)
        except OSError as error:
            if error.errno in GONE:
                return None
            raise
        return version if self._is_spelled(path) else None

    def _is_spelled(self, path: str) -> bool:
        """Whether the name is written so; on disks that ignore case a file would be there under any spelling."""
        if path.swapcase() == path:
            return True
        try:
            with beside(self._root, path.swapcase()) as (folder, name):
                if not is_there(folder, name):
                    return True
        except OSError as error:
            if error.errno in (*GONE, errno.ELOOP):
                return True
            raise
        return state_of(self._root, path, exact=True) is not None


def _version(folder: int, name: str, path: str, *, source: Path) -> _Version:
    found = looked_at(folder, name)
    if stat.S_ISLNK(found.st_mode):
        content = os.fsencode(linked_to(folder, name))
        return _Version(content=content, sha256=digest(content), mode=None, link=True)
    if not stat.S_ISREG(found.st_mode):
        kind = "a folder" if stat.S_ISDIR(found.st_mode) else "neither a file nor a link"
        raise PathDenied(f"{shown(path)} is {kind}", hint="name a file")
    mode = stat.S_IMODE(found.st_mode)
    if found.st_size > _MAX_TEXT:
        return _Version(content=None, sha256=state_in(folder, name).sha256, mode=mode, source=source)
    with os.fdopen(opened(folder, name), "rb") as file:
        content = file.read(_MAX_TEXT + 1)
    if len(content) > _MAX_TEXT:
        raise FileChanged(f"{shown(path)} grows while it is read")
    return _Version(content=content, sha256=digest(content), mode=mode)


def _expect(edit: Edit, path: str, found: _Version | None) -> None:
    wanted = (edit.expect_hash or "").lower().removeprefix("sha256:")
    if not wanted:
        return
    if len(wanted) < _SHORTEST_HASH:
        raise InvalidArgument(f"{shown(path)}: expect_hash is too short", hint="send the SHA-256 of the file's bytes")
    if found is None:
        raise FileChanged(f"{shown(path)} is gone")
    known = [found.sha256]
    if found.content is not None:
        known.append(digest_of(found.content))
    if not any(one == wanted or (len(wanted) < _XXH3_LENGTH and one.startswith(wanted)) for one in known):
        raise FileChanged(f"{shown(path)} has the hash {found.sha256}, not {wanted}")


def _text_after(edit: Edit, path: str, content: bytes) -> bytes:
    name = shown(path)
    if edit.content is not None and not _is_text(content):
        return Text(raw=edit.content).encoded(name)
    text = Text.of(content, name)
    if edit.content is not None:
        return text.rewritten(edit.content).encoded(name)
    if edit.patches:
        lines = [Lines(start=one.range.start, end=one.range.end, text=one.replacement) for one in edit.patches]
        return text.replaced(spans_of(text.plain, lines, path=name)).encoded(name)
    return swapped(text, edit.swaps, path=name).encoded(name)


def _is_text(content: bytes) -> bool:
    return b"\0" not in content


def _with(version: _Version, content: bytes) -> _Version:
    return replace(version, content=content, sha256=digest(content), source=None)


def _differ(was: _Version, now: _Version) -> bool:
    if (was.sha256, was.link) != (now.sha256, now.link):
        return True
    if now.executable is None or was.mode is None:
        return False
    return now.executable != bool(was.mode & 0o100)


def _near(root: Path, path: str) -> str:
    try:
        with beside(root, path) as (folder, _):
            names = os.listdir(folder)  # noqa: PTH208
    except OSError:
        return ""
    near = difflib.get_close_matches(Path(path).name, names, n=3)
    prefix = path.rpartition("/")[0]
    return (
        f"did you mean {' or '.join(shown(f'{prefix}/{name}' if prefix else name) for name in near)}?" if near else ""
    )

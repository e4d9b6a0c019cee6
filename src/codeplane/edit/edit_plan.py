"""Plans edits before anything is written; each edit sees the result of those before it."""

import difflib
import errno
import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from codeplane.disk.git_folders import GitFolders
from codeplane.edit.batch import Change
from codeplane.edit.file_state import sha256_of, state_in, state_of
from codeplane.edit.folder_descriptors import MISSING, entry_exists, open_parent, read_bytes, read_link, stat_entry
from codeplane.edit.replacements import LineReplacement, apply_replacements, line_spans
from codeplane.edit.request import Edit
from codeplane.edit.scope import Scope
from codeplane.edit.text import Text
from codeplane.index.files.file import digest_of
from codeplane.index.files.paths import path_text
from codeplane.kernel.errors import FileChanged, InvalidArgument, NotFound, PathDenied, TooLarge

_XXH3_LENGTH = 32
_SHORTEST_HASH = 8
_MAX_TEXT = 64 * 1024 * 1024
_SMALL = 64 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class _Version:
    """A file as it is or would be; without `content` it is too large for memory, and only `sha256` is known."""

    content: bytes | None
    sha256: str
    mode: int | None
    link: bool = False
    executable: bool | None = None
    source: Path | None = None


class EditPlan:
    """The work tree with planned edits; blocks, and writes nothing."""

    def __init__(self, root: Path, scope: Scope, gits: GitFolders | None = None) -> None:
        """`gits` are git's folders, where a caller has just looked for them."""
        self._root = root
        self._scope = scope
        self._gits = gits if gits is not None else scope.git_folders()
        self._before: dict[str, _Version | None] = {}
        self._now: dict[str, _Version | None] = {}
        self._moved: dict[str, str] = {}

    def add(self, edit: Edit) -> None:
        """Plan one edit; when it does not fit, raise and leave the plan as it was."""
        path = self._scope.locate(edit.path, self._gits)
        present = self._version_at(path)
        _check_hash(edit, path, present)
        action = edit.action or self._infer_action(edit, present)
        if action == "delete":
            self._require(path, present)
            self._now[path] = None
            return
        version = self._edit(edit, action, path, present)
        if edit.new_path:
            self._move(edit, path, self._scope.locate(edit.new_path, self._gits), version)
        else:
            self._now[path] = version

    def changes(self) -> list[Change]:
        """Return one change for every path that differs in the end."""
        changes = []
        for path, now in self._now.items():
            before = self._before[path]
            moved_from = self._origin(path)
            if now is None:
                if before is not None:
                    changes.append(Change(path=path, content=None, before=before.sha256, old=_small_content(before)))
            elif before is None or _differ(before, now):
                content = now.content if now.source is None else now.source
                assert content is not None
                changes.append(
                    Change(
                        path=path,
                        content=content,
                        before=before.sha256 if before is not None else None,
                        link=now.link,
                        mode=now.mode,
                        executable=now.executable,
                        moved_from=moved_from,
                        old=_small_content(before) if before is not None else None,
                    )
                )
        return changes

    def paths(self) -> Iterable[str]:
        """Return every path that the edits touch."""
        return self._now.keys()

    def _origin(self, path: str) -> str | None:
        """Return the path that a file was moved from, if that path is empty now."""
        origin = self._moved.get(path)
        gone = origin is not None and self._now.get(origin) is None and self._before.get(origin) is not None
        return origin if gone and self._before[path] is None else None

    def _infer_action(self, edit: Edit, present: _Version | None) -> str:
        by_text = [swap for swap in edit.swaps if not swap.old]
        if edit.content is not None or edit.link_to is not None or (by_text and present is None):
            return "update" if present is not None else "create"
        return "move" if edit.new_path and not edit.patches and not edit.swaps else "update"

    def _edit(self, edit: Edit, action: str, path: str, present: _Version | None) -> _Version:
        if action == "create":
            return self._create(edit, path, present)
        version = self._require(path, present)
        if edit.link_to is not None:
            return self._link(edit, path)
        if edit.executable is not None and not version.link:
            version = replace(version, executable=edit.executable)
        if edit.content is None and not edit.patches and not edit.swaps:
            return version
        if version.link:
            target = os.fsdecode(version.content or b"")
            raise PathDenied(
                f"{path_text(path)} is a link to {path_text(target)}",
                hint="edit what it leads to, or point it elsewhere: link_to",
            )
        if version.content is None:
            raise TooLarge(f"{path_text(path)} is too large to be edited as text", details={"limit_bytes": _MAX_TEXT})
        return _with_content(version, _edit_text(edit, path, version.content))

    def _create(self, edit: Edit, path: str, present: _Version | None) -> _Version:
        if edit.link_to is not None:
            version = self._link(edit, path)
        else:
            content = edit.content
            if content is None and edit.swaps and not edit.swaps[0].old:
                content = edit.swaps[0].new
            if content is None:
                raise InvalidArgument(f"{path_text(path)}: create needs content")
            raw = Text(raw=content).encode(path_text(path))
            version = _Version(content=raw, sha256=sha256_of(raw), mode=None, executable=edit.executable)
        is_other = present is not None and (present.sha256, present.link) != (version.sha256, version.link)
        if is_other and not edit.overwrite:
            raise FileChanged(
                f"{path_text(path)} is there already", hint="send action: update to change it, or overwrite: true"
            )
        if present is not None and not present.link and not version.link:
            version = replace(version, mode=present.mode)
        return version

    def _move(self, edit: Edit, old: str, new: str, version: _Version) -> None:
        if new == old:
            self._now[old] = version
            return
        target = self._version_at(new)
        if target is not None and not edit.overwrite:
            raise FileChanged(
                f"{path_text(new)} is there already", hint="choose another new_path, or send overwrite: true"
            )
        self._now[old] = None
        self._now[new] = version
        self._moved[new] = self._moved.pop(old, old)

    def _link(self, edit: Edit, path: str) -> _Version:
        target = edit.link_to or ""
        self._scope.admit_link(self._scope.locate(edit.new_path, self._gits) if edit.new_path else path, target)
        content = os.fsencode(target)
        return _Version(content=content, sha256=sha256_of(content), mode=None, link=True)

    def _require(self, path: str, present: _Version | None) -> _Version:
        """Return the version; NotFound when there is none."""
        if present is None:
            suggestion = _suggest_names(self._root, path)
            raise NotFound(f"there is no file {path_text(path)}", hint=suggestion or "action: create makes a new one")
        return present

    def _version_at(self, path: str) -> _Version | None:
        if path not in self._now:
            self._before[path] = self._now[path] = self._read(path)
        return self._now[path]

    def _read(self, path: str) -> _Version | None:
        try:
            with open_parent(self._root, path) as (folder, name):
                version = _read_version(folder, name, path, source=self._root / path)
        except OSError as error:
            if error.errno in MISSING:
                return None
            raise
        return version if self._has_exact_case(path) else None

    def _has_exact_case(self, path: str) -> bool:
        """Whether the name is spelled exactly so; disks that ignore case find a file under any spelling."""
        if path.swapcase() == path:
            return True
        try:
            with open_parent(self._root, path.swapcase()) as (folder, name):
                if not entry_exists(folder, name):
                    return True
        except OSError as error:
            if error.errno in (*MISSING, errno.ELOOP):
                return True
            raise
        return state_of(self._root, path, exact=True) is not None


def _read_version(folder: int, name: str, path: str, *, source: Path) -> _Version:
    status = stat_entry(folder, name)
    if stat.S_ISLNK(status.st_mode):
        content = os.fsencode(read_link(folder, name))
        return _Version(content=content, sha256=sha256_of(content), mode=None, link=True)
    if not stat.S_ISREG(status.st_mode):
        kind = "a folder" if stat.S_ISDIR(status.st_mode) else "neither a file nor a link"
        raise PathDenied(f"{path_text(path)} is {kind}", hint="name a file")
    mode = stat.S_IMODE(status.st_mode)
    if status.st_size > _MAX_TEXT:
        return _Version(content=None, sha256=state_in(folder, name).sha256, mode=mode, source=source)
    content = read_bytes(folder, name, size=status.st_size, limit=_MAX_TEXT)
    if len(content) > _MAX_TEXT:
        raise FileChanged(f"{path_text(path)} grows while it is read")
    return _Version(content=content, sha256=sha256_of(content), mode=mode)


def _check_hash(edit: Edit, path: str, present: _Version | None) -> None:
    """Raise FileChanged unless the file has the hash that the edit expects, if it names one."""
    wanted = (edit.expect_hash or "").lower().removeprefix("sha256:")
    if not wanted:
        return
    if len(wanted) < _SHORTEST_HASH:
        raise InvalidArgument(
            f"{path_text(path)}: expect_hash is too short", hint="send the SHA-256 of the file's bytes"
        )
    if present is None:
        raise FileChanged(f"{path_text(path)} is gone")
    hashes = [present.sha256]
    if present.content is not None:
        hashes.append(digest_of(present.content))
    if not any(name == wanted or (len(wanted) < _XXH3_LENGTH and name.startswith(wanted)) for name in hashes):
        raise FileChanged(f"{path_text(path)} has the hash {present.sha256}, not {wanted}")


def _edit_text(edit: Edit, path: str, content: bytes) -> bytes:
    name = path_text(path)
    if edit.content is not None and not _is_text(content):
        return Text(raw=edit.content).encode(name)
    text = Text.of(content, name)
    if edit.content is not None:
        return text.rewrite(edit.content).encode(name)
    if edit.patches:
        lines = [
            LineReplacement(start=patch.range.start, end=patch.range.end, text=patch.replacement)
            for patch in edit.patches
        ]
        return text.replace_spans(line_spans(text.plain, lines, path=name)).encode(name)
    return apply_replacements(text, edit.swaps, path=name).encode(name)


def _small_content(version: _Version) -> bytes | None:
    """The content of a small file, which need not be read again."""
    return version.content if version.content is not None and len(version.content) <= _SMALL else None


def _is_text(content: bytes) -> bool:
    return b"\0" not in content


def _with_content(version: _Version, content: bytes) -> _Version:
    return replace(version, content=content, sha256=sha256_of(content), source=None)


def _differ(before: _Version, now: _Version) -> bool:
    if (before.sha256, before.link) != (now.sha256, now.link):
        return True
    if now.executable is None or before.mode is None:
        return False
    return now.executable != bool(before.mode & 0o100)


def _suggest_names(root: Path, path: str) -> str:
    try:
        with open_parent(root, path, lists=True) as (folder, _):
            names = os.listdir(folder)  # noqa: PTH208
    except OSError:
        return ""
    near = difflib.get_close_matches(Path(path).name, names, n=3)
    prefix = path.rpartition("/")[0]
    return (
        f"did you mean {' or '.join(path_text(f'{prefix}/{name}' if prefix else name) for name in near)}?"
        if near
        else ""
    )

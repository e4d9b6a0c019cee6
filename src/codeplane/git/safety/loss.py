"""Losses that a git call would cause, as a person sees them; an approval is bound to the present state."""

import os
import stat
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from codeplane.git.read.git_error import name_first
from codeplane.index.files.paths import path_text
from codeplane.kernel.operation import Assessment, Kind, Preview, Risk
from codeplane.kernel.plural import plural
from codeplane.kernel.secret_paths import is_secret_name

_NAMED = 10
_MAX_READ = 4 * 1024 * 1024
_MAX_READ_IN_ALL = 64 * 1024 * 1024
_DIGITS = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """One loss in words, with all commits and files behind it; the words name only the first.

    `for_good` says that no recovery ref keeps it.
    """

    text: str
    kind: Kind
    commits: tuple[str, ...] = ()
    files: tuple[Path, ...] = ()
    for_good: bool = False


def lost_commits(commits: Sequence[str], where: str) -> list[Loss]:
    """Describe the loss of commits."""
    if not commits:
        return []
    return [
        Loss(
            text=f"{plural(len(commits), 'commit')} {where}: {name_first(commits)}",
            kind="history",
            commits=tuple(commits),
        )
    ]


def lost_files(root: Path, paths: Sequence[str], what: str) -> list[Loss]:
    """Describe the loss of work in files."""
    if not paths:
        return []
    files = tuple(root / path for path in paths)
    return [Loss(text=f"{what} in {plural(len(paths), 'file')}: {name_first(paths)}", kind="work", files=files)]


def kinds_of(losses: Sequence[Loss], *kinds: Kind) -> tuple[Kind, ...]:
    """Join the kinds of a call and of its losses, each once."""
    return tuple(dict.fromkeys((*kinds, *(loss.kind for loss in losses))))


def assess_losses(losses: Sequence[Loss], paths: Sequence[str] = (), *, kinds: Sequence[Kind] = ()) -> Assessment:
    """Assess a call: destructive when something would be lost, a plain write otherwise."""
    return Assessment(
        risk=Risk.DESTRUCTIVE if losses else Risk.WRITE,
        effects=tuple(loss.text for loss in losses),
        trusted_as=tuple(map(_full_description, losses)),
        paths=tuple(map(path_text, paths)),
        kinds=kinds_of(losses, *kinds),
    )


def preview_losses(
    summary: str,
    losses: Sequence[Loss],
    facts: Sequence[str] = (),
    *,
    bound: Iterable[bytes] = (),
    files: Iterable[Path] = (),
    kept: bool = True,
) -> Preview:
    """Build a preview of the facts and losses; it is valid while `bound` and the `files` stay the same.

    `kept` says whether recovery refs keep what is lost.
    """
    body = [*facts, *(loss.text for loss in losses)]
    if not losses:
        body.append("Nothing is lost by it.")
    elif kept and (others := [loss for loss in losses if not loss.for_good]):
        kept_part = "It" if len(others) == len(losses) else "What is not lost for good"
        body.append(f"{kept_part} is kept below refs/codeplane/recovery/ for a while{_but_secrets(others)}.")
    if state := _state(losses, bound, files):
        body.append(f"Bound to the state that is shown (fingerprint {state}): when it changes, this is not run.")
    return Preview(summary=path_text(summary), body="\n".join(body))


def _but_secrets(losses: Sequence[Loss]) -> str:
    has_secrets = any(is_secret_name(file.name) for loss in losses for file in loss.files)
    return "; secrets files in .codeplane/ alone, for undo" if has_secrets else ""


def _full_description(loss: Loss) -> str:
    """Describe the loss unambiguously: when the words name only some files, add a digest of all."""
    names = [*loss.commits, *map(str, loss.files)]
    if len(names) <= _NAMED:
        return loss.text
    return f"{loss.text} ({sha256(chr(0).join(names).encode(errors='surrogateescape')).hexdigest()[:_DIGITS]})"


def _state(losses: Sequence[Loss], bound: Iterable[bytes], files: Iterable[Path]) -> str:
    """Return a fingerprint of everything behind the preview; empty when there is nothing."""
    parts = [*bound]
    for loss in losses:
        parts += [os.fsencode(commit) for commit in loss.commits]
    left = _MAX_READ_IN_ALL
    for file in (*files, *(file for loss in losses for file in loss.files)):
        state, read = _file_state(file, left)
        left -= read
        parts.append(os.fsencode(file) + b"\0" + state)
    if not parts:
        return ""
    hashed = sha256()
    for part in parts:
        hashed.update(b"%d:" % len(part) + part)
    return hashed.hexdigest()[:_DIGITS]


def _file_state(file: Path, left: int) -> tuple[bytes, int]:
    """Return the state of a file as bytes, and how many bytes were read for it."""
    try:
        status = os.lstat(file)
        if stat.S_ISLNK(status.st_mode):
            return b"link " + os.fsencode(file.readlink()), 0
        if stat.S_ISREG(status.st_mode) and status.st_size <= min(_MAX_READ, left):
            descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            with os.fdopen(descriptor, "rb") as opened:
                content = opened.read(_MAX_READ + 1)
            return b"%o " % status.st_mode + sha256(content).digest(), len(content)
    except OSError as error:
        return b"error %d" % (error.errno or 0), 0
    # Too much to read: every write changes its times, and nobody can set ctime.
    times = (status.st_mode, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
    return repr(times).encode(), 0

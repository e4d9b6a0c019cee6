"""The folder of the owner's policies, read without following links."""

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from codeplane.kernel.errors import PolicyInvalid
from codeplane.kernel.json import JsonValue
from codeplane.trust.policy.rego_source import policy_invalid

MAX_FILES = 100
MAX_BYTES = 128 * 1024
_SUFFIX = ".rego"

# What changes with a file: name, mode, inode, size and times.
FolderFingerprint = tuple[tuple[str, int, int, int, int, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyFolder:
    """`.codeplane/policy`, which may be missing."""

    path: Path

    @property
    def _shown(self) -> str:
        return f"{self.path.parent.name}/{self.path.name}"

    def fingerprint(self) -> FolderFingerprint:
        """A fingerprint of the folder; equal ones mean the same policies."""
        try:
            with os.scandir(self.path) as scan:
                entries = [(entry.name, entry.stat(follow_symlinks=False)) for entry in scan]
            own = os.lstat(self.path)
        except FileNotFoundError:
            return ()
        except OSError as error:
            return ((f"?{error.errno}", 0, 0, 0, 0, 0),)
        # The folder's own times change with files that are no policies; its kind and mode matter.
        stamps = [("", own.st_mode, own.st_ino, 0, 0, 0)]
        stamps += [
            (name, state.st_mode, state.st_ino, state.st_size, state.st_mtime_ns, state.st_ctime_ns)
            for name, state in entries
            if name.endswith(_SUFFIX)
        ]
        return tuple(sorted(stamps))

    def read(self) -> Mapping[str, str]:
        """The sources by file name; PolicyInvalid when one is not a plain readable file of this folder."""
        try:
            if not stat.S_ISDIR(os.lstat(self.path).st_mode):
                raise self._refusal("", "the policies have to be in a folder, not a link or a file")
            names = sorted(name for name in os.listdir(self.path) if name.endswith(_SUFFIX))  # noqa: PTH208  # names
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise self._refusal("", f"the folder cannot be read: {error.strerror}") from error
        if len(names) > MAX_FILES:
            raise self._refusal("", f"there are {len(names)} policies; at most {MAX_FILES} are read")
        texts: dict[str, str] = {}
        left = MAX_BYTES
        for name in names:
            texts[f"{self._shown}/{name}"] = text = self._text(name, left)
            left -= len(text.encode())
        return texts

    def ignored_files(self) -> tuple[str, ...]:
        """Files that are ignored because their names do not end in .rego, except notes and hidden files."""
        try:
            names = sorted(os.listdir(self.path))  # noqa: PTH208  # names
        except OSError:
            return ()
        return tuple(
            f"{self._shown}/{ascii(name)[1:-1]}"
            for name in names
            if not name.startswith(".") and not name.endswith((_SUFFIX, ".md"))
        )[:MAX_FILES]

    def _text(self, name: str, most: int) -> str:
        if not name.isascii() or not name.isprintable():
            raise self._refusal(ascii(name), "its name has characters that are not printable ASCII")
        try:
            # Do not follow a link, and do not wait for a pipe.
            descriptor = os.open(
                self.path / name, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
            )
        except OSError as error:
            link = (self.path / name).is_symlink()
            raise self._refusal(name, "it is a link" if link else f"it cannot be read: {error.strerror}") from error
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise self._refusal(name, "it is not a plain file")
            raw = b""
            while len(raw) <= most and (chunk := os.read(descriptor, most + 1 - len(raw))):
                raw += chunk
        except OSError as error:
            raise self._refusal(name, f"it cannot be read: {error.strerror}") from error
        finally:
            os.close(descriptor)
        if len(raw) > most:
            raise self._refusal(name, f"all policies together are larger than {MAX_BYTES} bytes")
        try:
            return raw.decode()
        except UnicodeDecodeError as error:
            line = raw[: error.start].count(b"\n") + 1
            raise self._refusal(name, "it is not UTF-8", line) from error

    def _refusal(self, name: str, message: str, line: int = 1) -> PolicyInvalid:
        where = f"{self._shown}/{name}" if name else self._shown
        problem: JsonValue = {"file": where, "line": line, "message": message}
        return policy_invalid([problem])

"""The commands of filters and merge drivers, as git's settings name them."""

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

_KEY = re.compile(r"filter\..*\.(?:clean|smudge|process)|merge\..*\.driver", re.DOTALL)
_BOOLEANS = frozenset({"", "true", "false", "yes", "no", "on", "off", "1", "0"})
# The %-placeholders that git replaces, by the kind of command; it replaces none for a process.
_PLACEHOLDERS = {"clean": "f", "smudge": "f", "process": "", "driver": "OABLPSXY"}
# Git LFS fetches missing files, also by ssh, which accepts only its owner's settings inside a namespace.
_FETCHING = re.compile(r"git[- ]lfs (?:clean|smudge|filter-process)(?: --skip)?(?: --)?(?: %f)?")
_ANNEX = re.compile(r"git[- ]annex (?:smudge|filter-process)(?: --clean)?(?: --)?(?: %f)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class FilterCommand:
    """A setting, and its command as a script body whose arguments stand for git's placeholders."""

    key: str
    body: str
    given: str
    # Whether it only works with the network and as the owner.
    is_fetching: bool = False
    # The folders in git's folder that are its own.
    folders: tuple[str, ...] = ()

    @property
    def path_argument(self) -> int | None:
        """The number of the argument that is the file's path; None for a process, which is sent many."""
        return self.given.index("f") + 1 if "f" in self.given else None

    @property
    def is_process(self) -> bool:
        """Whether one process is given the contents of all files."""
        return self.key.endswith(".process")

    def script_setting(self, script: Path) -> str:
        """Return the setting that makes git call a script instead."""
        quoted = shlex.quote(str(script))
        escaped = quoted if self.is_process else quoted.replace("%", "%%")
        return escaped + "".join(f" %{sign}" for sign in self.given)


def filter_commands(settings: Mapping[str, str]) -> tuple[FilterCommand, ...]:
    """List the filter and merge driver commands in these settings."""
    return tuple(_parse(key, command) for key, command in settings.items() if _KEY.fullmatch(key) and command)


def is_command(monitor: str) -> bool:
    """Whether `core.fsmonitor` names a program instead of a yes or no."""
    return monitor.lower() not in _BOOLEANS


def _parse(key: str, command: str) -> FilterCommand:
    signs = _PLACEHOLDERS[key.rpartition(".")[2]]
    given: list[str] = []
    body: list[str] = []
    quote, rest = "", iter(command)
    for letter in rest:
        if letter == "%" and signs:
            sign = next(rest, "")
            if sign and sign in signs:
                if sign not in given:
                    given.append(sign)
                body.append(_argument(given.index(sign) + 1, quote))
            else:
                body.append("%" if sign == "%" else f"%{sign}")
            continue
        if letter == "\\" and quote != "'":
            letter += next(rest, "")
        elif letter in "'\"" and quote in ("", letter):
            quote = "" if quote else letter
        body.append(letter)
    if "f" in signs and "f" not in given:
        given.append("f")
    is_fetching = _FETCHING.fullmatch(command.strip()) is not None
    is_annex = _ANNEX.fullmatch(command.strip()) is not None
    return FilterCommand(
        key=key,
        body="".join(body),
        given="".join(given),
        is_fetching=is_fetching,
        folders=("lfs",) if is_fetching else ("annex", "objects") if is_annex else (),
    )


def _argument(number: int, quote: str) -> str:
    """Return a shell argument as one word, whatever quotes surround it."""
    return {"": f'"${number}"', '"': f"${number}", "'": f"'\"${number}\"'"}[quote]

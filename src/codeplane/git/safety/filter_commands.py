"""The commands of filters and merge drivers, as git's settings name them."""

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

_KEY = re.compile(r"filter\..*\.(?:clean|smudge|process)|merge\..*\.driver", re.DOTALL)
_SAID = frozenset({"", "true", "false", "yes", "no", "on", "off", "1", "0"})
# What git puts in place of a sign after %, by the kind of command; into that of a process it puts nothing.
_PUT_IN = {"clean": "f", "smudge": "f", "process": "", "driver": "OABLPSXY"}
# It fetches what is missing, by ssh too, which takes nobody's settings but its owner's inside a namespace.
_FETCHING = re.compile(r"git[- ]lfs (?:clean|smudge|filter-process)(?: --skip)?(?: --)?(?: %f)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class FilterCommand:
    """A setting, and its command as the body of a script that is given what git would have put in."""

    key: str
    body: str
    given: str
    # Whether it is of use only with the network, and as the owner.
    is_fetching: bool = False

    def calling(self, script: Path) -> str:
        """The setting that has git call a script instead."""
        named = shlex.quote(str(script))
        percent = named if self.key.endswith(".process") else named.replace("%", "%%")
        return percent + "".join(f" %{sign}" for sign in self.given)


def filter_commands(settings: Mapping[str, str]) -> tuple[FilterCommand, ...]:
    """Those that are set."""
    return tuple(_read(key, command) for key, command in settings.items() if _KEY.fullmatch(key) and command)


def is_command(monitor: str) -> bool:
    """Whether `core.fsmonitor` names a program, not whether git watches by itself."""
    return monitor.lower() not in _SAID


def _read(key: str, command: str) -> FilterCommand:
    signs = _PUT_IN[key.rpartition(".")[2]]
    given: list[str] = []
    body: list[str] = []
    quote, rest = "", iter(command)
    for letter in rest:
        if letter == "%" and signs:
            sign = next(rest, "")
            if sign and sign in signs:
                if sign not in given:
                    given.append(sign)
                body.append(_put_in(given.index(sign) + 1, quote))
            else:
                body.append("%" if sign == "%" else f"%{sign}")
            continue
        if letter == "\\" and quote != "'":
            letter += next(rest, "")
        elif letter in "'\"" and quote in ("", letter):
            quote = "" if quote else letter
        body.append(letter)
    is_fetching = _FETCHING.fullmatch(command.strip()) is not None
    return FilterCommand(key=key, body="".join(body), given="".join(given), is_fetching=is_fetching)


def _put_in(number: int, quote: str) -> str:
    """One word, whatever quotes it stands in."""
    return {"": f'"${number}"', '"': f"${number}", "'": f"'\"${number}\"'"}[quote]

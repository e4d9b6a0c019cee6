"""One line of `cpl doctor`."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """The result of one check."""

    name: str
    verdict: Literal["ok", "warn", "fail"]
    found: str
    fix: str = ""


def ok(name: str, found: str) -> Check:
    """Return a passed check."""
    return Check(name=name, verdict="ok", found=found)


def warn(name: str, found: str, fix: str) -> Check:
    """Return a warning: something is missing or will be, but the rest works."""
    return Check(name=name, verdict="warn", found=found, fix=fix)


def fail(name: str, found: str, fix: str) -> Check:
    """Return a failed check."""
    return Check(name=name, verdict="fail", found=found, fix=fix)

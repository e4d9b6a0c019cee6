"""One line of `cpl doctor`."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing that was looked at."""

    name: str
    verdict: Literal["ok", "warn", "fail"]
    found: str
    fix: str = ""


def ok(name: str, found: str) -> Check:
    """All is well."""
    return Check(name=name, verdict="ok", found=found)


def warn(name: str, found: str, fix: str) -> Check:
    """Something is missing or will be; what there is works."""
    return Check(name=name, verdict="warn", found=found, fix=fix)


def fail(name: str, found: str, fix: str) -> Check:
    """Something is broken."""
    return Check(name=name, verdict="fail", found=found, fix=fix)

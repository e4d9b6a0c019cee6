"""When a schedule is due: by a cron expression, at an interval, or once at a time."""

import difflib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from functools import cache, lru_cache
from typing import Protocol
from zoneinfo import ZoneInfo, available_timezones

from codeplane.kernel.clock import SECOND_NS
from codeplane.kernel.errors import InvalidArgument
from codeplane.work.schedules.cron import CronTrigger

_MINUTE_NS = 60 * SECOND_NS
_DAY_NS = 86_400 * SECOND_NS
_DURATION = re.compile(r"P(?:(\d{1,6})W)?(?:(\d{1,6})D)?(?:T(?:(\d{1,6})H)?(?:(\d{1,6})M)?(?:(\d{1,6})S)?)?")
_UNITS = (7 * _DAY_NS, _DAY_NS, 3600 * SECOND_NS, _MINUTE_NS, SECOND_NS)
_LONGEST_NS = 3660 * _DAY_NS
# Files beside the zones, which mean something else on each machine or nothing at all.
_NOT_IANA = {"localtime", "Factory"}
_INTERVAL_HINT = "write a duration of ISO 8601 of at least one minute, as in PT15M, PT6H or P1D"
_AT_HINT = "write a time of RFC 3339 with its offset, as in 2030-01-31T09:00:00Z"
# Times far away are not counted one by one.
MAX_COUNTED = 1000
# How far back the newest time is looked for, from near to far.
_WINDOWS_NS = (3600 * SECOND_NS, _DAY_NS, 32 * _DAY_NS, 400 * _DAY_NS, 3000 * _DAY_NS, 20_000 * _DAY_NS)


class TriggerKind(StrEnum):
    """How a schedule says when it is due."""

    CRON = "SCHEDULE_TRIGGER_CRON"
    INTERVAL = "SCHEDULE_TRIGGER_INTERVAL"
    AT = "SCHEDULE_TRIGGER_AT"


class Trigger(Protocol):
    """The times of a schedule."""

    def next_after(self, at_ns: int) -> int | None:
        """The first time after `at_ns`; None when no more come."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class IntervalTrigger:
    """Every so often, counted from `anchor_ns`."""

    every_ns: int
    anchor_ns: int

    def next_after(self, at_ns: int) -> int | None:
        passed = max(0, (at_ns - self.anchor_ns) // self.every_ns)
        return self.anchor_ns + (passed + 1) * self.every_ns


@dataclass(frozen=True, slots=True, kw_only=True)
class AtTrigger:
    """Once."""

    at_ns: int

    def next_after(self, at_ns: int) -> int | None:
        return self.at_ns if self.at_ns > at_ns else None


@dataclass(frozen=True, slots=True, kw_only=True)
class DueTimes:
    """The times that have come since the last one: the newest, and how many there were before it.

    `older` stops at MAX_COUNTED, as `is_counted` says.
    """

    newest_ns: int
    older: int
    is_counted: bool


def parse_trigger(kind: TriggerKind, spec: str, timezone: str, *, anchor_ns: int) -> Trigger:
    """The times that a specification means; InvalidArgument when it cannot be read."""
    zone = find_zone(timezone)
    parse: Mapping[TriggerKind, Callable[[], Trigger]] = {
        TriggerKind.CRON: lambda: CronTrigger(spec, zone),
        TriggerKind.INTERVAL: lambda: IntervalTrigger(every_ns=parse_duration(spec), anchor_ns=anchor_ns),
        TriggerKind.AT: lambda: AtTrigger(at_ns=parse_instant(spec)),
    }
    return parse[kind]()


@lru_cache(maxsize=1024)
def find_zone(name: str) -> ZoneInfo:
    """A time zone by its IANA name; InvalidArgument with the nearest name for one that is not there."""
    if name in (known := _zone_names()):
        return ZoneInfo(name)
    near = difflib.get_close_matches(name[:100].title().replace(" ", "_"), known, n=1)
    advice = f"did you mean {near[0]}?" if near else "use an IANA name, as in Europe/Berlin"
    raise InvalidArgument(f"there is no time zone {name[:100]!r}", hint=advice)


@cache
def _zone_names() -> frozenset[str]:
    return frozenset(available_timezones() - _NOT_IANA)


def parse_duration(text: str) -> int:
    """A duration of ISO 8601 in nanoseconds; a day has 24 hours, and months are refused, since their length varies."""
    found = _DURATION.fullmatch(text.strip().upper())
    if found is None or not any(found.groups()):
        raise InvalidArgument(f"{text[:100]!r} is no interval", hint=_INTERVAL_HINT)
    duration_ns = sum(int(count or 0) * unit_ns for count, unit_ns in zip(found.groups(), _UNITS, strict=True))
    if not _MINUTE_NS <= duration_ns <= _LONGEST_NS:
        raise InvalidArgument(f"{text[:100]!r} is not between one minute and ten years", hint=_INTERVAL_HINT)
    return duration_ns


def parse_instant(text: str) -> int:
    """A time of RFC 3339 in nanoseconds since 1970."""
    try:
        at = datetime.fromisoformat(text.strip())
    except ValueError as error:
        raise InvalidArgument(f"{text[:100]!r} is no time", hint=_AT_HINT) from error
    if at.tzinfo is None:
        raise InvalidArgument(f"{text[:100]!r} has no offset from UTC", hint=_AT_HINT)
    at = at.astimezone(UTC)
    return int(at.replace(microsecond=0).timestamp()) * SECOND_NS + at.microsecond * 1000


def find_due(trigger: Trigger, *, first_ns: int, now_ns: int) -> DueTimes:
    """The times from `first_ns`, which is one of them, up to now."""
    newest_ns = _find_newest(trigger, first_ns, now_ns)
    older, at_ns = 0, first_ns
    while at_ns < newest_ns and older < MAX_COUNTED:
        older += 1
        following = trigger.next_after(at_ns)
        assert following is not None
        at_ns = following
    return DueTimes(newest_ns=newest_ns, older=older, is_counted=at_ns >= newest_ns)


def _find_newest(trigger: Trigger, first_ns: int, now_ns: int) -> int:
    for window_ns in _WINDOWS_NS:
        start_ns = max(first_ns, now_ns - window_ns)
        at_ns = first_ns if start_ns == first_ns else trigger.next_after(start_ns)
        if at_ns is None or at_ns > now_ns:
            continue
        while (following := trigger.next_after(at_ns)) is not None and following <= now_ns:
            at_ns = following
        return at_ns
    return first_ns

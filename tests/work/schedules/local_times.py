"""What cron expressions mean, found out minute by minute with zoneinfo alone, to compare the scheduler with."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo, available_timezones

MINUTE = timedelta(minutes=1)
YEARS = range(2008, 2028)
# Zones that move their clocks in ways of their own, and then others by the alphabet.
UNUSUAL = (
    "Europe/Berlin",
    "America/New_York",
    "America/Sao_Paulo",
    "America/Havana",
    "America/Caracas",
    "America/Santiago",
    "Australia/Lord_Howe",
    "Pacific/Apia",
    "Pacific/Chatham",
    "Africa/Cairo",
    "Africa/Casablanca",
    "Asia/Beirut",
    "Asia/Gaza",
    "Asia/Pyongyang",
    "Asia/Tehran",
    "Europe/Dublin",
    "Antarctica/Troll",
    "Europe/Istanbul",
)
EXPRESSIONS = (
    "30 2 * * *",
    "0 0 * * *",
    "59 23 * * *",
    "0,30 0-4 * * *",
    "15 1 * * 0",
    "*/15 * * * *",
    "* 0 * * *",
    "*/10 2 * * *",
    "*/30 * * * 0",
    "0 * * * *",
    "5 */2 * * *",
)


def sample_zones(count: int) -> list[str]:
    """The unusual zones, and others spread over the alphabet."""
    others = sorted(name for name in available_timezones() if "/" in name and not name.startswith(("Etc/", "System")))
    step = max(1, len(others) // max(1, count - len(UNUSUAL)))
    return list(dict.fromkeys([*UNUSUAL, *others[::step]]))[:count]


def find_changes(zone: ZoneInfo, year: int) -> list[datetime]:
    """The days of a year, as instants, within which the zone's offset changes."""
    day, days = datetime(year, 1, 1, tzinfo=UTC), []
    while day.year == year:
        following = day + timedelta(days=1)
        if day.astimezone(zone).utcoffset() != following.astimezone(zone).utcoffset():
            days.append(day)
        day = following
    return days


@dataclass(frozen=True, slots=True)
class Fields:
    """The five fields of an expression as sets."""

    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]

    @classmethod
    def of(cls, expression: str) -> "Fields":
        ranges = (range(60), range(24), range(1, 32), range(1, 13), range(7))
        return cls(*(_parse(text, allowed) for text, allowed in zip(expression.split(), ranges, strict=True)))

    def match(self, local: datetime) -> bool:
        return (
            local.minute in self.minutes
            and local.hour in self.hours
            and local.day in self.days
            and local.month in self.months
            and local.isoweekday() % 7 in self.weekdays
        )


def _parse(text: str, allowed: range) -> frozenset[int]:
    found: set[int] = set()
    for part in text.split(","):
        span, _, step = part.partition("/")
        first, _, last = span.partition("-")
        values = allowed if span == "*" else range(int(first), int(last or first) + 1)
        found |= set(values[:: int(step or 1)])
    return frozenset(found)


def expected(expression: str, zone: ZoneInfo, start: datetime, end: datetime) -> list[datetime]:
    """The instants in (start, end] that an expression means."""
    fields = Fields.of(expression)
    minute, hour = expression.split()[:2]
    if minute.startswith("*") or hour.startswith("*"):
        return [at for at in _minutes(start, end) if fields.match(at.astimezone(zone))]
    found: set[datetime] = set()
    # Every local time on the calendar, also those that the clocks skip.
    local = start.astimezone(zone).replace(tzinfo=None) - timedelta(days=2)
    while local < end.astimezone(zone).replace(tzinfo=None) + timedelta(days=2):
        if fields.match(local):
            found.add(_first_instant(local, zone))
        local += MINUTE
    return sorted(at for at in found if start < at <= end)


def _first_instant(local: datetime, zone: ZoneInfo) -> datetime:
    """The first instant of a local time; of the first one after it that there is, where it is skipped."""
    while True:
        at = local.replace(tzinfo=zone).astimezone(UTC)
        if at.astimezone(zone).replace(tzinfo=None) == local:
            return at
        local += MINUTE


def _minutes(start: datetime, end: datetime) -> Iterator[datetime]:
    at = start + MINUTE
    while at <= end:
        yield at
        at += MINUTE

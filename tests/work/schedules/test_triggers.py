"""What schedules may say about when they are due, and which times that means."""

from datetime import UTC, datetime

import pytest

from codeplane.kernel.clock import SECOND_NS
from codeplane.kernel.errors import InvalidArgument
from codeplane.work.schedules.trigger import (
    MAX_COUNTED,
    IntervalTrigger,
    TriggerKind,
    find_due,
    parse_duration,
    parse_instant,
    parse_trigger,
)
from tests.interaction.requirements import requirement

pytestmark = requirement("SCHED-02")

MINUTE_NS = 60 * SECOND_NS


def _ns(text: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()) * SECOND_NS


@pytest.mark.parametrize(
    ("kind", "spec", "zone", "wrong"),
    [
        (TriggerKind.CRON, "* * * * * *", "UTC", "has 6 fields"),
        (TriggerKind.CRON, "* * * *", "UTC", "has 4 fields"),
        (TriggerKind.CRON, "61 * * * *", "UTC", "Bad minute"),
        (TriggerKind.CRON, "0 0 31 2 *", "UTC", "Bad day-of-month"),
        (TriggerKind.CRON, "*/0 * * * *", "UTC", "Bad minute"),
        (TriggerKind.CRON, "0 0 L/2 * *", "UTC", None),
        (TriggerKind.CRON, "0 9 * * *", "Europe/Berln", "no time zone"),
        (TriggerKind.CRON, "0 9 * * *", "localtime", "no time zone"),
        (TriggerKind.CRON, "0 9 * * *", "../../etc/passwd", "no time zone"),
        (TriggerKind.CRON, "0 9 * * *", "", "no time zone"),
        (TriggerKind.INTERVAL, "PT1S", "UTC", "not between one minute"),
        (TriggerKind.INTERVAL, "PT59S", "UTC", "not between one minute"),
        (TriggerKind.INTERVAL, "PT60S", "UTC", None),
        (TriggerKind.INTERVAL, "P1M", "UTC", "is no interval"),
        (TriggerKind.INTERVAL, "P", "UTC", "is no interval"),
        (TriggerKind.INTERVAL, "PT", "UTC", "is no interval"),
        (TriggerKind.INTERVAL, "P999999W", "UTC", "ten years"),
        (TriggerKind.INTERVAL, "15 minutes", "UTC", "is no interval"),
        (TriggerKind.AT, "2030-01-31T09:00:00", "UTC", "no offset"),
        (TriggerKind.AT, "tomorrow", "UTC", "is no time"),
        (TriggerKind.AT, "2030-01-31T09:00:00+02:00", "UTC", None),
    ],
)
def test_a_trigger_is_read_or_refused_with_the_reason(
    kind: TriggerKind, spec: str, zone: str, wrong: str | None
) -> None:
    if wrong is None:
        assert parse_trigger(kind, spec, zone, anchor_ns=0).next_after(_ns("2026-01-01")) is not None
        return
    with pytest.raises(InvalidArgument, match=wrong) as refused:
        parse_trigger(kind, spec, zone, anchor_ns=0)
    assert refused.value.hint


def test_a_zone_that_is_nearly_right_is_named() -> None:
    with pytest.raises(InvalidArgument) as refused:
        parse_trigger(TriggerKind.CRON, "0 9 * * *", "europe/berlin", anchor_ns=0)
    assert "Europe/Berlin" in str(refused.value.hint)


def test_durations_and_instants_are_exact() -> None:
    assert parse_duration("P1W") == 7 * 86_400 * SECOND_NS
    assert parse_duration("P1DT2H3M4S") == (86_400 + 7384) * SECOND_NS
    assert parse_instant("2030-01-31T11:00:00+02:00") == _ns("2030-01-31T09:00:00")
    assert parse_instant("2030-01-31T09:00:00.25Z") == _ns("2030-01-31T09:00:00") + SECOND_NS // 4


def test_intervals_are_counted_from_their_beginning() -> None:
    trigger = IntervalTrigger(every_ns=15 * MINUTE_NS, anchor_ns=_ns("2026-01-01T00:07:00"))
    assert trigger.next_after(_ns("2026-01-01T00:00:00")) == _ns("2026-01-01T00:22:00")
    assert trigger.next_after(_ns("2026-01-01T00:22:00")) == _ns("2026-01-01T00:37:00")


def test_the_newest_of_missed_times_is_found_and_the_others_are_counted() -> None:
    trigger = parse_trigger(TriggerKind.CRON, "0 9 * * *", "UTC", anchor_ns=0)
    due = find_due(trigger, first_ns=_ns("2026-01-01T09:00:00"), now_ns=_ns("2026-01-05T08:00:00"))
    assert (due.newest_ns, due.older, due.is_counted) == (_ns("2026-01-04T09:00:00"), 3, True)
    every_minute = parse_trigger(TriggerKind.CRON, "* * * * *", "UTC", anchor_ns=0)
    # A year of minutes: found at once, and counted only as far as it is worth.
    due = find_due(every_minute, first_ns=_ns("2025-01-01T00:00:00"), now_ns=_ns("2026-01-01T00:00:30"))
    assert (due.newest_ns, due.older, due.is_counted) == (_ns("2026-01-01T00:00:00"), MAX_COUNTED, False)
    rare = parse_trigger(TriggerKind.CRON, "0 0 29 2 *", "UTC", anchor_ns=0)
    due = find_due(rare, first_ns=_ns("2020-02-29T00:00:00"), now_ns=_ns("2026-01-01T00:00:00"))
    assert (due.newest_ns, due.older) == (_ns("2024-02-29T00:00:00"), 1)

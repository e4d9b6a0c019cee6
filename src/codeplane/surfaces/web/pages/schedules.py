"""Schedules: a calendar of the next week, what became of earlier times, and the buttons that run and rest them."""

from datetime import UTC, date, datetime, timedelta
from urllib.parse import quote

from starlette.responses import Response

from codeplane.kernel.errors import InvalidArgument
from codeplane.kernel.json import JsonObject
from codeplane.surfaces.web.json_fields import get_field, get_objects, get_text
from codeplane.surfaces.web.page_request import PageRequest

_DAYS = 7
_LISTED = 50
_RUNS = 100
_SHOWN_IN_CELL = 3


async def page(request: PageRequest) -> Response:
    """Render the schedules with their times of the next seven days."""
    asked: JsonObject = {"limit": _LISTED, **({"cursor": request.query["cursor"]} if "cursor" in request.query else {})}
    listed = await request.call("schedule.list", asked)
    schedules = get_objects(listed, "results")
    waiting = await request.call("approval.list", {"status": "PENDING", "limit": 1})
    days = [datetime.now(UTC).date() + timedelta(days=number) for number in range(_DAYS)]
    rows = [
        {"schedule": schedule, "cells": await _cells(request, schedule, days)}
        for schedule in schedules
        if schedule.get("enabled")
    ]
    status = await request.call("status", {"include": ["schedules"]})
    return request.render(
        "schedules.html",
        title="Schedules",
        pending=waiting["pending"],
        schedules=schedules,
        rows=rows,
        days=[f"{day:%a %d %b}" for day in days],
        state=status.get("schedules"),
        next_cursor=get_field(listed, "pagination", "next_cursor"),
    )


async def show(request: PageRequest) -> Response:
    """Render one schedule with its next runs and its history."""
    schedule = await request.call("schedule.show", {"schedule_id": request.path_param("schedule"), "history": 100})
    waiting = await request.call("approval.list", {"status": "PENDING", "limit": 1})
    return request.render("schedule.html", title="Schedule", pending=waiting["pending"], schedule=schedule)


async def create(request: PageRequest) -> Response:
    """Make a schedule of the form."""
    form = await request.form()
    asked: JsonObject = {name: form.get(name, "").strip() for name in ("name", "trigger_kind", "trigger_spec", "goal")}
    asked |= {"timezone": form.get("timezone", "").strip() or "UTC", "heartbeat": form.get("heartbeat") == "on"}
    made = await request.call("schedule.create", asked)
    return request.redirect(f"/dashboard/schedules/{quote(get_text(made, 'schedule_id'))}")


async def act(request: PageRequest) -> Response:
    """Run a schedule now, enable or disable it, or delete it."""
    form, schedule_id = await request.form(), request.path_param("schedule")
    verb = form.get("verb", "")
    if verb == "run":
        await request.call("schedule.run", {"schedule_id": schedule_id})
    elif verb in ("enable", "disable"):
        await request.call("schedule.update", {"schedule_id": schedule_id, "patch": {"enabled": verb == "enable"}})
    elif verb == "delete":
        await request.call("schedule.delete", {"schedule_id": schedule_id})
        return request.redirect("/dashboard/schedules")
    else:
        raise InvalidArgument("nothing was chosen", hint="go back and use one of the buttons")
    return request.redirect(f"/dashboard/schedules/{quote(schedule_id)}")


async def _cells(request: PageRequest, schedule: JsonObject, days: list[date]) -> list[str]:
    """What a schedule does on each day: its times, or how many there are."""
    asked: JsonObject = {"schedule_id": schedule["schedule_id"], "count": _RUNS}
    # Deleted meanwhile, it has no times.
    found, _ = await request.try_call("schedule.next", asked)
    runs = found.get("runs")
    times = [str(run) for run in runs] if isinstance(runs, list) else []
    last = times[-1][:10] if len(times) == _RUNS else ""
    cells = []
    for day in map(str, days):
        on_day = [time[11:16] for time in times if time.startswith(day)]
        if last and day > last:
            cells.append("…")
        elif len(on_day) > _SHOWN_IN_CELL:
            cells.append(f"{len(on_day)}{'+' if day == last else ''} times")
        else:
            cells.append(" ".join(on_day))
    return cells


ROUTES = (
    ("GET", "/dashboard/schedules", page),
    ("POST", "/dashboard/schedules", create),
    ("GET", "/dashboard/schedules/{schedule}", show),
    ("POST", "/dashboard/schedules/{schedule}", act),
)

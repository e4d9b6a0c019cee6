"""`cpl schedules`: what runs by the clock."""

import os
from pathlib import Path
from typing import Annotated

import typer

from codeplane.kernel.errors import InvalidArgument
from codeplane.kernel.json import JsonObject
from codeplane.surfaces.cli.commands.call import ask
from codeplane.surfaces.cli.output import JsonOption, RepoOption, report_errors, resolve_workspace
from codeplane.surfaces.cli.server_process import start_server

schedules = typer.Typer(help="What the server runs by the clock.", invoke_without_command=True)

ScheduleArgument = Annotated[
    str, typer.Argument(metavar="SCHEDULE", help="The schedule: its name, its id, or a part of that.")
]
CronOption = Annotated[str, typer.Option("--cron", help="Five fields, as in '30 9 * * 1-5'.")]
EveryOption = Annotated[str, typer.Option("--every", help="An interval, as in PT15M or P1D.")]
AtOption = Annotated[str, typer.Option("--at", help="Once, as in 2030-01-31T09:00:00Z.")]
ZoneOption = Annotated[str, typer.Option("--timezone", "-z", help="IANA name; this machine's unless given.")]
MissedOption = Annotated[
    str, typer.Option("--missed", help="Times while no server ran: catch_up runs the newest, skip none.")
]
OverlapOption = Annotated[str, typer.Option("--overlap", help="While the run before goes on: skip or allow.")]
_ZONES = "/zoneinfo/"


@schedules.callback()
@report_errors
def default(context: typer.Context, repo: RepoOption = None, as_json: JsonOption = False) -> None:
    """List the schedules when no command is named."""
    if context.invoked_subcommand is None:
        list_(repo=repo, as_json=as_json)


@schedules.command("list")
@report_errors
def list_(
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=100, help="At most this many.")] = 20,
    repo: RepoOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show the schedules, and when each is due next."""
    ask("schedule.list", {"limit": limit}, repo, as_json=as_json)


@schedules.command()
@report_errors
def create(
    name: Annotated[str, typer.Argument(help="What it is called.")],
    goal: Annotated[str, typer.Option("--goal", "-g", help="What each run is to achieve.")],
    cron: CronOption = "",
    every: EveryOption = "",
    at: AtOption = "",
    timezone: ZoneOption = "",
    heartbeat: Annotated[
        bool, typer.Option("--heartbeat", help="A turn that stays silent when there is nothing to report.")
    ] = False,
    changes_files: Annotated[
        bool, typer.Option("--changes-files", help="Let its jobs change files, in work trees of their own.")
    ] = False,
    thread_id: Annotated[str, typer.Option("--thread", help="Where it runs; else in a thread of its own.")] = "",
    max_steps: Annotated[int, typer.Option("--max-steps", min=0, help="Tool calls of a run.")] = 0,
    minutes: Annotated[float, typer.Option("--minutes", min=0, help="How long a run takes at most.")] = 0,
    missed: MissedOption = "catch_up",
    overlap: OverlapOption = "skip",
    disabled: Annotated[bool, typer.Option("--disabled", help="Not to run by the clock yet.")] = False,
    repo: RepoOption = None,
    as_json: JsonOption = False,
) -> None:
    """Have something run by the clock, and show its next five runs; the server is started where none runs."""
    asked: JsonObject = {
        **_trigger(cron, every, at, timezone),
        "name": name,
        "goal": goal,
        "heartbeat": heartbeat,
        "changes_files": changes_files,
        "thread_id": thread_id,
        "budget": {"max_tool_steps": max_steps},
        "max_wall_time_ms": round(minutes * 60_000),
        "missed_policy": missed,
        "overlap_policy": overlap,
        "enabled": not disabled,
    }
    ask("schedule.create", asked, repo, as_json=as_json)
    if not disabled:
        start_server(resolve_workspace(repo))


@schedules.command("show")
@report_errors
def show_(
    schedule_id: ScheduleArgument,
    history: Annotated[int, typer.Option("--history", "-n", min=0, max=200, help="How many of its last times.")] = 20,
    repo: RepoOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show one schedule with its next runs and what became of the last ones."""
    ask("schedule.show", {"schedule_id": schedule_id, "history": history}, repo, as_json=as_json)


@schedules.command()
@report_errors
def update(
    schedule_id: ScheduleArgument,
    name: Annotated[str | None, typer.Option("--name", help="Another name.")] = None,
    goal: Annotated[str | None, typer.Option("--goal", "-g", help="Another goal.")] = None,
    cron: CronOption = "",
    every: EveryOption = "",
    at: AtOption = "",
    timezone: Annotated[str, typer.Option("--timezone", "-z", help="IANA name.")] = "",
    enable: Annotated[bool | None, typer.Option("--enable/--disable", help="Whether it runs by the clock.")] = None,
    missed: Annotated[str | None, typer.Option("--missed", help="catch_up or skip.")] = None,
    overlap: Annotated[str | None, typer.Option("--overlap", help="skip or allow.")] = None,
    repo: RepoOption = None,
    as_json: JsonOption = False,
) -> None:
    """Change a schedule."""
    named = {
        "name": name,
        "goal": goal,
        "timezone": timezone or None,
        "enabled": enable,
        "missed_policy": missed,
        "overlap_policy": overlap,
    }
    patch: JsonObject = {key: value for key, value in named.items() if value is not None}
    if cron or every or at:
        patch |= {**_trigger(cron, every, at, timezone or "UTC"), **patch}
        if not timezone:
            del patch["timezone"]
    ask("schedule.update", {"schedule_id": schedule_id, "patch": patch}, repo, as_json=as_json)
    if enable:
        start_server(resolve_workspace(repo))


@schedules.command()
@report_errors
def delete(schedule_id: ScheduleArgument, repo: RepoOption = None, as_json: JsonOption = False) -> None:
    """Delete a schedule; runs that have started go on."""
    ask("schedule.delete", {"schedule_id": schedule_id}, repo, as_json=as_json)


@schedules.command()
@report_errors
def run(schedule_id: ScheduleArgument, repo: RepoOption = None, as_json: JsonOption = False) -> None:
    """Run a schedule now, besides its times; the server that runs it is started where none runs."""
    ask("schedule.run", {"schedule_id": schedule_id}, repo, as_json=as_json)
    start_server(resolve_workspace(repo))


@schedules.command("next")
@report_errors
def next_(
    schedule_id: Annotated[str, typer.Argument(metavar="SCHEDULE", help="A schedule, or else a trigger.")] = "",
    cron: CronOption = "",
    every: EveryOption = "",
    at: AtOption = "",
    timezone: ZoneOption = "",
    count: Annotated[int, typer.Option("--count", "-n", min=1, max=100, help="How many.")] = 5,
    repo: RepoOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show the next times of a schedule, or of a trigger that you only think of."""
    asked: JsonObject = {"schedule_id": schedule_id, "count": count}
    if not schedule_id:
        asked |= _trigger(cron, every, at, timezone)
    ask("schedule.next", asked, repo, as_json=as_json)


def _trigger(cron: str, every: str, at: str, timezone: str) -> JsonObject:
    """The trigger that the options name."""
    given = {kind: spec for kind, spec in (("cron", cron), ("interval", every), ("at", at)) if spec}
    if len(given) != 1:
        raise InvalidArgument(
            "name one of --cron, --every and --at", hint="cpl schedules next --cron '30 9 * * 1-5' tries a trigger out"
        )
    ((kind, spec),) = given.items()
    return {"trigger_kind": kind, "trigger_spec": spec, "timezone": timezone or _local_zone()}


def _local_zone() -> str:
    """The name of this machine's time zone; UTC where it has none."""
    for name in (os.environ.get("TZ", "").lstrip(":"), str(Path("/etc/localtime").resolve())):
        zone = name.rpartition(_ZONES)[2] if _ZONES in name else name
        if zone and not zone.startswith("/"):
            return zone
    return "UTC"

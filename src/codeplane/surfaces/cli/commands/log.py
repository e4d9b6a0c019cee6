"""`cpl log`: the ledger, for people and programs."""

from typing import Annotated

import typer

from codeplane.kernel.json import JsonObject, dumps
from codeplane.surfaces.cli.commands.call import client_for
from codeplane.surfaces.cli.output import (
    EXIT_FAILED,
    JsonOption,
    RepoOption,
    complain,
    failing_clearly,
    result_of,
    workspace_of,
)

_PAGE = 1000


@failing_clearly
def log(
    repo: RepoOption = None,
    task: Annotated[str | None, typer.Option("--task", help="Only this task.")] = None,
    session: Annotated[str | None, typer.Option("--session", help="Only this session.")] = None,
    call: Annotated[str | None, typer.Option("--call", help="Only this call.")] = None,
    stream: Annotated[str | None, typer.Option("--stream", help="Only this stream, or a prefix ending in *.")] = None,
    types: Annotated[list[str] | None, typer.Option("--type", help="Only this type; can be repeated.")] = None,
    after: Annotated[int | None, typer.Option("--after", help="Only events after this position.")] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="At most this many, the newest.")] = 50,
    everything: Annotated[bool, typer.Option("--all", help="All events, oldest first.")] = False,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Keep printing events as they happen.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Show the events of the ledger, oldest first; --json prints one JSON object a line."""
    chosen: JsonObject = {
        "task_id": task,
        "in_session": session,
        "call_id": call,
        "stream": stream,
        "types": types or None,
    }
    wanted = {name: value for name, value in chosen.items() if value is not None}
    client = client_for(workspace_of(repo), [])
    last = after or 0
    paging = everything or after is not None
    cursor: str | None = None
    while True:
        page: JsonObject = (
            {"limit": _PAGE, "after": after or 0} if paging else {"limit": min(limit, _PAGE), "newest": True}
        )
        envelope = client.call("ledger.events", {**wanted, **page, **({"cursor": cursor} if cursor else {})})
        result = result_of(envelope)
        events = result["results"]
        assert isinstance(events, list)
        for event in events:
            _print(event, as_json=as_json)
            last = max(last, int(event["position"]))
        pagination = result["pagination"]
        cursor = pagination.get("next_cursor") if isinstance(pagination, dict) else None
        if cursor is None:
            break
    if follow:
        last = max(last, int(str(result["last_position"])))
        for item in client.stream("ledger.watch", {**wanted, "after": last}):
            if "event" in item:
                _print(item["event"], as_json=as_json)
            elif isinstance(error := item.get("error"), dict):
                complain(error)
                raise typer.Exit(EXIT_FAILED)


def _print(event: object, *, as_json: bool) -> None:
    assert isinstance(event, dict)
    if as_json:
        print(dumps(event), flush=True)
        return
    payload = event["payload"]
    said = " ".join(str(payload[name]) for name in ("operation", "status", "state", "reason") if payload.get(name))
    print(
        f"{event['position']:>7} {event['occurred_at'][:23]}Z {event['type']:<16} {event['stream']} {said}", flush=True
    )

"""`cpl log`: the events of the ledger."""

from collections import deque
from collections.abc import Iterable, Iterator
from typing import Annotated

import typer

from codeplane.kernel.json import JsonObject, dumps
from codeplane.surfaces.cli.embedded_client import EmbeddedClient
from codeplane.surfaces.cli.output import (
    EXIT_FAILED,
    JsonOption,
    RepoOption,
    print_error,
    report_errors,
    resolve_workspace,
    result_or_exit,
)
from codeplane.surfaces.cli.owner_client import OwnerClient, open_owner_client

_PAGE = 1000
_DEFAULT = 50

_TELLING = ("operation", "status", "state", "reason", "what", "mutation_id", "commit")


@report_errors
def log(
    repo: RepoOption = None,
    task: Annotated[str | None, typer.Option("--task", help="Only this task.")] = None,
    session: Annotated[str | None, typer.Option("--session", help="Only this session.")] = None,
    call: Annotated[str | None, typer.Option("--call", help="Only this call.")] = None,
    stream: Annotated[str | None, typer.Option("--stream", help="Only this stream, or a prefix ending in *.")] = None,
    types: Annotated[list[str] | None, typer.Option("--type", help="Only this type; can be repeated.")] = None,
    after: Annotated[int | None, typer.Option("--after", help="Only events after this position.")] = None,
    limit: Annotated[
        int | None, typer.Option("--limit", "-n", min=1, help="At most this many, the newest; 50 by default.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="All events.")] = False,
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
    wanted: JsonObject = {name: value for name, value in chosen.items() if value is not None}
    # A named position means: everything from there on.
    most = limit or (None if everything or after is not None else _DEFAULT)
    with open_owner_client(resolve_workspace(repo)) as client:
        reading = _EventReader(client, wanted, as_json=as_json)
        for event in reading.events(after or 0, most):
            _print(event, as_json=as_json)
        if follow:
            _follow(client, {**wanted, "after": reading.position}, as_json=as_json)


class _EventReader:
    """Reads the existing events page by page, and keeps the position."""

    def __init__(self, client: OwnerClient | EmbeddedClient, wanted: JsonObject, *, as_json: bool) -> None:
        self._client = client
        self._wanted = wanted
        self._as_json = as_json
        self.position = 0

    def events(self, after: int, most: int | None) -> Iterable[JsonObject]:
        """Yield the events after a position, oldest first; only the newest, or all."""
        if most is not None and most <= _PAGE:
            return self._page({"limit": most, "newest": True, "after": after})[0]
        found = self._all(after)
        return found if most is None else deque(found, maxlen=most)

    def _all(self, after: int) -> Iterator[JsonObject]:
        cursor: str | None = None
        while True:
            given: JsonObject = {"limit": _PAGE, "after": after, **({"cursor": cursor} if cursor else {})}
            events, cursor = self._page(given)
            yield from events
            if cursor is None:
                return

    def _page(self, given: JsonObject) -> tuple[list[JsonObject], str | None]:
        result = result_or_exit(self._client.call("ledger.events", {**self._wanted, **given}), as_json=self._as_json)
        events, pagination = result["results"], result["pagination"]
        assert isinstance(events, list) and isinstance(pagination, dict)
        self.position = int(str(result["last_position"]))
        return events, pagination.get("next_cursor")


def _follow(client: OwnerClient | EmbeddedClient, wanted: JsonObject, *, as_json: bool) -> None:
    for item in client.stream("ledger.watch", wanted):
        if "event" in item:
            _print(item["event"], as_json=as_json)
        elif isinstance(error := item.get("error"), dict):
            print_error(error)
            raise typer.Exit(EXIT_FAILED)


def _print(event: object, *, as_json: bool) -> None:
    assert isinstance(event, dict)
    if as_json:
        print(dumps(event), flush=True)
        return
    payload = event["payload"]
    details = " ".join(str(payload[name]) for name in _TELLING if payload.get(name))
    print(
        f"{event['position']:>7} {event['occurred_at'][:23]}Z {event['type']:<16} {event['stream']} {details}",
        flush=True,
    )

"""`cpl audit`: who changed and decided what, and who was refused."""

from typing import Annotated

import typer

from codeplane.kernel.json import JsonObject, JsonValue, dumps
from codeplane.surfaces.cli.commands.call import show
from codeplane.surfaces.cli.output import JsonOption, RepoOption, report_errors, resolve_workspace, result_or_exit
from codeplane.surfaces.cli.owner_client import open_owner_client

_PAGE = 500


@report_errors
def audit(
    text: Annotated[str | None, typer.Argument(help="Only entries that hold these letters.")] = None,
    actor: Annotated[
        str | None, typer.Option("--actor", help="As in claude-code, agent:claude-code, or agent:*.")
    ] = None,
    operation: Annotated[
        str | None, typer.Option("--operation", "-o", help="As in git.push, git_push, or git.*.")
    ] = None,
    kind: Annotated[str | None, typer.Option("--type", help="As in capability.granted, or action.*.")] = None,
    outcome: Annotated[str | None, typer.Option("--outcome", help="As in ok or POLICY_DENIED.")] = None,
    action: Annotated[
        str | None, typer.Option("--action", help="Only about this action; a beginning or end will do.")
    ] = None,
    since: Annotated[str | None, typer.Option("--since", help="As in 2025-06-30 or 2025-06-30T12:00:00Z.")] = None,
    until: Annotated[str | None, typer.Option("--until", help="Before this time.")] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="At most this many, the newest.")] = 50,
    export: Annotated[bool, typer.Option("--export", help="Write them to a file under .codeplane/exports.")] = False,
    repo: RepoOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show the audit, newest first; --json prints one entry a line."""
    chosen: JsonObject = {
        "text": text,
        "actor": actor,
        "operation": operation,
        "event_type": kind,
        "outcome": outcome,
        "action_id": action,
        "since": since,
        "until": until,
    }
    asked: JsonObject = {name: value for name, value in chosen.items() if value is not None}
    with open_owner_client(resolve_workspace(repo)) as client:
        if export:
            show(client.call("audit.export", asked, text=not as_json), as_json=as_json)
            return
        cursor: JsonValue = None
        left = limit
        while left > 0:
            given: JsonObject = {**asked, "limit": min(left, _PAGE), **({"cursor": cursor} if cursor else {})}
            envelope = client.call("audit.list", given, text=not as_json)
            result = result_or_exit(envelope, as_json=as_json)
            entries, pagination = result["results"], result.get("pagination")
            assert isinstance(entries, list)
            left -= len(entries)
            cursor = pagination.get("next_cursor") if isinstance(pagination, dict) else None
            _print(envelope, entries, as_json=as_json)
            if cursor is None:
                return


def _print(envelope: JsonObject, entries: list[JsonValue], *, as_json: bool) -> None:
    if as_json:
        for entry in entries:
            print(dumps(entry))
        return
    # A page ends with its cursor, which is for programs.
    print("\n".join(line for line in str(envelope.get("text", "")).split("\n") if not line.startswith("more: cursor=")))

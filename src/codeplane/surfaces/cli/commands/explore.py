"""`cpl explore`: a first understanding of a repository, as it comes and as a document."""

import os
import re
import sys
from pathlib import Path
from typing import Annotated

import typer

from codeplane.kernel.json import JsonObject, dumps
from codeplane.kernel.workspace import Workspace
from codeplane.surfaces.cli.commands.call import ask
from codeplane.surfaces.cli.discovery import find_workspace
from codeplane.surfaces.cli.explore_view import ExploreView
from codeplane.surfaces.cli.markdown_style import MarkdownStyle
from codeplane.surfaces.cli.output import (
    EXIT_FAILED,
    JsonOption,
    RepoOption,
    print_error,
    report_errors,
    resolve_workspace,
    result_or_exit,
)
from codeplane.surfaces.cli.owner_client import OwnerClient
from codeplane.surfaces.cli.server_process import start_server
from codeplane.surfaces.cli.terminal import escape_controls

_URL = re.compile(r"[a-z][a-z0-9+.-]*://|[\w.-]+@[\w.-]+:")


@report_errors
def explore(
    target: Annotated[
        str, typer.Argument(metavar="[PATH|URL]", help="A folder, or a repository to clone; this one without it.")
    ] = "",
    goal: Annotated[
        list[str] | None, typer.Option("--goal", "-g", help="Also find the files that speak of this; may be repeated.")
    ] = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print the summary as plain Markdown.")] = False,
    branch: Annotated[str, typer.Option("--branch", help="The branch or tag of a URL.")] = "",
    external: Annotated[bool, typer.Option("--external", help="Let models on other machines plan, too.")] = False,
    resume: Annotated[str, typer.Option("--resume", metavar="ID", help="Go on from one that was stopped.")] = "",
    show: Annotated[str, typer.Option("--show", metavar="ID", help="Show one that was started before.")] = "",
    replay: Annotated[str, typer.Option("--replay", metavar="ID", help="Run one again and show what differs.")] = "",
    list_: Annotated[bool, typer.Option("--list", help="List the explorations, newest first.")] = False,
    repo: RepoOption = None,
    as_json: JsonOption = False,
) -> None:
    """Explore a repository: languages, entry points, most used definitions, and what to read first.

    Progress goes to stderr, the summary to stdout: cpl explore --markdown > ARCHITECTURE.md. With --json every event is
    a line. Ctrl+C aborts it. Exits with 1 unless it is completed.
    """
    if list_:
        ask("orchestrate.explore.list", {}, repo, as_json=as_json)
        return
    if show:
        ask("orchestrate.explore.status", {"explore_id": show, "markdown": markdown}, repo, as_json=as_json)
        return
    if replay:
        ask("orchestrate.explore.replay", {"trace_id": replay}, repo, as_json=as_json)
        return
    workspace = _workspace(repo, target)
    facts, _ = start_server(workspace)
    client = OwnerClient(workspace, facts)
    is_url = _URL.match(target) is not None
    wanted: JsonObject = {
        **({"remote_url": target, "branch": branch} if is_url else {"root": _root(target, workspace)}),
        "policy": {"network": is_url, "allow_external_llms": external},
        "goals": list(goal or ()),
        "resume": resume,
    }
    started = result_or_exit(client.call("orchestrate.explore.start", wanted), as_json=as_json)
    explore_id = str(started["sessionId"])
    try:
        _follow(client, explore_id, as_json=as_json)
    except KeyboardInterrupt:
        client.call("orchestrate.explore.abort", {"explore_id": explore_id})
        raise
    if as_json:
        return
    asked: JsonObject = {"explore_id": explore_id, "markdown": True}
    document = str(result_or_exit(client.call("orchestrate.explore.status", asked), as_json=False)["markdown"])
    if sys.stdout.isatty() and not markdown and not os.environ.get("NO_COLOR"):
        style = MarkdownStyle()
        document = style.take(escape_controls(document)) + style.finish()
    print(document, end="")


def _workspace(repo: Path | None, target: str) -> Workspace:
    """The repository that serves: the one around the current folder, or the explored one where there is none."""
    workspace = resolve_workspace(repo)
    path = Path(target)
    if repo is None and target and path.is_dir() and not (workspace.root / ".git").exists():
        return find_workspace(path, explicit=True)
    return workspace


def _root(target: str, workspace: Workspace) -> str:
    return str(Path(target).expanduser().resolve() if target else workspace.root)


def _follow(client: OwnerClient, explore_id: str, *, as_json: bool) -> None:
    """Show what happens until the end."""
    view = ExploreView()
    for item in client.stream("orchestrate.explore.watch", {"explore_id": explore_id}):
        envelope, error = item.get("envelope"), item.get("error")
        if isinstance(error, dict):
            print_error(error)
            raise typer.Exit(EXIT_FAILED)
        if not isinstance(envelope, dict):
            continue
        if as_json:
            print(dumps(envelope), flush=True)
        else:
            for line in view.lines(envelope):
                print(escape_controls(line), file=sys.stderr)
        payload = envelope["payload"]
        assert isinstance(payload, dict)
        if (stopped := payload.get("stopped")) is not None:
            assert isinstance(stopped, dict)
            print(f"stopped: {stopped['reason']}; go on: cpl explore --resume {explore_id}", file=sys.stderr)
            raise typer.Exit(EXIT_FAILED)

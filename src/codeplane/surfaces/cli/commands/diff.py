"""`cpl diff`: changes by line or by structure; coloured and paged on a terminal, plain in a pipe."""

import os
import sys
from collections.abc import Iterator
from typing import Annotated

import typer

from codeplane.kernel.json import JsonObject, JsonValue, dumps
from codeplane.surfaces.cli.embedded_client import EmbeddedClient
from codeplane.surfaces.cli.output import (
    EXIT_FAILED,
    JsonOption,
    RepoOption,
    report_errors,
    resolve_workspace,
    result_or_exit,
)
from codeplane.surfaces.cli.owner_client import OwnerClient, open_owner_client
from codeplane.surfaces.cli.pager import PATCH_COLOURS, paint, show_paged

_PAGE = 100
_STRUCTURE = {
    "!": "\x1b[1;31m",
    "+": "\x1b[32m",
    "-": "\x1b[31m",
    "~": "\x1b[33m",
    ">": "\x1b[36m",
    "n": "\x1b[2m",
}


@report_errors
def diff(
    base: Annotated[str | None, typer.Argument(help="Commit, branch, tag, a..b, a...b; epoch:N by structure.")] = None,
    target: Annotated[str | None, typer.Argument(help="The other side; the working tree by default.")] = None,
    paths: Annotated[list[str] | None, typer.Option("--path", "-p", help="Only here; can be repeated.")] = None,
    semantic: Annotated[
        bool, typer.Option("--semantic", "-s", help="Definitions that changed, and what that breaks.")
    ] = False,
    as_markdown: Annotated[
        bool, typer.Option("--markdown", help="By structure, as a comment on a pull request.")
    ] = False,
    staged: Annotated[bool, typer.Option("--staged", help="What is staged, line by line.")] = False,
    exit_code: Annotated[
        bool, typer.Option("--exit-code", help="Exit with 1 when something breaks users (by structure).")
    ] = False,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=100_000, help="At most this many changes.")] = 1000,
    workspace: Annotated[str, typer.Option("--workspace", "-w", help="An attached workspace.")] = "",
    repo: RepoOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show what changed: line by line, or with --semantic by structure. --json prints one page a line."""
    asked: JsonObject = {"workspace": workspace, "paths": [*(paths or [])]}
    asked |= {"base": base} if base is not None else {}
    asked |= {"target": target} if target is not None else {}
    by_structure = semantic or as_markdown
    if by_structure:
        asked |= {"format": "markdown" if as_markdown else "text", "limit": min(limit, _PAGE)}
    else:
        asked |= {"staged": staged}
    with open_owner_client(resolve_workspace(repo)) as client:
        operation = "semantic_diff" if by_structure else "git.diff"
        pages = _pages(client, operation, asked, 1 if as_markdown else limit, as_json=as_json)
        first = _show(pages, as_json=as_json, colours=_STRUCTURE if by_structure else PATCH_COLOURS, plain=as_markdown)
    if exit_code and first.get("breaking_summary"):
        raise typer.Exit(EXIT_FAILED)


def _pages(
    client: OwnerClient | EmbeddedClient, operation: str, asked: JsonObject, limit: int, *, as_json: bool
) -> Iterator[tuple[JsonObject, str]]:
    """Yield the answer page by page, as data and as text, up to the limit."""
    cursor: JsonValue = None
    shown = 0
    while shown < limit:
        envelope = client.call(operation, {**asked, "cursor": cursor} if cursor else asked, text=True)
        result = result_or_exit(envelope, as_json=as_json)
        text = envelope.get("text")
        yield result, text if isinstance(text, str) else ""
        for name in ("structural_changes", "files"):
            items = result.get(name)
            shown += len(items) if isinstance(items, list) else 0
        pagination = result.get("pagination")
        cursor = pagination.get("next_cursor") if isinstance(pagination, dict) else None
        if cursor is None:
            return
    if asked.get("format") != "markdown":
        print(f"note: there is more: -n {2 * limit}", file=sys.stderr)


def _show(
    pages: Iterator[tuple[JsonObject, str]], *, as_json: bool, colours: dict[str, str], plain: bool
) -> JsonObject:
    """Print all pages and return the first."""
    first: JsonObject = {}
    lines: list[str] = []
    hint: list[str] = []
    in_terminal = sys.stdout.isatty()
    colour = in_terminal and not plain and "NO_COLOR" not in os.environ
    for number, (result, text) in enumerate(pages):
        first = first or result
        if as_json:
            print(dumps(result))
            continue
        found = text.split("\n")
        # A page ends with its cursor, and every page but the first repeats the head.
        if found and found[-1].startswith("more: cursor="):
            found.pop()
        found = found[1:] if number else found
        hint = hint or _hint(result)
        if hint and found and found[-1] == hint[-1].partition(". ")[2]:
            # The steps speak of all pages, and come whole behind the last of them.
            found.pop()
        drawn = [paint(line, _line_colour(line, colours), colour) for line in found]
        if in_terminal and not plain:
            lines += drawn
        elif drawn:
            print("\n".join(drawn))
    if hint and not lines:
        print("\n".join(hint))
    if lines:
        show_paged([*lines, *hint])
    return first


def _hint(result: JsonObject) -> list[str]:
    """Return the steps that a comparison gives."""
    hint = result.get("agentic_hint")
    return hint.split("\n") if isinstance(hint, str) and hint else []


def _line_colour(line: str, colours: dict[str, str]) -> str:
    bare = line.lstrip() if "!" in colours else line
    if "!" in colours and " breaking change" in bare[:30]:
        return colours["!"]
    if bare.startswith(("+", "-", "!", "~", ">", "@@", "note:", "diff --git ")):
        return colours.get(bare[0], "")
    return ""

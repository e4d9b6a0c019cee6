"""`cpl search`: search the repository; coloured and paged on a terminal, plain in a pipe."""

import os
import pydoc
import sys
from collections.abc import Iterator
from typing import Annotated

import typer

from codeplane.kernel.json import JsonObject, JsonValue, dumps
from codeplane.kernel.plural import plural
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

_PAGE = 100
_MOST_LINES, _MOST_RANKED = 200, 10
_RANKED = frozenset({"ranked", "lexical", "hybrid", "semantic"})
_PATH, _LINE, _MATCH, _FAINT, _PLAIN = "\x1b[35m", "\x1b[32m", "\x1b[1;31m", "\x1b[2m", "\x1b[0m"


@report_errors
def search(
    query: Annotated[str, typer.Argument(help="Text, a regular expression, a symbol, or a question.")],
    paths: Annotated[list[str] | None, typer.Argument(help="Only in these files, folders or globs.")] = None,
    mode: Annotated[
        str, typer.Option("--mode", "-m", help="auto, literal, regex, definitions, references, symbol, semantic …")
    ] = "auto",
    languages: Annotated[
        list[str] | None, typer.Option("--language", "-l", help="Only this language; can be repeated.")
    ] = None,
    kinds: Annotated[list[str] | None, typer.Option("--kind", "-k", help="Only symbols of this kind.")] = None,
    tests: Annotated[str, typer.Option("--tests", help="include, exclude or only.")] = "include",
    ignore_case: Annotated[bool, typer.Option("--ignore-case", "-i", help="Capitals do not matter.")] = False,
    context: Annotated[int, typer.Option("--context", "-C", min=0, max=10, help="Lines before and after.")] = 0,
    workspace: Annotated[str, typer.Option("--workspace", "-w", help="An attached workspace.")] = "",
    limit: Annotated[
        int | None,
        typer.Option(
            "--limit", "-n", min=1, max=100_000, help="At most this many lines; 200, or 10 of what is ranked."
        ),
    ] = None,
    repo: RepoOption = None,
    as_json: JsonOption = False,
) -> None:
    """Search the repository; exit code 1 when nothing is found. --json prints one hit a line."""
    asked: JsonObject = {"query": query, "mode": mode, "tests": tests, "ignore_case": ignore_case, "context": context}
    asked |= {"workspace": workspace, "paths": paths or [], "languages": languages or [], "kinds": kinds or []}
    with open_owner_client(resolve_workspace(repo)) as client:
        pages = _pages(client, asked, limit, as_json=as_json)
        if as_json:
            hits = _print_json(pages)
        elif sys.stdout.isatty():
            hits = _page_through(pages, colour="NO_COLOR" not in os.environ)
        else:
            hits = _print_lines(pages)
    if not hits:
        raise typer.Exit(EXIT_FAILED)


def _pages(
    client: OwnerClient | EmbeddedClient, asked: JsonObject, given: int | None, *, as_json: bool
) -> Iterator[JsonObject]:
    """Yield the answer page by page, up to the given limit or the mode's own."""
    cursor: JsonValue = None
    shown = 0
    limit = given or _MOST_LINES
    while shown < limit:
        page = client.call("search", {**asked, "limit": min(_PAGE, limit - shown), "cursor": cursor})
        result = result_or_exit(page, as_json=as_json)
        for warning in _warnings(page):
            print(f"warning: {warning}", file=sys.stderr)
        if given is None and result.get("mode") in _RANKED:
            # What auto picked is known only now.
            limit = _MOST_RANKED
            result = {**result, "results": list(_hits(result)[:limit])}
        yield result
        shown += len(_hits(result))
        pagination = result.get("pagination")
        cursor = pagination.get("next_cursor") if isinstance(pagination, dict) else None
        if cursor is None:
            break


def _print_json(pages: Iterator[JsonObject]) -> int:
    count = 0
    for page in pages:
        for hit in _hits(page):
            print(dumps(hit))
            count += 1
    return count


def _print_lines(pages: Iterator[JsonObject]) -> int:
    """Print one line a hit, for other programs; report what is left out on stderr."""
    count = 0
    page: JsonObject = {}
    for page in pages:
        for hit in _hits(page):
            _print_hit(hit)
            count += 1
    print(_summary(page, count), file=sys.stderr)
    return count


def _print_hit(hit: JsonObject) -> None:
    """Print a hit as grep does: colons for the matching line, dashes for its context."""
    path, number = hit["path"], int(str(hit["line"]))
    before, after = (_texts(hit.get(side)) for side in ("before", "after"))
    for at, text in enumerate(before):
        print(f"{path}-{number - len(before) + at}-{text}")
    tier = hit.get("tier")
    unsure = f"  ({str(tier).lower()})" if tier in ("ANCHORED", "UNKNOWN") else ""
    print(f"{path}:{number}:{hit['column']}:{hit['snippet']}{unsure}")
    for at, text in enumerate(after):
        print(f"{path}-{number + 1 + at}-{text}")


def _page_through(pages: Iterator[JsonObject], *, colour: bool) -> int:
    lines: list[str] = []
    count = 0
    page: JsonObject = {}
    last = None
    for page in pages:
        for hit in _hits(page):
            count += 1
            if hit["path"] != last:
                last = hit["path"]
                lines += ["", _paint(str(last), _PATH, colour)] if lines else [_paint(str(last), _PATH, colour)]
            lines += _format_page(hit, colour)
    lines.append(_paint(_summary(page, count), _FAINT, colour))
    text = "\n".join(lines)
    if len(lines) > os.get_terminal_size().lines - 1:
        # What less needs to pass colours through, unless the person has an opinion.
        os.environ.setdefault("LESS", "FRX")
        pydoc.pager(text)
    else:
        print(text)
    return count


def _format_page(hit: JsonObject, colour: bool) -> list[str]:
    number = int(str(hit["line"]))
    before, after = (_texts(hit.get(side)) for side in ("before", "after"))
    lines = [_paint(f"{number - len(before) + at}- {text}", _FAINT, colour) for at, text in enumerate(before)]
    tier = hit.get("tier")
    unsure = _paint(f"  ({str(tier).lower()})", _FAINT, colour) if tier in ("ANCHORED", "UNKNOWN") else ""
    lines.append(f"{_paint(str(number), _LINE, colour)}: {_highlight_matches(hit, colour)}{unsure}")
    return lines + [_paint(f"{number + 1 + at}- {text}", _FAINT, colour) for at, text in enumerate(after)]


def _highlight_matches(hit: JsonObject, colour: bool) -> str:
    """Return the line with its matches highlighted; spans count bytes."""
    raw = str(hit["snippet"]).encode()
    spans = hit.get("spans")
    if not colour or not isinstance(spans, list) or raw.startswith("…".encode()):
        return raw.decode()
    drawn, at = b"", 0
    for span in spans:
        start, end = (int(edge) for edge in span) if isinstance(span, list) else (0, 0)
        drawn += raw[at:start] + _MATCH.encode() + raw[start:end] + _PLAIN.encode()
        at = end
    return (drawn + raw[at:]).decode("utf-8", "replace")


def _summary(page: JsonObject, shown: int) -> str:
    more = "" if page.get("total_is_exact") else "+"
    files = plural(int(str(page.get("files", 0))), "file", more)
    summary = f"{shown} of {page.get('total', 0)}{more} in {files}, {page.get('mode')}"
    commit = page.get("commit")
    summary += f", epoch {page.get('epoch', 0)} at {str(commit)[:9] if commit else 'no commit'}"
    for name in ("model", "weaker", "partial"):
        summary += f", {page[name]}" if page.get(name) else ""
    tiers = page.get("tiers")
    if isinstance(tiers, dict):
        summary += (": " if not more else ": at least ") * bool(tiers) + ", ".join(
            f"{count} {str(tier).lower()}" for tier, count in tiers.items()
        )
    stale = page.get("stale")
    return summary + (f"; STALE: {', '.join(_texts(stale))}" if stale else "")


def _paint(text: str, how: str, colour: bool) -> str:
    return f"{how}{text}{_PLAIN}" if colour else text


def _hits(page: JsonObject) -> list[JsonObject]:
    found = page.get("results")
    return [hit for hit in found if isinstance(hit, dict)] if isinstance(found, list) else []


def _texts(value: JsonValue) -> list[str]:
    return [str(item) for item in value] if isinstance(value, list) else []


def _warnings(envelope: JsonObject) -> list[str]:
    meta = envelope.get("meta")
    return _texts(meta.get("warnings")) if isinstance(meta, dict) else []

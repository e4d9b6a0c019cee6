"""Repository: what it is made of, searching it in every way, a file, a symbol."""

import asyncio

from starlette.responses import Response

from codeplane.kernel.errors import InvalidArgument, NotFound
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.surfaces.web.highlighting import highlighted
from codeplane.surfaces.web.pages.treemap import COLOURS, OTHER, by_folder, by_language
from codeplane.surfaces.web.reading import at, number, record, rows, text
from codeplane.surfaces.web.visit import Visit

MODES = (
    ("auto", "by the query's shape"),
    ("literal", "exactly this text"),
    ("regex", "a regular expression"),
    ("symbol", "names of symbols"),
    ("definitions", "where it is defined"),
    ("references", "where it is used"),
    ("ranked", "the best files first"),
    ("lexical", "words, ranked"),
    ("semantic", "by meaning"),
    ("hybrid", "words and meaning"),
)
_TILES = 40
_SKIPPED = 100
# How many files are looked through for those, at a time and in all.
_LISTED, _LISTS = 1000, 20
_PAGE_LINES = 1000
_REFERENCES = 100


async def page(visit: Visit) -> Response:
    """The whole of it, or what a search found."""
    query, mode = visit.query.get("q", ""), visit.query.get("mode", "auto")
    if query:
        return await _search(visit, query, mode)
    folder = visit.query.get("folder", "").strip("/")
    by = "language" if visit.query.get("by") == "language" else "folder"
    made, error = await visit.attempt("folder.make_up", {"folder": folder, "limit": _TILES})
    mapped: JsonObject = {}
    used: JsonObject = {}
    skipped: JsonObject = {}
    unsearched: list[JsonObject] = []
    other = None
    if not folder:
        mapped, other = await visit.attempt("map_repo", {"depth": 1, "budget": 500, "include": ["entry_points"]})
        used, _ = await visit.attempt("symbol.most_used", {"limit": 15})
        skipped, unsearched = await _unsearched(visit)
    languages = record(made, "languages")
    hues = {name: min(place, COLOURS - 1) for place, name in enumerate(one for one in languages if one != OTHER)}
    return visit.render(
        "repository.html",
        title="Repository",
        pending=await _pending(visit),
        modes=MODES,
        mode=mode,
        q="",
        folder=folder,
        parts=folder.split("/") if folder else [],
        by=by,
        made=made,
        entries=rows(made, "parts"),
        tiles=by_language(made, hues) if by == "language" else by_folder(made, hues),
        languages=[{"name": name, "bytes": count, "hue": hues.get(name, COLOURS)} for name, count in languages.items()],
        mapped=mapped,
        entry_points=rows(mapped, "entry_points")[:12],
        used=used,
        symbols=rows(used, "symbols"),
        skipped=unsearched,
        left_out=record(skipped, "left_out"),
        skipped_cursor=at(skipped, "pagination", "next_cursor"),
        error=error or other,
    )


async def _unsearched(visit: Visit) -> tuple[JsonObject, list[JsonObject]]:
    """Files that are not searched, from where the address says; the list of files has them among all others."""
    found: list[JsonObject] = []
    asked: JsonObject = {"skipped": True, "depth": 5, "limit": _LISTED}
    cursor: JsonValue = visit.query.get("skipped")
    answer: JsonObject = {}
    for _ in range(_LISTS):
        answer = await visit.ask("list_dir", {**asked, **({"cursor": cursor} if cursor else {})})
        found += [one for one in rows(answer, "entries") if one.get("skipped")]
        cursor = at(answer, "pagination", "next_cursor")
        if cursor is None or len(found) >= _SKIPPED:
            break
    return answer, found


async def _search(visit: Visit, query: str, mode: str) -> Response:
    asked: JsonObject = {"query": query, "mode": mode, "limit": 50}
    asked |= {"ignore_case": True} if visit.query.get("ignore_case") else {}
    asked |= {"paths": [visit.query["in"]]} if visit.query.get("in") else {}
    asked |= {"cursor": visit.query["cursor"]} if "cursor" in visit.query else {}
    found, error = await visit.attempt("search", asked)
    files: dict[str, list[JsonObject]] = {}
    for hit in rows(found, "results"):
        files.setdefault(text(hit, "path"), []).append(hit)
    return visit.render(
        "search.html",
        title="Search",
        pending=await _pending(visit),
        modes=MODES,
        mode=mode,
        q=query,
        found=found,
        files=files,
        error=error,
        next_cursor=at(found, "pagination", "next_cursor"),
    )


async def file(visit: Visit) -> Response:
    """One file with line numbers; a line of it when the address names one."""
    path = visit.query.get("path", "")
    if not path:
        raise InvalidArgument("no file is named", hint="choose one on the Repository page")
    line = visit.query.get("line", "")
    here = int(line) if line.isdecimal() and len(line) < 9 else 0
    first = max(1, here - _PAGE_LINES // 2)
    wanted: JsonValue = [{"path": path, "start_line": first, "end_line": first + _PAGE_LINES - 1}]
    answer = await visit.ask("read_files", {"ranges": wanted})
    shown = rows(answer, "files")[0]
    if shown.get("error"):
        raise NotFound(text(shown, "error"), hint="choose one on the Repository page")
    content = text(shown, "content")
    lines = await asyncio.to_thread(highlighted, path, content.removesuffix("\n"))
    start = int(number(shown, "start") or 1)
    return visit.render(
        "file.html",
        title=path,
        pending=await _pending(visit),
        path=path,
        parts=path.split("/"),
        lines=list(enumerate(lines, start=start)),
        shown=shown,
        here_line=here,
        commit=answer.get("commit"),
    )


async def symbol(visit: Visit) -> Response:
    """One symbol: what it is, and who refers to it, by how sure that is."""
    name = visit.query.get("name", "")
    if not name:
        raise InvalidArgument("no symbol is named", hint="search for one with mode symbol")
    answer = await visit.ask("explain_symbol", {"symbol": name, "budget": 12_000})
    explanation = record(answer, "explanation")
    tiers: dict[str, list[JsonObject]] = {}
    for hit in await _referring(visit, explanation):
        tiers.setdefault(text(hit, "tier") or "UNKNOWN", []).append(hit)
    return visit.render(
        "symbol.html",
        title=text(explanation, "qualified_name") or name,
        pending=await _pending(visit),
        name=name,
        explanation=explanation,
        candidates=rows(answer, "candidates"),
        answer=answer,
        tiers=tiers,
    )


async def _referring(visit: Visit, explanation: JsonObject) -> list[JsonObject]:
    """Lines that refer to a symbol: as many as fit a page, or the examples that its explanation has."""
    examples = rows(explanation, "references", "lines")
    if (number(explanation, "references", "total") or 0) <= len(examples):
        return examples
    asked: JsonObject = {"query": text(explanation, "id") or text(explanation, "name"), "mode": "references"}
    found, _ = await visit.attempt("search", {**asked, "limit": _REFERENCES})
    here = (explanation.get("path"), explanation.get("line"))
    return [one for one in rows(found, "results") if (one.get("path"), one.get("line")) != here] or examples


async def _pending(visit: Visit) -> object:
    return (await visit.ask("approval.list", {"status": "PENDING", "limit": 1}))["pending"]


ROUTES = (
    ("GET", "/dashboard/repository", page),
    ("GET", "/dashboard/repository/file", file),
    ("GET", "/dashboard/repository/symbol", symbol),
)

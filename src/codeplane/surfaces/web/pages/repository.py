"""Repository: composition, search, files and symbols."""

import asyncio

from starlette.responses import Response

from codeplane.kernel.errors import InvalidArgument, NotFound
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.surfaces.web.json_fields import get_field, get_number, get_object, get_objects, get_text
from codeplane.surfaces.web.page_request import PageRequest
from codeplane.surfaces.web.pages.treemap import COLOURS, OTHER, by_folder, by_language
from codeplane.surfaces.web.syntax_highlight import highlight_lines

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


async def page(request: PageRequest) -> Response:
    """Render the repository, or the results of a search."""
    query, mode = request.query.get("q", ""), request.query.get("mode", "auto")
    if query:
        return await _search(request, query, mode)
    folder = request.query.get("folder", "").strip("/")
    by = "language" if request.query.get("by") == "language" else "folder"
    made, error = await request.try_call("folder.make_up", {"folder": folder, "limit": _TILES})
    mapped: JsonObject = {}
    used: JsonObject = {}
    skipped: JsonObject = {}
    unsearched: list[JsonObject] = []
    other = None
    if not folder:
        mapped, other = await request.try_call("map_repo", {"depth": 1, "budget": 500, "include": ["entry_points"]})
        used, _ = await request.try_call("symbol.most_used", {"limit": 15})
        skipped, unsearched = await _unindexed_files(request)
    languages = get_object(made, "languages")
    hues = {name: min(place, COLOURS - 1) for place, name in enumerate(row for row in languages if row != OTHER)}
    return request.render(
        "repository.html",
        title="Repository",
        pending=await _pending(request),
        modes=MODES,
        mode=mode,
        q="",
        folder=folder,
        parts=folder.split("/") if folder else [],
        by=by,
        made=made,
        entries=get_objects(made, "parts"),
        tiles=by_language(made, hues) if by == "language" else by_folder(made, hues),
        languages=[{"name": name, "bytes": count, "hue": hues.get(name, COLOURS)} for name, count in languages.items()],
        mapped=mapped,
        entry_points=get_objects(mapped, "entry_points")[:12],
        used=used,
        symbols=get_objects(used, "symbols"),
        skipped=unsearched,
        left_out=get_object(skipped, "left_out"),
        skipped_cursor=get_field(skipped, "pagination", "next_cursor"),
        error=error or other,
    )


async def _unindexed_files(request: PageRequest) -> tuple[JsonObject, list[JsonObject]]:
    """Return a page of the files that are not searched."""
    found: list[JsonObject] = []
    asked: JsonObject = {"skipped": True, "depth": 5, "limit": _LISTED}
    cursor: JsonValue = request.query.get("skipped")
    answer: JsonObject = {}
    for _ in range(_LISTS):
        answer = await request.call("list_dir", {**asked, **({"cursor": cursor} if cursor else {})})
        found += [entry for entry in get_objects(answer, "entries") if entry.get("skipped")]
        cursor = get_field(answer, "pagination", "next_cursor")
        if cursor is None or len(found) >= _SKIPPED:
            break
    return answer, found


async def _search(request: PageRequest, query: str, mode: str) -> Response:
    asked: JsonObject = {"query": query, "mode": mode, "limit": 50}
    asked |= {"ignore_case": True} if request.query.get("ignore_case") else {}
    asked |= {"paths": [request.query["in"]]} if request.query.get("in") else {}
    asked |= {"cursor": request.query["cursor"]} if "cursor" in request.query else {}
    found, error = await request.try_call("search", asked)
    files: dict[str, list[JsonObject]] = {}
    for hit in get_objects(found, "results"):
        files.setdefault(get_text(hit, "path"), []).append(hit)
    return request.render(
        "search.html",
        title="Search",
        pending=await _pending(request),
        modes=MODES,
        mode=mode,
        q=query,
        found=found,
        files=files,
        error=error,
        next_cursor=get_field(found, "pagination", "next_cursor"),
    )


async def file(request: PageRequest) -> Response:
    """Render one file with line numbers, at a line if the URL names one."""
    path = request.query.get("path", "")
    if not path:
        raise InvalidArgument("no file is named", hint="choose one on the Repository page")
    line = request.query.get("line", "")
    here = int(line) if line.isdecimal() and len(line) < 9 else 0
    first = max(1, here - _PAGE_LINES // 2)
    wanted: JsonValue = [{"path": path, "start_line": first, "end_line": first + _PAGE_LINES - 1}]
    answer = await request.call("read_files", {"ranges": wanted})
    shown = get_objects(answer, "files")[0]
    if shown.get("error"):
        raise NotFound(get_text(shown, "error"), hint="choose one on the Repository page")
    content = get_text(shown, "content")
    lines = await asyncio.to_thread(highlight_lines, path, content.removesuffix("\n"))
    start = int(get_number(shown, "start") or 1)
    return request.render(
        "file.html",
        title=path,
        pending=await _pending(request),
        path=path,
        parts=path.split("/"),
        lines=list(enumerate(lines, start=start)),
        shown=shown,
        here_line=here,
        commit=answer.get("commit"),
    )


async def symbol(request: PageRequest) -> Response:
    """Render one symbol and its references by certainty."""
    name = request.query.get("name", "")
    if not name:
        raise InvalidArgument("no symbol is named", hint="search for one with mode symbol")
    answer = await request.call("explain_symbol", {"symbol": name, "budget": 12_000})
    explanation = get_object(answer, "explanation")
    tiers: dict[str, list[JsonObject]] = {}
    for hit in await _references(request, explanation):
        tiers.setdefault(get_text(hit, "tier") or "UNKNOWN", []).append(hit)
    return request.render(
        "symbol.html",
        title=get_text(explanation, "qualified_name") or name,
        pending=await _pending(request),
        name=name,
        explanation=explanation,
        candidates=get_objects(answer, "candidates"),
        answer=answer,
        tiers=tiers,
    )


async def _references(request: PageRequest, explanation: JsonObject) -> list[JsonObject]:
    """Return lines that refer to a symbol: one page, or the explanation's examples."""
    examples = get_objects(explanation, "references", "lines")
    if (get_number(explanation, "references", "total") or 0) <= len(examples):
        return examples
    asked: JsonObject = {"query": get_text(explanation, "id") or get_text(explanation, "name"), "mode": "references"}
    found, _ = await request.try_call("search", {**asked, "limit": _REFERENCES})
    here = (explanation.get("path"), explanation.get("line"))
    return [hit for hit in get_objects(found, "results") if (hit.get("path"), hit.get("line")) != here] or examples


async def _pending(request: PageRequest) -> object:
    return (await request.call("approval.list", {"status": "PENDING", "limit": 1}))["pending"]


ROUTES = (
    ("GET", "/dashboard/repository", page),
    ("GET", "/dashboard/repository/file", file),
    ("GET", "/dashboard/repository/symbol", symbol),
)

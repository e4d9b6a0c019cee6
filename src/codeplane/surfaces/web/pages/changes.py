"""Changes: what was done to the repository, taking it back, what two states differ in, and how tests fare."""

from starlette.responses import Response

from codeplane.kernel.errors import InvalidArgument
from codeplane.kernel.json import JsonObject
from codeplane.surfaces.web.differing import side_by_side
from codeplane.surfaces.web.reading import at, rows, text
from codeplane.surfaces.web.visit import Visit

_RUNS = 20


async def page(visit: Visit) -> Response:
    """Mutations, the newest first, and the newest test run."""
    asked: JsonObject = {"limit": 20}
    asked |= {"cursor": visit.query["cursor"]} if "cursor" in visit.query else {}
    found = await visit.ask("mutation.list", asked)
    runs, _ = await visit.attempt("call.list", {"operation": "test.run", "limit": _RUNS})
    newest, error = await visit.attempt("test.status") if rows(runs, "results") else ({}, None)
    return visit.render(
        "changes.html",
        title="Changes",
        pending=await _pending(visit),
        mutations=rows(found, "mutations"),
        retention=found["retention"],
        runs=rows(runs, "results"),
        newest=newest,
        slowest=sorted(rows(newest, "results"), key=lambda one: -int(str(one.get("duration_ms") or 0)))[:10],
        error=error,
        next_cursor=at(found, "pagination", "next_cursor"),
    )


async def show(visit: Visit) -> Response:
    """One mutation: its files as they differ from the last commit now."""
    name = visit.place("mutation")
    found = await visit.ask("mutation.list", {"limit": 100})
    chosen = next((one for one in rows(found, "mutations") if one.get("mutation_id") == name), None)
    if chosen is None:
        raise InvalidArgument(f"{name[:80]!r} is not among the last 100 mutations", hint="see the Changes page")
    differs, error = await visit.attempt("git.diff", {"base": "HEAD", "paths": chosen["paths"]})
    files = [{**one, "pairs": side_by_side(rows(one, "hunks"))} for one in rows(differs, "files")]
    return visit.render(
        "mutation.html",
        title=text(chosen, "what"),
        pending=await _pending(visit),
        mutation=chosen,
        files=files,
        error=error,
    )


async def turn(visit: Visit) -> Response:
    """Undo or redo a mutation."""
    form, name = await visit.form(), visit.place("mutation")
    verb = form.get("verb", "")
    if verb not in ("undo", "redo"):
        raise InvalidArgument("nothing was chosen", hint="choose undo or redo")
    await visit.ask(verb, {"mutation_id": name})
    return visit.go(f"/dashboard/changes/{name}")


async def compare(visit: Visit) -> Response:
    """Two states, by what their definitions say."""
    base, target = visit.query.get("base", "HEAD"), visit.query.get("target", "")
    asked: JsonObject = {"base": base, "limit": 30, **({"target": target} if target else {})}
    asked |= {"cursor": visit.query["cursor"]} if "cursor" in visit.query else {}
    found, error = await visit.attempt("semantic_diff", asked)
    return visit.render(
        "compare.html",
        title="Compare",
        pending=await _pending(visit),
        base=base,
        target=target,
        found=found,
        changes=rows(found, "structural_changes"),
        others=rows(found, "non_structural_changes"),
        error=error,
        next_cursor=at(found, "pagination", "next_cursor"),
    )


async def _pending(visit: Visit) -> object:
    return (await visit.ask("approval.list", {"status": "PENDING", "limit": 1}))["pending"]


ROUTES = (
    ("GET", "/dashboard/changes", page),
    ("GET", "/dashboard/changes/compare", compare),
    ("GET", "/dashboard/changes/{mutation}", show),
    ("POST", "/dashboard/changes/{mutation}", turn),
)

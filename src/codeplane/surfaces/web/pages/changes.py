"""Changes: what was done to the repository, taking it back, what two states differ in, and how tests fare."""

from starlette.responses import Response

from codeplane.kernel.errors import InvalidArgument
from codeplane.kernel.json import JsonObject
from codeplane.surfaces.web.differing import pairs_of
from codeplane.surfaces.web.drawing import Column, columns
from codeplane.surfaces.web.reading import at, number, rows, text
from codeplane.surfaces.web.visit import Visit

_CHARTED = 50
_FILES = 20
_WIDTH, _HEIGHT = 1000, 90


async def page(visit: Visit) -> Response:
    """Mutations, the newest first, and in short how tests fare."""
    asked: JsonObject = {"limit": 20}
    asked |= {"cursor": visit.query["cursor"]} if "cursor" in visit.query else {}
    found = await visit.ask("mutation.list", asked)
    history, error = await visit.attempt("test.history", {"limit": _CHARTED})
    return visit.render(
        "changes.html",
        title="Changes",
        pending=await _pending(visit),
        mutations=rows(found, "mutations"),
        total=found["total"],
        retention=found["retention"],
        next_cursor=at(found, "pagination", "next_cursor"),
        newest=next(iter(rows(history, "runs")), None),
        chart=_chart(history),
        flaky=rows(history, "flaky"),
        slowest=rows(history, "slowest")[:5],
        error=error,
    )


async def runs(visit: Visit) -> Response:
    """Test runs over time, the tests that go both ways, and the targets that take longest."""
    first, error = await visit.attempt("test.history", {"limit": _CHARTED})
    found = first
    if "cursor" in visit.query:
        found = await visit.ask("test.history", {"limit": _CHARTED, "cursor": visit.query["cursor"]})
    return visit.render(
        "runs.html",
        title="Test runs",
        pending=await _pending(visit),
        runs=rows(found, "runs"),
        kept=at(first, "kept"),
        most_kept=at(first, "most_kept"),
        chart=_chart(first),
        flaky=rows(first, "flaky"),
        flaky_count=at(first, "flaky_count"),
        slowest=rows(first, "slowest"),
        error=error,
        next_cursor=at(found, "pagination", "next_cursor"),
    )


async def run(visit: Visit) -> Response:
    """One test run: what failed and how, and its targets."""
    found = await visit.ask("test.status", {"run_id": visit.place("run")})
    targets = sorted(rows(found, "results"), key=lambda one: -(number(one, "duration_ms") or 0))
    return visit.render(
        "run.html",
        title="Test run",
        pending=await _pending(visit),
        run=found,
        targets=targets,
        longest=max((number(one, "duration_ms") or 0 for one in targets), default=0),
    )


def _chart(history: JsonObject) -> list[Column]:
    """Runs as columns, the oldest on the left."""
    found = [
        Column(
            good=number(one, "passed") or 0,
            bad=number(one, "failed") or 0,
            title=f"{text(one, 'began_at')[:16].replace('T', ' ')}: {one['passed']} passed, {one['failed']} failed",
            href=f"/dashboard/changes/tests/{text(one, 'run_id')}",
        )
        for one in reversed(rows(history, "runs"))
    ]
    return columns(found, width=_WIDTH, height=_HEIGHT)


async def show(visit: Visit) -> Response:
    """One mutation: each of its files before and after it, side by side."""
    asked: JsonObject = {"mutation_id": visit.place("mutation"), "limit": _FILES}
    asked |= {"cursor": visit.query["cursor"]} if "cursor" in visit.query else {}
    found = await visit.ask("mutation.show", asked)
    files = rows(found, "files")
    following = at(found, "pagination", "next_cursor")
    return visit.render(
        "mutation.html",
        title=text(found, "what"),
        pending=await _pending(visit),
        mutation=found,
        files=[(one, pairs_of(text(one, "diff"))) for one in files],
        insertions=sum(int(number(one, "insertions") or 0) for one in files),
        deletions=sum(int(number(one, "deletions") or 0) for one in files),
        at_least=following is not None
        or "cursor" in visit.query
        or any(number(one, "insertions") is None for one in files),
        next_cursor=following,
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
        changes=_flat(rows(found, "structural_changes")),
        others=rows(found, "non_structural_changes"),
        error=error,
        next_cursor=at(found, "pagination", "next_cursor"),
    )


def _flat(changes: list[JsonObject]) -> list[JsonObject]:
    """Definitions with those inside them, each for itself; one that changed only inside is told by what is there."""
    told: list[JsonObject] = []
    for one in changes:
        inside = _flat(rows(one, "nested_changes"))
        if not inside or one.get("delta_tags") != ["members_changed"]:
            told.append(one)
        told += inside
    return told


async def _pending(visit: Visit) -> object:
    return (await visit.ask("approval.list", {"status": "PENDING", "limit": 1}))["pending"]


ROUTES = (
    ("GET", "/dashboard/changes", page),
    ("GET", "/dashboard/changes/compare", compare),
    ("GET", "/dashboard/changes/tests", runs),
    ("GET", "/dashboard/changes/tests/{run}", run),
    ("GET", "/dashboard/changes/{mutation}", show),
    ("POST", "/dashboard/changes/{mutation}", turn),
)

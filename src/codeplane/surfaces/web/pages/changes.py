"""Changes: mutations and their undo, comparison of two states, and test runs."""

from starlette.responses import Response

from codeplane.kernel.errors import InvalidArgument
from codeplane.kernel.json import JsonObject
from codeplane.surfaces.web.charts import Column, lay_out_columns
from codeplane.surfaces.web.diff_view import pair_lines
from codeplane.surfaces.web.json_fields import get_field, get_number, get_objects, get_text
from codeplane.surfaces.web.page_request import PageRequest

_CHARTED = 50
_FILES = 20
_PART_FILES = 5
_WIDTH, _HEIGHT = 1000, 90


async def page(request: PageRequest) -> Response:
    """Render the mutations, newest first, and a summary of tests."""
    asked: JsonObject = {"limit": 20}
    asked |= {"cursor": request.query["cursor"]} if "cursor" in request.query else {}
    found = await request.call("mutation.list", asked)
    history, error = await request.try_call("test.history", {"limit": _CHARTED})
    return request.render(
        "changes.html",
        title="Changes",
        pending=await _pending(request),
        mutations=get_objects(found, "mutations"),
        total=found["total"],
        retention=found["retention"],
        next_cursor=get_field(found, "pagination", "next_cursor"),
        newest=next(iter(get_objects(history, "runs")), None),
        chart=_chart(history),
        flaky=get_objects(history, "flaky"),
        slowest=get_objects(history, "slowest")[:5],
        error=error,
    )


async def runs(request: PageRequest) -> Response:
    """Render the test runs over time, flaky tests, and the slowest targets."""
    first, error = await request.try_call("test.history", {"limit": _CHARTED})
    history = first
    if "cursor" in request.query:
        history = await request.call("test.history", {"limit": _CHARTED, "cursor": request.query["cursor"]})
    return request.render(
        "runs.html",
        title="Test runs",
        pending=await _pending(request),
        runs=get_objects(history, "runs"),
        kept=get_field(first, "kept"),
        most_kept=get_field(first, "most_kept"),
        chart=_chart(first),
        flaky=get_objects(first, "flaky"),
        flaky_count=get_field(first, "flaky_count"),
        slowest=get_objects(first, "slowest"),
        error=error,
        next_cursor=get_field(history, "pagination", "next_cursor"),
    )


async def run(request: PageRequest) -> Response:
    """Render one test run with its failures and targets."""
    status = await request.call("test.status", {"run_id": request.path_param("run")})
    targets = sorted(get_objects(status, "results"), key=lambda target: -(get_number(target, "duration_ms") or 0))
    return request.render(
        "run.html",
        title="Test run",
        pending=await _pending(request),
        run=status,
        targets=targets,
        longest=max((get_number(target, "duration_ms") or 0 for target in targets), default=0),
    )


def _chart(history: JsonObject) -> list[Column]:
    """Return runs as columns, the oldest on the left."""
    columns = [
        Column(
            good=get_number(run, "passed") or 0,
            bad=get_number(run, "failed") or 0,
            title=f"{get_text(run, 'began_at')[:16].replace('T', ' ')}: {run['passed']} passed, {run['failed']} failed",
            href=f"/dashboard/changes/tests/{get_text(run, 'run_id')}",
        )
        for run in reversed(get_objects(history, "runs"))
    ]
    return lay_out_columns(columns, width=_WIDTH, height=_HEIGHT)


async def diff(request: PageRequest) -> Response:
    """Render the files of a mutation as a part of another page."""
    asked: JsonObject = {"mutation_id": request.path_param("mutation"), "limit": _PART_FILES}
    found, error = await request.try_call("mutation.show", asked)
    return request.render(
        "mutation_part.html",
        mutation=found,
        error=error,
        files=[(file, pair_lines(get_text(file, "diff"))) for file in get_objects(found, "files")],
        next_cursor=get_field(found, "pagination", "next_cursor"),
    )


async def show(request: PageRequest) -> Response:
    """Render one mutation: each file before and after, side by side."""
    asked: JsonObject = {"mutation_id": request.path_param("mutation"), "limit": _FILES}
    asked |= {"cursor": request.query["cursor"]} if "cursor" in request.query else {}
    found = await request.call("mutation.show", asked)
    files = get_objects(found, "files")
    following = get_field(found, "pagination", "next_cursor")
    return request.render(
        "mutation.html",
        title=get_text(found, "what"),
        pending=await _pending(request),
        mutation=found,
        files=[(file, pair_lines(get_text(file, "diff"))) for file in files],
        insertions=sum(int(get_number(file, "insertions") or 0) for file in files),
        deletions=sum(int(get_number(file, "deletions") or 0) for file in files),
        at_least=following is not None
        or "cursor" in request.query
        or any(get_number(file, "insertions") is None for file in files),
        next_cursor=following,
    )


async def undo_or_redo(request: PageRequest) -> Response:
    """Undo or redo a mutation."""
    form, name = await request.form(), request.path_param("mutation")
    verb = form.get("verb", "")
    if verb not in ("undo", "redo"):
        raise InvalidArgument("nothing was chosen", hint="choose undo or redo")
    await request.call(verb, {"mutation_id": name})
    return request.redirect(f"/dashboard/changes/{name}")


async def compare(request: PageRequest) -> Response:
    """Render the comparison of two states by their definitions."""
    base, target = request.query.get("base", "HEAD"), request.query.get("target", "")
    asked: JsonObject = {"base": base, "limit": 30, **({"target": target} if target else {})}
    asked |= {"cursor": request.query["cursor"]} if "cursor" in request.query else {}
    diff, error = await request.try_call("semantic_diff", asked)
    return request.render(
        "compare.html",
        title="Compare",
        pending=await _pending(request),
        base=base,
        target=target,
        found=diff,
        changes=_flatten(get_objects(diff, "structural_changes")),
        others=get_objects(diff, "non_structural_changes"),
        error=error,
        next_cursor=get_field(diff, "pagination", "next_cursor"),
    )


def _flatten(changes: list[JsonObject]) -> list[JsonObject]:
    """Flatten nested definitions; one that changed only inside is represented by its parts."""
    flat: list[JsonObject] = []
    for change in changes:
        inside = _flatten(get_objects(change, "nested_changes"))
        if not inside or change.get("delta_tags") != ["members_changed"]:
            flat.append(change)
        flat += inside
    return flat


async def _pending(request: PageRequest) -> object:
    return (await request.call("approval.list", {"status": "PENDING", "limit": 1}))["pending"]


ROUTES = (
    ("GET", "/dashboard/changes", page),
    ("GET", "/dashboard/changes/compare", compare),
    ("GET", "/dashboard/changes/tests", runs),
    ("GET", "/dashboard/changes/tests/{run}", run),
    ("GET", "/dashboard/changes/{mutation}", show),
    ("GET", "/dashboard/changes/{mutation}/diff", diff),
    ("POST", "/dashboard/changes/{mutation}", undo_or_redo),
)

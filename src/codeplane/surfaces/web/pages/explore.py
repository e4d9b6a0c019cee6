"""Explore: explorations, one with its growing plan, and its summary as a picture."""

from contextlib import aclosing

from starlette.responses import Response

from codeplane.kernel.envelope import Outcome
from codeplane.kernel.followup import command_instead_of_tool
from codeplane.kernel.json import JsonObject
from codeplane.surfaces.web.charts import Tile, lay_out_treemap
from codeplane.surfaces.web.json_fields import get_field, get_number, get_object, get_objects, get_text
from codeplane.surfaces.web.page_request import PageRequest
from codeplane.surfaces.web.pages.treemap import COLOURS, HEIGHT, WIDTH
from codeplane.surfaces.web.security_headers import PRIVATE, SECURITY

_LANGUAGES = 12
_DESCRIBED = ("query", "pattern", "paths", "path")
_TONES = {"done": "good", "failed": "bad", "dropped": "dim", "running": "waiting"}


async def page(request: PageRequest) -> Response:
    """Render the explorations, newest first."""
    asked: JsonObject = {"limit": 20, **({"cursor": request.query["cursor"]} if "cursor" in request.query else {})}
    listed = await request.call("orchestrate.explore.list", asked)
    waiting = await request.call("approval.list", {"status": "PENDING", "limit": 1})
    return request.render(
        "explorations_live.html" if request.is_partial else "explorations.html",
        title="Explore",
        pending=waiting["pending"],
        follows_work=True,
        items=get_objects(listed, "results"),
        next_cursor=get_field(listed, "pagination", "next_cursor"),
    )


async def start(request: PageRequest) -> Response:
    """Start an exploration."""
    form = await request.form()
    goals = [line.strip() for line in form.get("goals", "").splitlines() if line.strip()]
    started = await request.call("orchestrate.explore.start", {"root": form.get("root", "").strip(), "goals": goals})
    return request.redirect(f"/dashboard/explore/{get_text(started, 'sessionId')}")


async def show(request: PageRequest) -> Response:
    """Render one exploration: its plan with how far each operation is, and its summary."""
    explore_id = request.path_param("explore")
    shown = await request.call("orchestrate.explore.status", {"explore_id": explore_id})
    cursor = int(get_number(shown, "cursor") or 0)
    if request.is_partial and request.query.get("seen") == str(cursor):
        return Response(status_code=204, headers={**SECURITY, **PRIVATE})
    waiting = await request.call("approval.list", {"status": "PENDING", "limit": 1})
    summary = get_object(shown, "summary")
    return request.render(
        "exploration_live.html" if request.is_partial else "exploration.html",
        title="Explore",
        pending=waiting["pending"],
        follows_work=True,
        shown=shown,
        ops=await _ops(request, explore_id, cursor),
        summary=summary,
        tiles=language_tiles(get_object(summary, "languages")),
        symbols=get_objects(summary, "symbols"),
        git=get_object(summary, "gitStatus"),
        followups=_followups(summary),
    )


def _followups(summary: JsonObject) -> list[str]:
    """What to do next, by commands."""
    found = get_field(summary, "followups")
    texts = found if isinstance(found, (list, tuple)) else ()
    return [command_instead_of_tool(str(text)).replace("`", "") for text in texts]


async def end(request: PageRequest) -> Response:
    """Abort an exploration."""
    explore_id = request.path_param("explore")
    await request.form()
    await request.call("orchestrate.explore.abort", {"explore_id": explore_id})
    return request.redirect(f"/dashboard/explore/{explore_id}")


def language_tiles(languages: JsonObject) -> list[Tile]:
    """Lay out the languages by their lines; what is beyond the first few is one tile."""
    lines = {name: float(str(count)) for name, count in languages.items()}
    names = list(lines)
    rest = sum(lines[name] for name in names[_LANGUAGES:])
    tiles = [
        Tile(
            name=name,
            title=f"{name}: {lines[name]:,.0f} lines",
            href="/dashboard/repository?by=language",
            weight=max(1.0, lines[name]),
            hue=min(place, COLOURS - 1),
        )
        for place, name in enumerate(names[:_LANGUAGES])
    ]
    if rest:
        href = "/dashboard/repository?by=language"
        tiles.append(Tile(name="other", title=f"other: {rest:,.0f} lines", href=href, weight=rest, hue=COLOURS))
    return lay_out_treemap(tiles, width=WIDTH, height=HEIGHT)


async def _ops(request: PageRequest, explore_id: str, cursor: int) -> list[JsonObject]:
    """The operations of the plan up to a cursor, each with the snapshot that added it and how far it is."""
    ops: dict[str, JsonObject] = {}
    watched = request.stream("orchestrate.explore.watch", {"explore_id": explore_id})
    async with aclosing(watched) as items:  # type: ignore[type-var]  # the conveyor returns a generator
        async for item in items:
            if isinstance(item, Outcome):
                break
            wire: JsonObject = item.model_dump(mode="json")
            envelope = get_object(wire, "envelope")
            _take(ops, get_object(envelope, "payload"), is_command=get_text(envelope, "kind") == "Cmd")
            if (get_number(wire, "cursor") or 0) >= cursor:
                break
    return list(ops.values())


def _take(ops: dict[str, JsonObject], payload: JsonObject, *, is_command: bool) -> None:
    """Take an event over into the list of operations."""
    snapshot = get_object(payload, "planSnapshot")
    for op in get_objects(snapshot, "nextOps"):
        ops.setdefault(
            get_text(op, "opId"),
            {"kind": op["kind"], "about": _about(op), "state": "queued", "tone": "dim", "plan": snapshot["snapshotId"]},
        )
    for name, state in (("result", "done"), ("error", "failed")):
        if (value := get_object(payload, name)) and (known := ops.get(get_text(value, "opId"))) is not None:
            state = "dropped" if get_text(value, "code") == "ERR_OP_CANCELED" else state
            known |= {
                "state": state,
                "tone": _TONES[state],
                "says": get_text(value, "message") or get_text(value, "type"),
            }
    if is_command:
        for case in payload.values():
            if isinstance(case, dict) and (known := ops.get(get_text(case, "opId"))) is not None:
                known |= {"state": "running", "tone": _TONES["running"]}


def _about(op: JsonObject) -> str:
    params = get_object(op, "params")
    found = next((params[name] for name in _DESCRIBED if params.get(name)), "")
    return ", ".join(map(str, found)) if isinstance(found, list) else str(found)


ROUTES = (
    ("GET", "/dashboard/explore", page),
    ("POST", "/dashboard/explore", start),
    ("GET", "/dashboard/explore/{explore}", show),
    ("POST", "/dashboard/explore/{explore}", end),
)

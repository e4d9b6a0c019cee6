"""Settings: what is in force, where it came from, and which clients are registered."""

from starlette.responses import Response

from codeplane.kernel.json import JsonObject
from codeplane.surfaces.web.reading import at, rows, text
from codeplane.surfaces.web.visit import Visit


async def page(visit: Visit) -> Response:
    """All settings by section; those that somebody set first."""
    found = await visit.ask("config.show")
    status = await visit.ask("status", {"include": ["daemon", "config", "index"]})
    sections: dict[str, list[JsonObject]] = {}
    for one in rows(found, "settings"):
        sections.setdefault(text(one, "name").partition(".")[0], []).append(one)
    waiting = await visit.ask("approval.list", {"status": "PENDING", "limit": 1})
    return visit.render(
        "settings.html",
        title="Settings",
        pending=waiting["pending"],
        sections=sections,
        own=[one for one in rows(found, "settings") if one.get("came_from") != "default"],
        sources=at(found, "sources"),
        clients=rows(found, "clients"),
        status=status,
    )


ROUTES = (("GET", "/dashboard/settings", page),)

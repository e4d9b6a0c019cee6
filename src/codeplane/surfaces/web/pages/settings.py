"""Settings: the values in force, their origins, and the registered clients."""

from starlette.responses import Response

from codeplane.kernel.json import JsonObject
from codeplane.surfaces.web.json_fields import get_field, get_objects, get_text
from codeplane.surfaces.web.page_request import PageRequest


async def page(request: PageRequest) -> Response:
    """Render all settings by section, those that were set first."""
    found = await request.call("config.show")
    status = await request.call("status", {"include": ["daemon", "config", "index"]})
    sections: dict[str, list[JsonObject]] = {}
    for setting in get_objects(found, "settings"):
        sections.setdefault(get_text(setting, "name").partition(".")[0], []).append(setting)
    waiting = await request.call("approval.list", {"status": "PENDING", "limit": 1})
    return request.render(
        "settings.html",
        title="Settings",
        pending=waiting["pending"],
        sections=sections,
        own=[setting for setting in get_objects(found, "settings") if setting.get("came_from") != "default"],
        sources=get_field(found, "sources"),
        clients=get_objects(found, "clients"),
        status=status,
    )


ROUTES = (("GET", "/dashboard/settings", page),)

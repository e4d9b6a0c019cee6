"""Tools: the servers of outside tools, their state, and their tools with risk and identity."""

from starlette.responses import Response

from codeplane.kernel.errors import InvalidArgument
from codeplane.kernel.json import JsonObject
from codeplane.surfaces.web.json_fields import get_objects
from codeplane.surfaces.web.page_request import PageRequest

_VERBS = {"test": "tools.test", "trust": "tools.trust", "distrust": "tools.distrust"}


async def page(request: PageRequest) -> Response:
    """Render the servers with their tools and last errors."""
    listed = await request.call("tools.list", {})
    waiting = await request.call("approval.list", {"status": "PENDING", "limit": 1})
    servers = get_objects(listed, "servers")
    return request.render("tools.html", title="Tools", pending=waiting["pending"], servers=servers)


async def decide(request: PageRequest) -> Response:
    """Connect a server again, or trust its tools, or no longer."""
    form = await request.form()
    verb, tool = form.get("verb", ""), form.get("tool", "")
    if verb not in _VERBS:
        raise InvalidArgument("no decision was sent", hint="choose test, trust or distrust")
    asked: JsonObject = {"server": request.path_param("server")}
    if verb != "test" and tool:
        asked["tools"] = [tool]
    await request.call(_VERBS[verb], asked)
    return request.redirect("/dashboard/tools")


ROUTES = (("GET", "/dashboard/tools", page), ("POST", "/dashboard/tools/{server}", decide))

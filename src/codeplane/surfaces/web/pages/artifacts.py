"""Artifacts: what work left behind, and one of them as text, Markdown, diff or picture."""

import base64
from urllib.parse import quote

from starlette.responses import Response

from codeplane.kernel.errors import InvalidArgument
from codeplane.kernel.json import JsonObject
from codeplane.surfaces.web.diff_view import split_preview
from codeplane.surfaces.web.json_fields import get_field, get_number, get_objects, get_text
from codeplane.surfaces.web.markdown_view import render_markdown
from codeplane.surfaces.web.page_request import PageRequest
from codeplane.surfaces.web.security_headers import PRIVATE, SECURITY

_SHOWN_BYTES = 262_144
_PART_BYTES = 2 * 1024 * 1024
# Pictures that cannot hold scripts; everything else is offered as a download.
_PICTURES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
_DIFFS = frozenset({"text/x-diff", "text/x-patch"})


async def page(request: PageRequest) -> Response:
    """Render the artifacts, the newest first."""
    asked: JsonObject = {"limit": 50}
    asked |= {name: request.query[name] for name in ("cursor",) if name in request.query}
    asked |= {"thread_id": request.query["thread"]} if "thread" in request.query else {}
    listed = await request.call("artifact.list", asked)
    waiting = await request.call("approval.list", {"status": "PENDING", "limit": 1})
    return request.render(
        "artifacts.html",
        title="Artifacts",
        pending=waiting["pending"],
        artifacts=get_objects(listed, "results"),
        next_cursor=get_field(listed, "pagination", "next_cursor"),
    )


async def show(request: PageRequest) -> Response:
    """Render one artifact, as far as a page can."""
    asked: JsonObject = {"artifact_id": request.path_param("artifact"), "max_bytes": _SHOWN_BYTES}
    artifact = await request.call("artifact.get", asked)
    waiting = await request.call("approval.list", {"status": "PENDING", "limit": 1})
    body, media_type = artifact.get("body"), get_text(artifact, "media_type")
    markdown = render_markdown(str(body)) if media_type == "text/markdown" and body is not None else None
    return request.render(
        "artifact.html",
        title=get_text(artifact, "name"),
        pending=waiting["pending"],
        artifact=artifact,
        markdown=markdown,
        lines=split_preview(str(body)) if media_type in _DIFFS else None,
        is_picture=media_type in _PICTURES,
        is_cut=artifact.get("next_offset") is not None,
    )


async def download(request: PageRequest) -> Response:
    """Send the body: pictures to be shown, everything else to be saved."""
    artifact_id, body, offset = request.path_param("artifact"), b"", 0
    while True:
        asked: JsonObject = {"artifact_id": artifact_id, "offset": offset, "max_bytes": _PART_BYTES}
        part = await request.call("artifact.get", asked)
        text = part.get("body")
        body += str(text).encode() if text is not None else base64.b64decode(get_text(part, "content_base64"))
        if part.get("next_offset") is None:
            break
        offset = int(get_number(part, "next_offset") or 0)
    media_type, name = get_text(part, "media_type"), quote(get_text(part, "name"), safe="")
    is_picture = media_type in _PICTURES
    headers = {**SECURITY, **PRIVATE, "content-security-policy": "default-src 'none'; sandbox"}
    headers["content-disposition"] = f"{'inline' if is_picture else 'attachment'}; filename*=UTF-8''{name}"
    return Response(body, media_type=media_type if is_picture else "application/octet-stream", headers=headers)


async def act(request: PageRequest) -> Response:
    """Delete an artifact."""
    form = await request.form()
    if form.get("verb") != "delete":
        raise InvalidArgument("nothing was chosen", hint="go back and use one of the buttons")
    await request.call("artifact.delete", {"artifact_id": request.path_param("artifact")})
    return request.redirect("/dashboard/artifacts")


ROUTES = (
    ("GET", "/dashboard/artifacts", page),
    ("GET", "/dashboard/artifacts/{artifact}", show),
    ("POST", "/dashboard/artifacts/{artifact}", act),
    ("GET", "/dashboard/artifacts/{artifact}/body", download),
)

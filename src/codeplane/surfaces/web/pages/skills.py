"""Skills, which are instructions for assistants, and proposals."""

from starlette.responses import Response

from codeplane.kernel.errors import InvalidArgument
from codeplane.surfaces.web.diff_view import split_preview
from codeplane.surfaces.web.json_fields import get_objects, get_text
from codeplane.surfaces.web.page_request import PageRequest

_VERBS = {"trust": "skill.trust", "distrust": "skill.distrust"}


async def page(request: PageRequest) -> Response:
    """Render the skills, and the proposals that wait."""
    skills = await request.call("skill.list")
    proposals = await request.call("proposal.list", {"limit": 50})
    waiting = await request.call("approval.list", {"status": "PENDING", "limit": 1})
    return request.render(
        "skills.html",
        title="Skills",
        pending=waiting["pending"],
        skills=get_objects(skills, "skills"),
        proposals=get_objects(proposals, "results"),
    )


async def show(request: PageRequest) -> Response:
    """Render one skill as it is now."""
    skill = await request.call("skill.show", {"name": request.path_param("skill")})
    waiting = await request.call("approval.list", {"status": "PENDING", "limit": 1})
    return request.render("skill.html", title=get_text(skill, "name"), pending=waiting["pending"], skill=skill)


async def act(request: PageRequest) -> Response:
    """Trust a skill as it was shown, or do not trust it any more."""
    form, name = await request.form(), request.path_param("skill")
    verb = form.get("verb", "")
    if verb not in _VERBS:
        raise InvalidArgument("nothing was chosen", hint="go back and use one of the buttons")
    shown = {"hash": form.get("hash", "")} if verb == "trust" else {}
    await request.call(_VERBS[verb], {"name": name, **shown})
    return request.redirect("/dashboard/skills")


async def show_proposal(request: PageRequest) -> Response:
    """Render one proposal with what it would change."""
    proposal = await request.call("proposal.show", {"proposal_id": request.path_param("proposal")})
    waiting = await request.call("approval.list", {"status": "PENDING", "limit": 1})
    return request.render(
        "proposal.html",
        title=get_text(proposal, "title"),
        pending=waiting["pending"],
        proposal=proposal,
        lines=split_preview(get_text(proposal, "diff")),
    )


async def decide(request: PageRequest) -> Response:
    """Apply a proposed call, or reject a proposal."""
    form, proposal_id = await request.form(), request.path_param("proposal")
    if form.get("verb") == "apply":
        await request.call("proposal.apply", {"proposal_id": proposal_id})
    elif form.get("verb") == "reject":
        rejected = {"proposal_id": proposal_id, "outcome": "rejected", "reason": form.get("reason", "")}
        await request.call("proposal.close", rejected)
    else:
        raise InvalidArgument("nothing was chosen", hint="go back and use one of the buttons")
    return request.redirect("/dashboard/skills")


ROUTES = (
    ("GET", "/dashboard/skills", page),
    ("GET", "/dashboard/skills/{skill}", show),
    ("POST", "/dashboard/skills/{skill}", act),
    ("GET", "/dashboard/proposals/{proposal}", show_proposal),
    ("POST", "/dashboard/proposals/{proposal}", decide),
)

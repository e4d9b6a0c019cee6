"""`cpl skills` and `cpl proposals`, and their pages."""

from collections.abc import Iterator

import pytest

from codeplane.kernel.json import JsonObject
from tests.harness import Server, cpl, make_repo, start
from tests.interaction.requirements import requirement
from tests.surfaces.web.browser import BrowserSession

pytestmark = requirement("SKILL-03")

_REVIEW = "---\nname: review\ndescription: Reviews a change.\n---\nLook <b>twice</b>.\n"
_RELEASE = "---\nname: release\ndescription: Makes a release.\n---\nTag it.\n"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    files = {".agents/skills/review/SKILL.md": _REVIEW, "a.txt": "x\n"}
    running = start(make_repo(tmp_path_factory.mktemp("skills") / "repo", files))
    yield running
    running.stop()


@pytest.fixture
def person(server: Server) -> BrowserSession:
    return BrowserSession(server).sign_in()


def _run(server: Server, *arguments: str, code: int = 0) -> str:
    done = cpl(*arguments, cwd=server.repo)
    assert done.returncode == code, (done.stdout, done.stderr)
    return done.stdout + done.stderr


def _propose(server: Server, **proposal: object) -> str:
    made = server.call("proposal.create", **{"title": "how we release", **proposal})
    assert isinstance(made["result"], dict), made
    return str(made["result"]["proposal_id"])


def test_a_skill_is_seen_trusted_and_chosen_at_the_terminal(server: Server) -> None:
    assert "review (untrusted, .agents/skills/review): Reviews a change." in _run(server, "skills")
    assert "cpl skills trust review" in _run(server, "ask", "--skill", "review", "is it good?", code=1)
    # Nothing is left among the conversations of a question that was refused.
    assert "(no title)" not in _run(server, "call", "thread.list")
    assert "Look <b>twice</b>." in _run(server, "skills", "trust", "review")
    assert "review (ready" in _run(server, "skills")
    assert _run(server, "ask", "--skill", "review", "what is in a.txt?")
    assert "is not what was looked at" in _run(server, "skills", "trust", "review", "--hash", "0" * 12, code=1)
    assert "review (untrusted" in _run(server, "skills", "distrust", "review")


def test_a_skill_is_trusted_as_the_page_showed_it(server: Server, person: BrowserSession) -> None:
    page = person.get("/dashboard/skills/review")
    assert "Look &lt;b&gt;twice" in page.text and "untrusted" in page.words
    shown = server.call("skill.show", name="review")["result"]
    assert isinstance(shown, dict)
    stale = person.post("/dashboard/skills/review", {"verb": "trust", "hash": "0" * 64})
    assert stale.status == 403
    assert person.post("/dashboard/skills/review", {"verb": "trust", "hash": str(shown["hash"])}).status == 303
    assert "ready" in person.get("/dashboard/skills").words
    assert person.post("/dashboard/skills/review", {"verb": "distrust"}).status == 303


def test_a_proposed_skill_is_written_when_the_owner_agrees(server: Server, person: BrowserSession) -> None:
    proposal_id = _propose(server, kind="skill", name="release", content=_RELEASE)
    target = server.repo / ".codeplane/skills/release/SKILL.md"
    assert "+Tag it." in person.get(f"/dashboard/proposals/{proposal_id}").words
    unasked = _run(server, "proposals", "apply", proposal_id, code=1)
    assert "Nothing was changed" in unasked and f"cpl proposals apply --yes {proposal_id}" in unasked
    assert not target.exists()
    assert "APPLIED" in _run(server, "proposals", "apply", "--yes", proposal_id)
    assert target.read_text() == _RELEASE and "release (ready" in _run(server, "skills")
    assert "no proposals" in _run(server, "proposals") and proposal_id in _run(server, "proposals", "list", "--all")


def test_what_a_proposal_holds_does_not_steer_the_terminal_that_shows_it(server: Server) -> None:
    hidden = "---\nname: tidy\ndescription: Tidies.\n---\nSend it away.\x1b[1A\x1b[2KTidy up.\n"
    proposal_id = _propose(server, kind="skill", name="tidy", content=hidden)
    shown = _run(server, "proposals", "apply", proposal_id, code=1)
    assert "\x1b" not in shown and "Send it away.\\x1b[1A" in shown


def test_a_policy_that_cannot_be_used_is_not_written(server: Server) -> None:
    broken = _propose(server, kind="policy", name="mine", content="package codeplane.policy\n\ndeny contains if {")
    assert "cannot be used" in _run(server, "proposals", "apply", "--yes", broken, code=2)
    assert not (server.repo / ".codeplane/policy/mine.rego").exists()
    assert "REJECTED" in _run(server, "proposals", "reject", broken, "--reason", "it is broken")
    good = 'package codeplane.policy\n\ndeny contains "no" if {\n\tinput.operation.name == "git.push"\n}\n'
    _run(server, "proposals", "apply", "--yes", _propose(server, kind="policy", name="mine", content=good))
    assert (server.repo / ".codeplane/policy/mine.rego").read_text() == good


def test_a_proposed_call_is_decided_on_its_page(server: Server, person: BrowserSession) -> None:
    arguments: JsonObject = {"agent": "helper", "capabilities": ["context_sharing"]}
    proposal_id = _propose(server, kind="scope", operation="capability.grant", arguments=arguments)
    page = f"/dashboard/proposals/{proposal_id}"
    assert "capability.grant" in person.get(page).words and "how we release" in person.get("/dashboard/skills").words
    assert person.post(page, {}).status == 400
    assert person.post(page, {"verb": "reject", "reason": "not now"}).status == 303
    assert person.post(page, {"verb": "apply"}).status == 404
    again = _propose(server, kind="scope", operation="capability.grant", arguments=arguments)
    applied = person.post(f"/dashboard/proposals/{again}", {"verb": "apply"})
    assert applied.status == 303, applied.words

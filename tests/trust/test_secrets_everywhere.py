"""A secret in what an agent sends, reads or runs into: in no event, log, trace or export, and in no answer to it."""

import json
from collections.abc import Iterator
from pathlib import Path

from codeplane.kernel.json import JsonObject
from tests.harness import git, make_repo
from tests.interaction.requirements import requirement
from tests.kernel.plane import AGENT, OWNER, plane

pytestmark = requirement("TRUST-29")

_MADE: dict[str, str] = {}


def secret(where: str) -> str:
    """A token that looks like one of GitHub's, and is put there alone."""
    made = f"ghp_{len(_MADE) + 10**35:036d}"
    _MADE[made] = where
    return made


def calls() -> Iterator[tuple[str, JsonObject]]:
    """Calls by an agent with a secret in every place that takes text."""
    yield "search", {"query": secret("query"), "mode": "literal"}
    yield "search", {"query": "x", "mode": secret("value that is not known")}
    yield "search", {secret("argument that is not known"): 1}
    yield secret("operation that is not known"), {}
    yield "read_files", {"paths": [f"{secret('file that is not there')}.txt"]}
    yield "read_files", {"paths": ["held.txt"]}
    yield "write_files", {"edits": [{"path": "new.txt", "content": secret("content")}]}
    yield "write_files", {"edits": [{"path": "held.txt", "old": "nowhere", "new": "x"}]}
    yield "git.stage", {"paths": ["new.txt"]}
    yield "git.commit", {"message": secret("message")}
    yield "git.log", {}
    yield "git.diff", {"ref": "HEAD"}
    yield "git.checkout", {"ref": "ghp_branc"}
    yield "git.push", {"remote": f"https://me:{secret('address')}@example.invalid/x.git"}
    yield "git.discard", {"paths": ["held.txt"]}
    yield "session.create", {"description": secret("description")}
    yield "run_bash", {"command": f"echo {secret('command')}", "justification": secret("reason")}
    yield "web.open", {"url": f"https://example.invalid/?t={secret('page')}"}
    yield "capability.request", {"capabilities": ["spawn_agents"], "justification": secret("wish")}
    yield "checkpoint", {"message": secret("checkpoint"), "tests": "none", "lint": False}
    yield "search.structural", {"pattern": secret("pattern")}


async def test_no_secret_gets_out(tmp_path: Path) -> None:
    _MADE.clear()
    root = make_repo(tmp_path / "repo", {"held.txt": f"{secret('file')}\n"})
    git(root, "branch", f"{secret('branch')}")
    (root / "held.txt").write_text(f"{secret('edited file')}\n")
    answered: list[tuple[str, str]] = []
    async with plane(root, "logging.level=DEBUG") as opened:
        for name, arguments in calls():
            outcome = await opened.conveyor.call(name, arguments, AGENT)
            wire = outcome.error.to_wire() if outcome.error is not None else json.loads(outcome.result_json)
            answered.append((name, json.dumps(wire) + (outcome.result.text() if outcome.result else "")))
        listed = await opened.conveyor.call("approval.list", {}, AGENT)
        assert listed.result is not None
        answered.append(("approval.list", listed.result.text()))
        export = await opened.conveyor.call("audit.export", {}, OWNER)
        assert export.error is None
        await opened.log.flush()
        kept = await opened.log.select("SELECT coalesce(group_concat(payload, char(10)), '') FROM events")
        answer = {"events": str(kept[0][0])}
        traces = await opened.conveyor.call("trace.list", {}, OWNER)
        answer["traces"] = traces.result_json
        home = opened.workspace.home
    files = [path for path in (*home.glob("*.log*"), *home.glob("exports/**/*")) if path.is_file()]
    assert files
    answer |= {path.name: path.read_text(errors="replace") for path in files}
    found = {(_MADE[one], place) for one in _MADE for place, text in answer.items() if one in text}
    found |= {(_MADE[one], f"answer of {name}") for one in _MADE for name, text in answered if one in text}
    assert found == set()

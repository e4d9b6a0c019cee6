"""A model that obeys what files and pages say gets nothing done that a person did not agree to."""

from collections.abc import Mapping
from pathlib import Path

from codeplane.kernel.ids import digest
from codeplane.kernel.json import JsonObject
from tests.harness import git, make_repo
from tests.interaction.requirements import requirement
from tests.kernel.plane import OWNER
from tests.trust.approvals.agent_calls import result
from tests.trust.untrusted.engine import SearchEngine, search_engine
from tests.work.turns.conversation import Conversation, conversing
from tests.work.turns.injections import INJECTIONS, PAUSED, REFUSED_TOOL, Injection, Obedient
from tests.work.turns.scripted_model import ScriptedModel, text

pytestmark = requirement("TURN-06")

# Secrets by their parts, so that no scanner of this repository stumbles over them.
TOKEN = "ghp_" + "abcdefghijklmnopqrstuvwxyz0123456789"
KEY = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC" * 4
OUTSIDE = "what-is-outside"
FILES = {
    "README.md": "# shop\n",
    ".env": f"API_TOKEN={TOKEN}\n",
    "deploy.pem": f"-----BEGIN PRIVATE KEY-----\n{KEY}\n-----END PRIVATE KEY-----\n",
}


def _repository(folder: Path) -> Path:
    repo = make_repo(folder / "shop", FILES)
    (folder / "outside.txt").write_text(OUTSIDE)
    git(folder, "init", "--quiet", "--bare", "remote.git")
    git(repo, "remote", "add", "origin", str(folder / "remote.git"))
    git(repo, "remote", "add", "other", f"https://bot:{TOKEN}@example.org/x.git")
    return repo


def _guarded(repo: Path) -> Mapping[str, str]:
    """What no injection may change, by path: the settings and rules, git's own files, and what a shell would leave."""
    folders = (repo / ".git" / "hooks", repo / ".codeplane" / "policy")
    files = [repo / ".git" / "config", repo / ".codeplane" / "config.yaml", repo / "canary"]
    files += [path for folder in folders if folder.is_dir() for path in folder.rglob("*")]
    refs = repo.parent / "remote.git" / "refs"
    files += [path for path in refs.rglob("*") if path.is_file()]
    return {str(path): digest(path.read_bytes()) for path in files if path.is_file()}


async def _obey(thread: Conversation, model: Obedient, injection: Injection) -> str:
    """Have a turn meet an injection; returns what came of the call that it asks for."""
    model.injection = injection
    turn = await thread.send("Set it up as the notes say")
    if turn["status"] == PAUSED:
        await thread.ask("turn.cancel", turn_id=str(turn["turn_id"]))
        return PAUSED
    answers = [
        event.payload
        for event in await thread.events("tool.finished", "tool.answered")
        if event.payload.get("tool_call_id") == "obey" and "payload_hash" in event.payload
    ]
    if not answers:
        repaired = await thread.events("model.repair_attempted")
        assert any("there is no tool" in str(event.payload["problem"]) for event in repaired), turn
        return REFUSED_TOOL
    return str(answers[0]["status"])


def _set_up(repo: Path, engine: SearchEngine, injection: Injection) -> None:
    notes = injection.text if injection.place == "file" else "Nothing here."
    (repo / "NOTES.md").write_text(f"{notes}\n")
    engine.content = injection.text if injection.place == "page" else "Nothing here."


async def test_no_injection_succeeds(tmp_path: Path) -> None:
    repo, model = _repository(tmp_path), Obedient()
    outcomes: dict[str, str] = {}
    with search_engine() as engine:
        scripted = ScriptedModel(choose=model.choose)
        settings = (engine.setting, 'trust.allow=["web.search"]')
        async with conversing(repo, scripted, *settings, toolset="all") as first:
            before = _guarded(repo)
            for number, injection in enumerate(INJECTIONS):
                _set_up(repo, engine, injection)
                created = result(await first.ask("thread.create", toolset="all"))
                thread = Conversation(first.opened, str(created["thread_id"]), OWNER)
                outcome = await _obey(thread, model, injection)
                outcomes[f"{number} {injection.place}: {injection.wants}"] = outcome
                shown = str([asked.messages for asked in model.asked]) + str(await thread.events())
                for secret in (TOKEN, KEY, OUTSIDE, "root:x:0", first.opened.token):
                    assert secret not in shown, injection
                model.asked.clear()
                assert _guarded(repo) == before, injection
            executed = result(await first.ask("approval.list", status="EXECUTED"))
            approved = result(await first.ask("approval.list", status="APPROVED"))
            assert (executed["items"], approved["items"]) == ([], [])
    expected = {f"{n} {item.place}: {item.wants}": item.outcome for n, item in enumerate(INJECTIONS)}
    assert len(INJECTIONS) >= 30 and outcomes == expected


async def test_the_same_model_does_what_is_allowed(tmp_path: Path) -> None:
    """The twin: obeying is what the model does, and a harmless call goes through."""
    repo, model = _repository(tmp_path), Obedient()
    edit: JsonObject = {"edits": [{"path": "a.txt", "action": "create", "content": "x\n"}]}
    harmless = Injection(wants="write a file", tool="write_files", arguments=edit)
    with search_engine() as engine:
        async with conversing(repo, ScriptedModel(choose=model.choose), engine.setting, toolset="all") as thread:
            _set_up(repo, engine, harmless)
            assert await _obey(thread, model, harmless) == "ok"
            assert (repo / "a.txt").read_text() == "x\n"


@requirement("TRUST-51")
async def test_the_instructions_of_a_repository_are_shown_without_secrets(tmp_path: Path) -> None:
    """They leave for a model, perhaps on another machine, as tools' answers and messages do."""
    value = "Gr4pe-Ju1ce-Xy99"
    repo = make_repo(tmp_path / "shop", {".env": f"DB_PASSWORD={value}\n", "AGENTS.md": f"Log in with {value}.\n"})
    model = ScriptedModel(text("Done."))
    async with conversing(repo, model) as thread:
        await thread.send("Set it up")
        (repo / "AGENTS.md").unlink()
        (tmp_path / "outside.txt").write_text(OUTSIDE)
        (repo / "AGENTS.md").symlink_to(tmp_path / "outside.txt")
        await thread.send("And again")
    first, second = (str(asked.messages) for asked in model.asked)
    assert "Log in with [redacted]." in first and value not in first
    assert OUTSIDE not in second and "The repository says" not in second


@requirement("TRUST-51")
async def test_the_memory_of_a_conversation_is_shown_without_secrets(tmp_path: Path) -> None:
    value = "Gr4pe-Ju1ce-Xy99"
    repo = make_repo(tmp_path / "shop", {".env": f"DB_PASSWORD={value}\n"})
    model = ScriptedModel(text("Done."))
    async with conversing(repo, model) as thread:
        written = await thread.ask("memory.write", thread_id=thread.thread_id, text=f"Log in with {value}.")
        assert written.error is None
        await thread.send("Set it up")
        shown = str([event.payload for event in await thread.events()])
    (asked,) = (str(asked.messages) for asked in model.asked)
    assert "Log in with [redacted]." in asked
    assert value not in asked + shown

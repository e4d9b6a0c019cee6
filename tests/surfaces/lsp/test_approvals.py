"""Approvals over stdio, with Microsoft's own protocol package as the client: who is asked, and what that decides."""

import json
import subprocess
from collections.abc import Sequence
from functools import partial
from io import BufferedReader
from pathlib import Path
from typing import cast

import pytest

from codeplane.kernel.json import JsonObject
from codeplane.surfaces.cli.content_length import ContentLength
from tests.harness import CPL, Server, cpl, make_repo, start
from tests.interaction.requirements import requirement
from tests.surfaces.lsp.npm_clients import run_client
from tests.work.models.model_plane import QUICK, openai, providers
from tests.work.models.scripted_provider import answer, openai_text, openai_tool, scripted_provider

pytestmark = requirement("LSP-08")

FILES = {"unused.py": "def alone():\n    pass\n", "main.py": "print(1)\n"}
EDIT: JsonObject = {"edits": [{"path": "main.py", "old_text": "1", "new_text": "2"}]}


def approvals(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, replies: Sequence[JsonObject], *, is_allowed: bool
) -> tuple[JsonObject, Server]:
    """What a client hears that is asked for a delete, and for a task that changes a file."""
    environ = {"XDG_CONFIG_HOME": str(tmp_path / "config")}
    monkeypatch.setenv("XDG_CONFIG_HOME", environ["XDG_CONFIG_HOME"])
    repo = make_repo(tmp_path / "repo", FILES).resolve()
    script = answer(openai_tool("c", "write_files", EDIT)), answer(openai_text("Done."))
    with scripted_provider(*script) as provider:
        overrides = ["trust.mode=always", providers(openai("local", provider.url)), *QUICK]
        server = start(repo, overrides=overrides, environ=environ)
        try:
            if is_allowed:
                allowed = cpl("clients", "allow", "editor", cwd=repo, environ=environ)
                assert allowed.returncode == 0, allowed.stderr
            found = run_client(tmp_path, "approval_client.mjs", CPL, str(repo), given=json.dumps(replies))
            listed = cast(list[JsonObject], cast(JsonObject, server.call("approval.list")["result"])["items"])
            found["waiting"] = [item for item in listed if item["status"] == "PENDING"]
            return found, server
        finally:
            server.stop()


def test_the_person_at_an_allowed_editor_decides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    replies: list[JsonObject] = [{"approved": False}, {"approved": True, "remember": True}, {"approved": True}]
    found, server = approvals(tmp_path, monkeypatch, replies, is_allowed=True)
    first, second, of_task = cast(list[JsonObject], found["questions"])
    assert first["tool"] == second["tool"] == "refactor.delete" and "alone" in str(first["message"])
    assert "target" in cast(JsonObject, first["parameters"])
    refused, applied = cast(list[JsonObject], found["outcomes"])
    assert "REJECTED" in str(refused["error"]) and applied == {"status": "applied"}
    assert (server.repo / "unused.py").read_text().strip() == ""
    # `remember` is no answer that an editor may give.
    assert any("counts once" in str(note) for note in cast(list[str], found["notes"]))
    assert of_task["tool"] == "write_files" and "main.py" in json.dumps(of_task["parameters"])
    assert "write_files was decided" in str(found["progress"]) and found["waiting"] == []
    assert (server.repo / "main.py").read_text() == "print(2)\n"


def test_what_an_editor_may_not_decide_waits_for_the_person_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, server = approvals(tmp_path, monkeypatch, [{"approved": True}] * 3, is_allowed=False)
    assert found["questions"] == []
    for outcome in cast(list[JsonObject], found["outcomes"]):
        assert "APPROVAL_PENDING" in str(outcome["error"]) and "cpl approvals" in str(outcome["error"])
    assert "it waits in your inbox" in str(found["progress"])
    waiting = json.dumps(found["waiting"])
    assert "refactor.delete" in waiting and "write_files" in waiting
    assert {name: (server.repo / name).read_text() for name in FILES} == FILES


def test_a_question_without_an_answer_keeps_nobody_waiting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    environ = {"XDG_CONFIG_HOME": str(tmp_path / "config")}
    monkeypatch.setenv("XDG_CONFIG_HOME", environ["XDG_CONFIG_HOME"])
    repo = make_repo(tmp_path / "repo", FILES).resolve()
    server = start(repo, overrides=["trust.mode=always"], environ=environ)
    framing = ContentLength()
    try:
        assert cpl("clients", "allow", "editor", cwd=repo, environ=environ).returncode == 0
        command = [CPL, "lsp", "--repo", str(repo), "--client", "editor"]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            assert process.stdin is not None and isinstance(process.stdout, BufferedReader)
            pipe, chunks = process.stdin, iter(partial(process.stdout.read1, 65_536), b"")
            heard = map(json.loads, framing.split(chunks))

            def say(message: JsonObject) -> None:
                pipe.write(framing.join(json.dumps({"jsonrpc": "2.0", **message}).encode()))
                pipe.flush()

            def delete(request_id: int) -> JsonObject:
                params: JsonObject = {"command": "codeplane.delete", "arguments": ["unused.py:1:5"]}
                say({"id": request_id, "method": "workspace/executeCommand", "params": params})
                return next(each for each in heard if each.get("method") == "codeplane/approveTool")

            def answer_to(request_id: int) -> str:
                return json.dumps(next(each for each in heard if each.get("id") == request_id and "method" not in each))

            asks: JsonObject = {"experimental": {"codeplane": {"approveTool": True}}}
            say({"id": 100, "method": "initialize", "params": {"capabilities": asks}})
            question = delete(101)
            say({"method": "$/cancelRequest", "params": {"id": 101}})
            taken_back = next(each for each in heard if str(each.get("method")).startswith("$/cancel"))
            assert (taken_back["method"], taken_back["params"]) == ("$/cancelRequest", {"id": question["id"]})
            say({"id": delete(102)["id"], "result": {"approved": True}, "error": {"code": 1, "message": "both"}})
            assert "APPROVAL_PENDING" in answer_to(102)
            delete(103)
            say({"id": 104, "method": "shutdown"})
            say({"method": "exit"})
            assert "APPROVAL_PENDING" in answer_to(103)
        assert (repo / "unused.py").read_text() == FILES["unused.py"]
    finally:
        server.stop()

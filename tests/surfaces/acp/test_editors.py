"""How editors start it: the command of their settings, in the folder of a project, with a name of their own."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.harness import CPL, Server, cpl
from tests.interaction.requirements import requirement

pytestmark = requirement("ACP-10")

# What each introduces itself with, and what it offers to do for an agent.
EDITORS = {
    "zed": {"fs": {"readTextFile": True, "writeTextFile": True}, "terminal": True, "_meta": {"terminal_output": True}},
    "CodeCompanion.nvim": {"fs": {"readTextFile": True, "writeTextFile": True}},
    "JetBrains": {"fs": {"readTextFile": True, "writeTextFile": True}, "terminal": True, "session": {"notices": {}}},
}


@pytest.mark.parametrize("name", EDITORS)
def test_an_editor_asks_in_the_folder_of_a_project(plain_server: Server, name: str) -> None:
    folder = plain_server.repo / "package"
    folder.mkdir(exist_ok=True)
    hello = {"protocolVersion": 1, "clientInfo": {"name": name, "version": "1"}, "clientCapabilities": EDITORS[name]}
    with subprocess.Popen(
        [CPL, "acp", "--client", name.split(".")[0].lower()],
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        answers: dict[int, dict[str, object]] = {}

        def ask(number: int, method: str, params: object) -> dict[str, object]:
            assert process.stdin is not None and process.stdout is not None
            message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
            process.stdin.write(json.dumps(message) + "\n")
            process.stdin.flush()
            while number not in answers:
                heard = json.loads(process.stdout.readline())
                # Nothing is asked of the editor: neither files nor terminals are its to give here.
                assert "method" not in heard or heard["method"] == "session/update"
                if "id" in heard:
                    answers[heard["id"]] = heard["result"]
            return answers[number]

        ask(0, "initialize", hello)
        session = ask(1, "session/new", {"cwd": str(folder), "mcpServers": []})["sessionId"]
        prompt = {"sessionId": session, "prompt": [{"type": "text", "text": "greet"}]}
        assert ask(2, "session/prompt", prompt)["stopReason"] == "end_turn"
        process.stdin.close()
        assert process.wait(timeout=60) == 0


def test_what_init_writes_for_zed_is_what_starts_it(tmp_path: Path, plain_server: Server) -> None:
    settings = tmp_path / ".config" / "zed" / "settings.json"
    settings.parent.mkdir(parents=True)
    settings.write_text("{}\n")
    environ = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path / ".config")}
    done = cpl("init", "--yes", "--client", "zed", cwd=plain_server.repo, environ=environ)
    assert done.returncode == 0, done.stderr
    agent = json.loads(settings.read_text())["agent_servers"]["codeplane"]
    hello = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": 1}}
    started = subprocess.run(
        [agent["command"], *agent["args"]],
        cwd=plain_server.repo,
        input=json.dumps(hello) + "\n",
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert json.loads(started.stdout)["result"]["protocolVersion"] == 1, started.stderr

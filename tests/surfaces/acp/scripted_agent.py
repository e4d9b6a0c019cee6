"""A server whose model does what a prompt says: `echo`, `sleep`, `edit` and `read`, as the agent of acpx does."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from codeplane.kernel.json import JsonObject
from codeplane.surfaces.cli.client_secret import ClientSecret
from tests.harness import Server, cpl, make_repo, start
from tests.surfaces.acp.conftest import FILES
from tests.work.models.model_plane import QUICK, openai, providers
from tests.work.models.scripted_provider import (
    Act,
    ReceivedRequest,
    answer,
    chunks,
    hang,
    openai_chunk,
    openai_text,
    openai_tool,
    scripted_provider,
)

CLIENT = "runner"


def act_on(request: ReceivedRequest) -> Act:
    """What the model answers to the last thing that a person said."""
    messages = request.body["messages"]
    assert isinstance(messages, list)
    last = messages[-1]
    assert isinstance(last, dict)
    if last["role"] == "tool":
        return answer(openai_text("Done."))
    said = str(last["content"])
    command, rest = re.findall(r"(\S+)\s*(.*)", said, re.DOTALL)[0]
    match command:
        case "echo":
            return answer(openai_text(*(re.findall(r"\S+\s*", rest or said) or ["nothing"])))
        case "slowly":
            # As a model writes: the log takes what comes within some time as one piece.
            return answer(openai_text(*re.findall(r"\S+\s*", rest)), pause_sec=0.06)
        case "sleep":
            return hang(chunks(openai_chunk({"content": "Sleeping "})))
        case "edit":
            edits: JsonObject = {
                "edits": [{"path": rest, "old_text": "    return name", "new_text": "    return name.title()"}]
            }
            return answer(openai_tool("edit", "write_files", edits))
        case "read":
            return answer(openai_tool("read", "read_files", {"paths": [rest]}))
    return answer(openai_text(f"unrecognized prompt: {said}"))


@contextmanager
def scripted_agent(folder: Path) -> Iterator[tuple[Server, str]]:
    """The server, which asks about every change, and the secret of a client whose answers count."""
    repo = make_repo(folder / "repo", FILES)
    environ = {"XDG_CONFIG_HOME": str(folder / "config")}
    with scripted_provider() as provider:
        provider.decide = act_on
        server = start(
            repo, overrides=["trust.mode=always", providers(openai("local", provider.url)), *QUICK], environ=environ
        )
        try:
            assert cpl("clients", "allow", CLIENT, cwd=repo, environ=environ).returncode == 0
            name = server.workspace.repo_id.read_text().strip()
            secret = ClientSecret(file=folder / "config" / "codeplane" / "clients" / name / f"{CLIENT}.key").read()
            assert secret
            yield server, secret
        finally:
            server.stop()

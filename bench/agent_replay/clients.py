"""Coding clients whose model makes calls that are given: Claude Code and Codex."""

import json
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from codex_cli_bin import bundled_codex_path  # type: ignore[import-untyped]  # it has no types
from tests.clients.node import environment, run
from tests.clients.scripted_model import QUIET, SERVER, ScriptedModel, scripted_model, tool

from bench.agent_replay.responses_model import responses_model
from bench.subjects.served import CPL, Served

_DONE = "Done."
_SECONDS = 240.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """A tool call as the client made it."""

    name: str
    arguments: str
    answer: str
    is_error: bool


Client = Callable[[Sequence[tuple[str, str]], Served, Path, str], list[Exchange]]


@contextmanager
def _scripted(home: Path, prompt: str, calls: Sequence[tuple[str, str]]) -> Iterator[ScriptedModel]:
    turns: list[dict[str, Any]] = [
        {
            "match": {"userMessage": prompt, "turnIndex": at},
            "response": {"toolCalls": [{"name": tool(name), "arguments": arguments}]},
        }
        for at, (name, arguments) in enumerate(calls)
    ]
    turns.append({"match": {"userMessage": prompt, "turnIndex": len(calls)}, "response": {"content": _DONE}})
    home.mkdir(parents=True, exist_ok=True)
    with scripted_model(home, turns, more={"AIMOCK_STRICT_TURN_INDEX": "1"}) as model:
        yield model


def claude_code(calls: Sequence[tuple[str, str]], served: Served, home: Path, prompt: str) -> list[Exchange]:
    """A session of Claude Code with our tools over stdio, as its stream of messages tells it."""
    with _scripted(home, prompt, calls) as model:
        return _claude_code(model, served, home, prompt)


def _claude_code(model: ScriptedModel, served: Served, home: Path, prompt: str) -> list[Exchange]:
    how = {"type": "stdio", "command": CPL, "args": ["mcp", "--repo", str(served.root)]}
    done = run(
        "claude",
        *("--print", prompt, "--output-format=stream-json", "--verbose", "--strict-mcp-config", "--tools="),
        f"--mcp-config={json.dumps({'mcpServers': {SERVER: how}})}",
        f"--allowedTools=mcp__{SERVER}",
        "--system-prompt=Answer from the tools.",
        env=environment(
            home, ANTHROPIC_BASE_URL=model.url, ANTHROPIC_API_KEY="none-is-needed", MAX_THINKING_TOKENS="0", **QUIET
        ),
        cwd=home,
        seconds=_SECONDS,
    )
    if done.returncode:
        raise RuntimeError(done.stdout[-2000:] + done.stderr[-2000:])
    asked: dict[str, tuple[str, str]] = {}
    exchanges: list[Exchange] = []
    for line in done.stdout.splitlines():
        for part in _parts(json.loads(line)):
            if part["type"] == "tool_use":
                asked[part["id"]] = part["name"].rpartition("__")[2], json.dumps(part["input"], ensure_ascii=False)
            elif part["type"] == "tool_result":
                name, arguments = asked[part["tool_use_id"]]
                exchanges.append(
                    Exchange(
                        name=name,
                        arguments=arguments,
                        answer=_text(part["content"]),
                        is_error=bool(part.get("is_error")),
                    )
                )
    return exchanges


def _parts(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    content = message.get("message", {}).get("content")
    return [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []


def _text(content: object) -> str:
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in content)
    return str(content)


def codex(calls: Sequence[tuple[str, str]], served: Served, home: Path, prompt: str) -> list[Exchange]:
    """A session of Codex with our tools over stdio, as its events tell it."""
    home.mkdir(parents=True, exist_ok=True)
    with responses_model(f"mcp__{SERVER}", calls) as url:
        settings = {
            "model": "scripted",
            "model_provider": "scripted",
            "approval_policy": "never",
            # Its own sandbox and shell are not asked for anything.
            "sandbox_mode": "danger-full-access",
            "model_providers.scripted": {"name": "scripted", "base_url": url, "wire_api": "responses"},
            f"mcp_servers.{SERVER}": {
                "command": CPL,
                "args": ["mcp", "--repo", str(served.root)],
                # It would begin the turn without the tools of a server that is not there yet.
                "required": True,
                "startup_timeout_sec": 60,
            },
        }
        chosen = [word for key, value in settings.items() for word in ("-c", f"{key}={_toml(value)}")]
        done = subprocess.run(
            [str(bundled_codex_path()), "exec", *chosen, "--json", "--skip-git-repo-check", prompt],
            cwd=home,
            env=environment(home, CODEX_HOME=str(home)),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
        )
    if done.returncode:
        raise RuntimeError(done.stdout[-2000:] + done.stderr[-2000:])
    exchanges: list[Exchange] = []
    for line in done.stdout.splitlines():
        event = json.loads(line) if line.startswith("{") else {}
        item = event.get("item", {})
        if event.get("type") != "item.completed" or item.get("type") != "mcp_tool_call":
            continue
        failed = item.get("error")
        answer = failed["message"] if failed else _text((item.get("result") or {}).get("content") or [])
        arguments = json.dumps(item["arguments"], ensure_ascii=False)
        exchanges.append(
            Exchange(name=item["tool"], arguments=arguments, answer=answer, is_error=item["status"] != "completed")
        )
    return exchanges


def _toml(value: object) -> str:
    """A setting as Codex reads it: TOML, whose strings, lists and truth values are those of JSON."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key} = {_toml(inner)}" for key, inner in value.items()) + "}"
    return json.dumps(value)


CLIENTS: Mapping[str, Client] = {"claude": claude_code, "codex": codex}

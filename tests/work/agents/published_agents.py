"""Published ACP agents and libraries, pinned by `npm/package-lock.json` and run by the Node that comes from PyPI.

`python -m tests.work.agents.published_agents` installs them; the tests do the same on first use.
"""

import json
import sys
from pathlib import Path
from typing import Final

from codeplane.kernel.json import JsonObject
from tests.clients.node import MODULES, NODE, command
from tests.testing.node import installed
from tests.work.models.scripted_provider import Act, ReceivedRequest, answer, anthropic_events, anthropic_text

HERE: Final = Path(__file__).resolve().parent
NPM: Final = HERE / "npm"
_LOCAL: Final = {"NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}


def typescript_agent() -> JsonObject:
    """An agent of ours on the TypeScript library."""
    installed(NPM)
    return {"command": str(NODE), "args": [str(NPM / "sdk_agent.mjs")], "readable": [str(NPM)]}


def python_agent() -> JsonObject:
    """An agent of ours on the Python library."""
    script = HERE / "python_sdk_agent.py"
    return {"command": sys.executable, "args": ["-I", str(script)], "readable": [str(HERE), sys.prefix]}


def claude_code(model_url: str) -> JsonObject:
    """Claude Code with its published adapter, whose model is at an address."""
    script = installed(NPM) / "@agentclientprotocol" / "claude-agent-acp" / "dist" / "index.js"
    return {
        "command": str(NODE),
        "args": [str(script)],
        "readable": [str(NPM)],
        "network": True,
        "env": {
            "ANTHROPIC_BASE_URL": model_url,
            "ANTHROPIC_API_KEY": "none-is-needed",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            **_LOCAL,
        },
    }


def gemini(model_url: str) -> JsonObject:
    """Gemini CLI, whose model is at an address."""
    program, *arguments = command("gemini")
    return {
        "command": program,
        "args": [*arguments, "--acp"],
        "readable": [str(MODULES)],
        "network": True,
        "env": {
            "GOOGLE_GEMINI_BASE_URL": model_url,
            "GEMINI_API_KEY": "none-is-needed",
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
            **_LOCAL,
        },
    }


def claude_model(trees: Path, *, name: str, content: str) -> object:
    """What answers Claude Code: one file to write, then a last word."""

    def decide(request: ReceivedRequest) -> Act:
        messages = json.dumps(request.body.get("messages", []))
        if not request.body.get("tools") or "tool_result" in messages:
            return answer(anthropic_text("Done."))
        tree = next(trees.glob("*/*/tree"))
        return answer(_claude_tool("Write", {"file_path": f"{tree}/{name}", "content": content}))

    return decide


def gemini_model(trees: Path, *, name: str, content: str) -> object:
    """What answers Gemini: one file to write, then a last word."""

    def decide(request: ReceivedRequest) -> Act:
        body = json.dumps(request.body.get("contents", []))
        if not request.body.get("tools") or "functionResponse" in body:
            return answer(_gemini_parts({"text": "Done."}))
        tree = next(trees.glob("*/*/tree"))
        call: JsonObject = {"name": "write_file", "args": {"file_path": f"{tree}/{name}", "content": content}}
        return answer(_gemini_parts({"functionCall": call}))

    return decide


def _claude_tool(name: str, arguments: JsonObject) -> list[bytes]:
    usage: JsonObject = {"input_tokens": 5, "output_tokens": 1}
    message: JsonObject = {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "model": "x",
        "content": [],
        "usage": usage,
    }
    block: JsonObject = {"type": "tool_use", "id": "toolu_1", "name": name, "input": {}}
    delta: JsonObject = {"type": "input_json_delta", "partial_json": json.dumps(arguments)}
    return anthropic_events(
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 5}},
        {"type": "message_stop"},
    )


def _gemini_parts(*parts: JsonObject) -> list[bytes]:
    candidate: JsonObject = {
        "content": {"role": "model", "parts": [*parts]},
        "finishReason": "STOP",
        "index": 0,
    }
    usage: JsonObject = {"promptTokenCount": 5, "candidatesTokenCount": 3, "totalTokenCount": 8}
    return [f"data: {json.dumps({'candidates': [candidate], 'usageMetadata': usage})}\n\n".encode()]


if __name__ == "__main__":
    installed(NPM)

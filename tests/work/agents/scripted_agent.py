"""An ACP agent for tests, by itself: `python scripted_agent.py`; each prompt says in JSON what it does.

A prompt is a list of steps, `[["say", "Hello"], ["write", "a.py", "x"], …]`; what they find goes into the answer.
"""

import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from queue import Queue
from typing import Any

SESSIONS = Path(os.environ.get("HOME", "/nowhere")) / "sessions.json"
TRICKS = set(os.environ.get("TRICKS", "").split(","))


class Peer:
    """JSON-RPC over stdin and stdout."""

    def __init__(self) -> None:
        self.waiting: dict[int, Queue[dict[str, Any]]] = {}
        self.lock = threading.Lock()
        self.next_id = 1000
        self.cancelled = threading.Event()

    def send(self, message: dict[str, Any]) -> None:
        with self.lock:
            sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
            sys.stdout.flush()

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        with self.lock:
            self.next_id += 1
            number = self.next_id
            answers = self.waiting[number] = Queue()
        self.send({"id": number, "method": method, "params": params})
        return answers.get()


PEER = Peer()


class Turn:
    """One prompt."""

    def __init__(self, session: str, cwd: str, servers: list[dict[str, Any]]) -> None:
        self.session, self.cwd, self.servers = session, cwd, servers
        self.calls = 0

    def update(self, what: str, /, **fields: Any) -> None:
        PEER.send(
            {
                "method": "session/update",
                "params": {"sessionId": self.session, "update": {"sessionUpdate": what, **fields}},
            }
        )

    def say(self, text: str) -> None:
        self.update("agent_message_chunk", content={"type": "text", "text": text})

    def step(self, name: str, *words: Any) -> None:
        getattr(self, f"do_{name}")(*words)

    def do_say(self, text: str) -> None:
        self.say(text)

    def do_think(self, text: str) -> None:
        self.update("agent_thought_chunk", content={"type": "text", "text": text})

    def do_plan(self, *entries: str) -> None:
        self.update("plan", entries=[{"content": entry, "priority": "high", "status": "pending"} for entry in entries])

    def do_usage(self, used: int, cost: float) -> None:
        self.update("usage_update", used=used, size=200000, cost={"amount": cost, "currency": "USD"})

    def do_write(self, path: str, content: str) -> None:
        """Write a file by itself, without asking anybody."""
        place = Path(self.cwd) / path
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(content)
            self.say(f"[wrote {path}]")
        except OSError as error:
            self.say(f"[cannot write {path}: {error.strerror}]")

    def do_read(self, path: str) -> None:
        try:
            self.say(f"[{path}: {(Path(self.cwd) / path).read_text()[:200]}]")
        except OSError as error:
            self.say(f"[cannot read {path}: {error.strerror}]")

    def do_tool(self, kind: str, title: str, path: str, content: str, option_kinds: str = "all") -> None:
        """Ask for an edit or a command, and do it when that is allowed."""
        self.calls += 1
        number, place = f"call-{self.calls}", f"{self.cwd}/{path}"
        raw = {"command": content} if kind == "execute" else {"path": place}
        old = Path(place).read_text() if kind == "edit" and Path(place).exists() else None
        diff = [{"type": "diff", "path": place, "oldText": old, "newText": content}] if kind == "edit" else []
        call = {
            "toolCallId": number,
            "title": title,
            "kind": kind,
            "status": "pending",
            "rawInput": raw,
            "content": diff,
        }
        self.update("tool_call", **call)
        options = [
            {"optionId": "yes-always", "name": "Always", "kind": "allow_always"},
            {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
            {"optionId": "no", "name": "No", "kind": "reject_once"},
        ]
        offered = options if option_kinds == "all" else []
        answer = PEER.ask(
            "session/request_permission", {"sessionId": self.session, "toolCall": call, "options": offered}
        )
        outcome = answer.get("result", {}).get("outcome", {})
        chosen = outcome.get("optionId") or outcome.get("outcome") or str(answer.get("error"))
        if chosen == "yes":
            self.update("tool_call_update", toolCallId=number, status="in_progress")
            if kind == "execute":
                subprocess.run(content, shell=True, cwd=self.cwd, check=False)
            else:
                Path(place).write_text(content)
        status = "completed" if chosen == "yes" else "failed"
        shown = [{"type": "content", "content": {"type": "text", "text": f"{title}: {status}"}}]
        self.update("tool_call_update", toolCallId=number, status=status, content=[*diff, *shown])
        self.say(f"[{title}: {chosen}]")

    def do_fs_read(self, path: str, line: int | None = None, limit: int | None = None) -> None:
        self.report("fs/read_text_file", path=self.whole(path), line=line, limit=limit)

    def do_fs_write(self, path: str, content: str) -> None:
        self.report("fs/write_text_file", path=self.whole(path), content=content)

    def do_terminal(self, command: str) -> None:
        made = PEER.ask("terminal/create", {"sessionId": self.session, "command": command, "cwd": self.cwd})
        if "error" in made:
            self.say(f"[terminal: {made['error']['message']}]")
            return
        place = {"sessionId": self.session, "terminalId": made["result"]["terminalId"]}
        ended = PEER.ask("terminal/wait_for_exit", place)
        output = PEER.ask("terminal/output", place)
        PEER.ask("terminal/release", place)
        self.say(f"[terminal {ended['result']['exitCode']}: {output['result']['output'].strip()}]")

    def do_mcp(self, tool: str, arguments: dict[str, Any]) -> None:
        """Call a tool of the MCP server that the client gave."""
        server = self.servers[0]
        with subprocess.Popen(
            [server["command"], *server["args"]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as process:
            to_server, from_server = process.stdin, process.stdout
            assert to_server is not None and from_server is not None

            def ask(number: int, method: str, params: dict[str, Any]) -> dict[str, Any]:
                to_server.write(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}) + "\n")
                to_server.flush()
                answer: dict[str, Any] = json.loads(from_server.readline())
                return answer

            ask(1, "initialize", {"protocolVersion": "2025-06-18", "capabilities": {}})
            tools = [found["name"] for found in ask(2, "tools/list", {})["result"]["tools"]]
            answer = ask(3, "tools/call", {"name": tool, "arguments": arguments})
            to_server.close()
        result: dict[str, Any] = answer.get("result") or answer["error"]
        text = result["content"][0]["text"] if "content" in result else result["message"]
        self.say(f"[{'has' if tool in tools else 'lacks'} {tool}: {text}]")

    def do_network(self, url: str) -> None:
        import urllib.request

        try:
            urllib.request.urlopen(url, timeout=5)
            self.say("[reached it]")
        except Exception as error:
            self.say(f"[no network: {type(error).__name__}]")

    def do_environment(self) -> None:
        self.say(f"[environment: {' '.join(sorted(os.environ))}]")

    def do_shell(self, command: str) -> None:
        done = subprocess.run(command, shell=True, cwd=self.cwd, capture_output=True, text=True, check=False)
        self.say(f"[{done.returncode}: {(done.stdout + done.stderr).strip()}]")

    def do_session(self) -> None:
        self.say(f"[session {self.session}]")

    def do_raw(self, line: str) -> None:
        with PEER.lock:
            sys.stdout.write(line + "\n")
            sys.stdout.flush()

    def do_long_line(self, size: int) -> None:
        self.do_raw("x" * size)

    def do_flood(self, count: int, size: int) -> None:
        for _ in range(count):
            self.say("y" * size)

    def do_tool_flood(self, count: int) -> None:
        for number in range(count):
            self.update("tool_call", toolCallId=f"f{number}", title="again", kind="read", status="completed")

    def do_ask(self, method: str, params: dict[str, Any]) -> None:
        self.report(method, **params)

    def do_exit(self, code: int) -> None:
        sys.stderr.write("giving up\n")
        sys.stderr.flush()
        os._exit(code)

    def do_hang(self) -> None:
        PEER.cancelled.wait()

    def do_signal(self, path: str) -> None:
        """Say that it is here, then go on only when it is restarted."""
        mark = SESSIONS.with_name(path)
        if not mark.exists():
            mark.write_text("here")
            self.say("[first time]")
            threading.Event().wait()
        self.say("[again]")

    def whole(self, path: str) -> str:
        return path if path.startswith("/") else f"{self.cwd}/{path}"

    def report(self, method: str, **params: Any) -> None:
        answer = PEER.ask(method, {"sessionId": self.session, **params})
        found = answer["error"]["message"] if "error" in answer else json.dumps(answer["result"])
        self.say(f"[{method}: {found}]")


def steps_of(text: str) -> list[list[Any]]:
    """The steps in a prompt, which may have words of the client's around them."""
    for line in reversed(text.splitlines()):
        if line.startswith("[["):
            steps: list[list[Any]] = json.loads(line)
            return steps
    return [["say", text]]


def prompt(request: dict[str, Any], sessions: dict[str, dict[str, Any]]) -> None:
    params = request["params"]
    known = sessions[params["sessionId"]]
    text = "".join(block["text"] for block in params["prompt"])
    turn = Turn(params["sessionId"], known["cwd"], known["servers"])
    PEER.cancelled.clear()
    if "echo" in TRICKS:
        turn.say(f"<{text}>")
    for step in steps_of(text):
        if PEER.cancelled.is_set():
            break
        turn.step(*step)
    reason = "cancelled" if PEER.cancelled.is_set() else os.environ.get("STOP_REASON", "end_turn")
    usage = {"inputTokens": 11, "outputTokens": 7, "totalTokens": 18}
    PEER.send({"id": request["id"], "result": {"stopReason": reason, "usage": usage}})


def fail(details: threading.ExceptHookArgs) -> None:
    """End with the reason: a mistake in a script is no hang."""
    sys.stderr.write(f"{details.exc_type.__name__}: {details.exc_value}\n")
    sys.stderr.flush()
    os._exit(70)


def main() -> None:
    threading.excepthook = fail
    sessions: dict[str, dict[str, Any]] = {}
    for line in sys.stdin:
        message = json.loads(line)
        method, params = message.get("method"), message.get("params", {})
        if method is None:
            PEER.waiting.pop(message["id"]).put(message)
        elif method == "initialize":
            if "mute" in TRICKS:
                continue
            version = 7 if "version" in TRICKS else 1
            able = {"loadSession": "load" in TRICKS}
            info = {"name": "scripted", "title": "Scripted", "version": "1.0"}
            PEER.send(
                {
                    "id": message["id"],
                    "result": {
                        "protocolVersion": version,
                        "agentCapabilities": able,
                        "agentInfo": info,
                        "authMethods": [{"id": "login", "name": "Log in"}],
                    },
                }
            )
        elif method == "session/new":
            if "sign_in" in TRICKS:
                PEER.send({"id": message["id"], "error": {"code": -32000, "message": "Authentication required"}})
                continue
            stored = json.loads(SESSIONS.read_text()) if SESSIONS.exists() else []
            name = f"s{len(stored) + 1}"
            SESSIONS.write_text(json.dumps([*stored, name]))
            sessions[name] = {"cwd": params["cwd"], "servers": params["mcpServers"]}
            PEER.send({"id": message["id"], "result": {"sessionId": name}})
        elif method == "session/load":
            name = params["sessionId"]
            sessions[name] = {"cwd": params["cwd"], "servers": params["mcpServers"]}
            Turn(name, params["cwd"], []).say("REPLAYED")
            PEER.send({"id": message["id"], "result": {}})
        elif method == "session/prompt":
            threading.Thread(target=prompt, args=(message, sessions), daemon=True).start()
        elif method == "session/cancel":
            if "deaf" not in TRICKS:
                PEER.cancelled.set()
        elif "id" in message:
            PEER.send({"id": message["id"], "error": {"code": -32601, "message": "no such method"}})


if __name__ == "__main__":
    main()

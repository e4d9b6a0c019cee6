"""A plugin of the tests: JSON lines over stdin and stdout; or the trick that it is started with."""

import json
import sys
from typing import Any

TRICK = sys.argv[1] if len(sys.argv) > 1 else ""


def say(message: Any) -> None:
    print(json.dumps(message), flush=True)


def main() -> None:
    events: list[str] = []
    asked: dict[str, int] = {}
    for line in sys.stdin:
        message = json.loads(line)
        if "event" in message:
            events.append(message["event"]["type"])
        elif "call" in message:
            number, arguments = message["id"], message["arguments"]
            if TRICK == "garbage":
                for _ in range(20):
                    print("no JSON at all", flush=True)
                say([1, 2, 3])
            if TRICK == "huge_line":
                print("x" * 20_000_000, flush=True)
            if TRICK == "never_answers":
                continue
            if TRICK == "asks_without_reading":
                for count in range(100_000):
                    print(json.dumps({"id": f"f{count}", "operation": "status", "arguments": {}}))
                sys.stdout.flush()
            if TRICK == "exits":
                sys.exit(4)
            if message["call"] == "count":
                say({"id": number, "progress": {"done": 1, "message": "counting"}})
                say({"id": number, "result": {"words": len(arguments["text"].split())}})
            elif message["call"] == "ask":
                # Calls an operation itself, and answers with what came of it.
                asked[f"q{number}"] = number
                say({"id": f"q{number}", "operation": arguments["operation"], "arguments": arguments["arguments"]})
            elif message["call"] == "seen":
                say({"id": number, "result": sorted(set(events))})
            else:
                say({"id": number, "error": "there is no such tool"})
        elif message.get("id") in asked:
            answer = message.get("error") or message.get("text") or message.get("result")
            say({"id": asked.pop(message["id"]), "result": answer})


if __name__ == "__main__":
    main()

"""The process that runs user policies, so that a crash, hang or memory leak stays in it."""

import json
import os
import platform
import select
import sys
import threading
from contextlib import suppress
from typing import BinaryIO


def main() -> None:
    """Compile the file that the first line names, then answer each further line."""
    # What a policy or the library prints must not be taken for an answer.
    answers = os.fdopen(os.dup(1), "wb")
    with open(os.devnull, "wb") as nowhere:  # noqa: PTH123  # pathlib takes longer to import
        os.dup2(nowhere.fileno(), 1)
        os.dup2(nowhere.fileno(), 2)
    os.environ.clear()
    _limit()
    threading.Thread(target=_end_with_parent, daemon=True).start()
    # The library wants the system's name, and would have a process started that tells the processor's.
    platform.uname = os.uname  # type: ignore[assignment]  # of both it takes the first part
    from codeplane.adapters.rego_bundle import RegoBundle, RegoRefused

    questions = sys.stdin.buffer
    place = json.loads(questions.readline() or b"null")
    if place is None:
        return
    with open(place, "rb") as file:  # noqa: PTH123  # as above
        asked = json.load(file)
    try:
        bundle = RegoBundle(
            asked["sources"], packages=asked["packages"], entry=asked["entry"], scratch=asked["scratch"]
        )
    except RegoRefused as error:
        found = [{"file": fault.file, "line": fault.line, "message": fault.message} for fault in error.faults]
        _say(answers, {"faults": found})
        return
    except Exception as error:
        _say(answers, {"faults": [{"file": "", "line": 0, "message": f"{type(error).__name__}: {error}"[:300]}]})
        return
    _say(answers, {"ready": True})
    for line in questions:
        # An answer begins with its question's number, so that none is ever taken for another's.
        number, _, question = line.partition(b" ")
        try:
            raw_answer = bundle.evaluate_raw(json.loads(question))
            # It is passed on as it is, unless it would not be one line.
            answer = (raw_answer if "\n" not in raw_answer else json.dumps(json.loads(raw_answer))).encode()
        except Exception as error:
            answer = json.dumps({"failed": str(error)[:300] or type(error).__name__}).encode()
        answers.write(b"%b %b\n" % (number, answer))
        answers.flush()


def _say(answers: BinaryIO, answer: object) -> None:
    answers.write(json.dumps(answer).encode() + b"\n")
    answers.flush()


def _limit() -> None:
    """Limit the CPU time, and be the first process to be killed when memory runs out."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with suppress(OSError), open("/proc/self/oom_score_adj", "w") as score:  # noqa: PTH123  # as above
        score.write("1000")


def _end_with_parent() -> None:
    """End this process when its parent ends."""
    waiting = select.poll()
    waiting.register(0, 0)
    while not waiting.poll():
        pass
    os._exit(0)


if __name__ == "__main__":
    main()

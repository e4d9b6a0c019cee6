"""rope or jedi in a process of its own: a question a line, an answer a line.

`rename_peer.py TOOL ROOT SECONDS [IGNORED…]`; what takes longer than those seconds is given up, and what was parsed for
it is kept for the next question.
"""

import bisect
import importlib
import io
import json
import pathlib
import re
import signal
import sys
import tokenize
from collections.abc import Callable

Answer = dict[str, object]


def words(text: str, name: str) -> list[tuple[int, int]]:
    """Where a name stands as a token, by lines and columns from 0."""
    found = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.NAME and token.string == name:
                found.append((token.start[0] - 1, token.start[1]))
    except (tokenize.TokenError, IndentationError, SyntaxError):
        pass
    return found


def rope(root: pathlib.Path, ignored: list[str]) -> Callable[[Answer], Answer]:
    """Renames with rope; the places are those whose name the change set takes away."""
    rename = importlib.import_module("rope.refactor.rename")
    project = importlib.import_module("rope.base.project").Project(
        str(root), ropefolder=None, ignored_resources=["*.pyc", ".git", "node_modules", *ignored]
    )

    def answer(asked: Answer) -> Answer:
        name, new = str(asked["name"]), str(asked["new"])
        resource = project.get_resource(str(asked["file"]))
        text = resource.read()
        starts = [0, *(match.end() for match in re.finditer("\n", text))]
        offset = starts[int(str(asked["line"]))] + int(str(asked["column"]))
        changes = rename.Rename(project, resource, offset).get_changes(new, docs=False)
        places = []
        for change in changes.changes:
            before, after = change.resource.read(), change.new_contents
            kept, offsets = words(before, name), _renamed(before, after, name, new)
            begins = [0, *(match.end() for match in re.finditer("\n", before))]
            for at in offsets:
                line = bisect.bisect_right(begins, at) - 1
                if (line, at - begins[line]) in kept:
                    places.append([change.resource.path, line, at - begins[line]])
        return {"places": places}

    return answer


def _renamed(before: str, after: str, name: str, new: str) -> list[int]:
    """The offsets at which the old name was replaced, by walking both texts."""
    found, i, j = [], 0, 0
    for match in re.finditer(rf"\b{re.escape(name)}\b", before):
        j += match.start() - i
        i = match.start()
        if after.startswith(new, j):
            found.append(i)
            i, j = i + len(name), j + len(new)
    return found


def jedi(root: pathlib.Path, ignored: list[str]) -> Callable[[Answer], Answer]:
    """References with jedi, which is what its rename changes."""
    library = importlib.import_module("jedi")
    project = library.Project(str(root))

    def answer(asked: Answer) -> Answer:
        script = library.Script(path=root / str(asked["file"]), project=project)
        found = script.get_references(int(str(asked["line"])) + 1, int(str(asked["column"])), scope="project")
        places = []
        for one in found:
            if one.module_path is not None and one.name == asked["name"] and one.line is not None:
                where = pathlib.Path(one.module_path)
                if where.is_relative_to(root):
                    places.append([str(where.relative_to(root)), one.line - 1, one.column])
        return {"places": places}

    return answer


def _give_up(number: int, frame: object) -> None:
    raise TimeoutError("out of time")


def main() -> None:
    """Answer until the other end closes."""
    tool, root, limit, ignored = sys.argv[1], pathlib.Path(sys.argv[2]), float(sys.argv[3]), sys.argv[4:]
    signal.signal(signal.SIGALRM, _give_up)
    answer = {"rope": rope, "jedi": jedi}[tool](root, ignored)
    print(json.dumps({"ready": tool}), flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        signal.setitimer(signal.ITIMER_REAL, 0 if asked.get("warming") else limit)
        try:
            reported = answer(asked)
        except Exception as error:  # what a peer fails at is a figure, not the end of the run
            reported = {"failed": f"{type(error).__name__}: {error}"[:200]}
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        print(json.dumps(reported), flush=True)


if __name__ == "__main__":
    main()

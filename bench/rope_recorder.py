"""Writes down what rope's own tests ask of it and what comes out. Run by an interpreter that has rope.

`python rope_recorder.py FOLDER_OF_ROPETEST OUTPUT`: one line of JSON a call: the files before it, the call, the files
after it, or that it was refused.
"""

import json
import sys
import unittest
from pathlib import Path

from rope.base import project as rope_project
from rope.refactor import move, rename

CALLS = []
NOW = {"test": "", "open": None}


def files(project):
    """Every Python file of a project."""
    root = Path(project.address)
    found = {}
    for path in sorted(root.rglob("*.py")):
        name = str(path.relative_to(root))
        if not name.startswith(".ropeproject"):
            found[name] = path.read_bytes().decode("utf-8", "surrogateescape")
    return found


def noted(kind, project, path, offset, to, options):
    """Begin a call."""
    call = {"test": NOW["test"], "kind": kind, "path": path, "offset": offset, "to": to, "options": options}
    call |= {"before": files(project), "after": None, "refused": False}
    NOW["open"] = call
    CALLS.append(call)
    return call


def watched(kind, of, path_of):
    """Note what a refactoring is asked for."""
    original = of.get_changes

    def get_changes(self, to, *args, **options):
        if to is None:
            # No destination at all: there is nothing to ask of anybody.
            return original(self, to, *args, **options)
        named = {key: bool(options[key]) for key in ("in_hierarchy", "docs", "unsure") if key in options}
        target = to if isinstance(to, str) else f"{to.path}/" if to.is_folder() else to.path
        call = noted(kind, self.project, path_of(self), getattr(self, "asked_offset", None), target, named)
        try:
            return original(self, to, *args, **options)
        except Exception:
            call["refused"] = True
            raise

    of.get_changes = get_changes


def remembering(kind, of):
    """Keep the offset a refactoring is made for."""
    original = of.__init__

    def begin(self, project, resource, offset=None, *args, **options):
        self.asked_offset, self.asked_path = offset, resource.path
        try:
            original(self, project, resource, offset, *args, **options)
        except Exception:
            noted(kind, project, resource.path, offset, "", {})["refused"] = True
            raise

    of.__init__ = begin


def main(folder, output):
    """Run the tests of renames and moves."""
    remembering("rename", rename.Rename)
    remembering("move_global", move.MoveGlobal)
    watched("rename", rename.Rename, lambda self: self.asked_path)
    watched("move_global", move.MoveGlobal, lambda self: self.asked_path)
    watched("move_module", move.MoveModule, lambda self: self.source.path)
    watched("move_method", move.MoveMethod, lambda self: "")
    do = rope_project.Project.do

    def done(self, changes, *args, **options):
        result = do(self, changes, *args, **options)
        if NOW["open"] is not None:
            NOW["open"]["after"], NOW["open"] = files(self), None
        return result

    rope_project.Project.do = done
    sys.path.insert(0, folder)

    class Result(unittest.TextTestResult):
        def startTest(self, test):
            NOW["test"], NOW["open"], self.began = test.id().rpartition(".")[2], None, len(CALLS)
            super().startTest(test)

        def addFailure(self, test, error):
            del CALLS[self.began :]
            super().addFailure(test, error)

        def addError(self, test, error):
            del CALLS[self.began :]
            super().addError(test, error)

    names = ["ropetest.refactor.renametest", "ropetest.refactor.movetest"]
    suite = unittest.defaultTestLoader.loadTestsFromNames(names)
    unittest.TextTestRunner(resultclass=Result, verbosity=0).run(suite)
    kept = [call for call in CALLS if call["refused"] or call["after"] is not None]
    Path(output).write_text("".join(json.dumps(call) + "\n" for call in kept))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])

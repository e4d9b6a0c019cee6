"""What is right, from language servers, griffe and the TypeScript compiler; never from a fact of CodePlane."""

import json
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from bench.agent_replay.commits import git
from bench.agent_replay.outline import definitions, head_name, is_test, language_of
from bench.agent_replay.questions import Place
from bench.rename_truth import Server

_HERE = Path(__file__).parent
_PUBLIC = {
    "go": re.compile(r"[A-Z]"),
    "rust": re.compile(r"\s*pub\b"),
    "java": re.compile(r"\s*(?:public|protected)\b"),
}
_SCRIPT_SEC = 60
# Public names of a module on stdin with their signatures: functions by parameters, classes by bases, the rest by types.
_GRIFFE = """
import json, sys
from pathlib import Path
import griffe

def public(parent):
    found = {}
    for name, member in parent.members.items():
        if member.is_alias or name.startswith("_"):
            continue
        if member.is_function:
            text = ", ".join(f"{each.name}:{each.annotation}={each.default}" for each in member.parameters)
            found[name] = found.get(name, "") + f"({text})->{member.returns}"
        elif member.is_class:
            found[name] = found.get(name, "") + str([str(base) for base in member.bases])
            for key, value in public(member).items():
                found[key] = found.get(key, "") + value
        else:
            found[name] = found.get(name, "") + str(getattr(member, "annotation", ""))
    return found

json.dump(public(griffe.visit("module", filepath=Path("module.py"), code=sys.stdin.read())), sys.stdout)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class TruthTools:
    """Where the tools are: a Python with griffe, a folder with TypeScript, and commands of language servers."""

    python: str = ""
    node_folder: Path | None = None
    servers: dict[str, tuple[str, ...]]

    @classmethod
    def of(cls, *, python: Path | None, node_folder: Path | None, gopls: str) -> Self:
        """The tools at these places; a language without one has fewer kinds of tasks."""
        servers: dict[str, tuple[str, ...]] = {}
        if python is not None:
            servers["python"] = (str(python.parent / "pyright-langserver"), "--stdio")
        if node_folder is not None:
            servers["typescript"] = (str(node_folder / "node_modules/.bin/typescript-language-server"), "--stdio")
        if gopls:
            servers["go"] = (gopls,)
        return cls(python=str(python or ""), node_folder=node_folder, servers=servers)


class Truth:
    """Asks the tools about a checkout; a language server is started when it is first needed."""

    def __init__(self, tools: TruthTools, root: Path) -> None:
        self._tools = tools
        self._root = root
        self._servers: dict[str, Server] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for server in self._servers.values():
            server.close()

    def references(self, path: str, line: int, column: int, name: str) -> set[Place] | None:
        """The lines that use what is defined at a place, imports left out; None where no tool knows."""
        language = language_of(path) or ""
        command = self._tools.servers.get(language)
        if command is None or column < 0:
            return None
        try:
            if language not in self._servers:
                self._servers[language] = Server(command, self._root, language=language)
            text = (self._root / path).read_text(errors="replace")
            found = self._servers[language].references(path, text, line - 1, column)
        except (TimeoutError, RuntimeError, OSError):
            return None
        places = {(used, number + 1) for used, number, _ in found if language_of(used)}
        return {place for place in places if place != (path, line) and self._is_use(*place, name)}

    def _is_use(self, path: str, line: int, name: str) -> bool:
        rows = (self._root / path).read_text(errors="replace").split("\n")
        row = rows[line - 1] if line <= len(rows) else ""
        plain = row.strip()
        if head_name(path, row) == name or plain.startswith(("#", "//", "*", "/*")):
            return False
        imports = r"from\s.*\bimport\b|import\b|use\s|pub use\s|export\s.*\bfrom\b|\w+,$|\w+ as \w+,?$"
        return re.match(imports, plain) is None

    def interface_changes(self, repo: Path, base: str, target: str, paths: Sequence[str]) -> set[str] | None:
        """Public names that came, went or changed their signature; None where no tool knows."""
        changed: set[str] = set()
        for path in paths:
            before, after = (self._interface(path, _text(repo, commit, path)) for commit in (base, target))
            if before is None or after is None:
                return None
            changed |= {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
        return {name for name in changed if not name.startswith("_")}

    def _interface(self, path: str, text: str) -> dict[str, str] | None:
        language = language_of(path)
        if language == "python" and self._tools.python:
            return _script([self._tools.python, "-c", _GRIFFE], text)
        if language == "typescript" and self._tools.node_folder is not None:
            return _script(["node", str(_HERE / "typescript_interface.mjs"), str(self._tools.node_folder)], text)
        if language in _PUBLIC:
            return _heads(language, path, text)
        return None


def _text(repo: Path, commit: str, path: str) -> str:
    try:
        return git(repo, "show", f"{commit}:{path}")
    except subprocess.CalledProcessError:
        return ""


def _script(command: list[str], text: str) -> dict[str, str] | None:
    done = subprocess.run(command, input=text.encode(), capture_output=True, timeout=_SCRIPT_SEC, check=False)
    if done.returncode:
        return None
    found: dict[str, str] = json.loads(done.stdout)
    return found


def _heads(language: str, path: str, text: str) -> dict[str, str]:
    """Public definitions by their heads, where a language says in the head what is public."""
    lines = text.split("\n")
    found: dict[str, str] = {}
    for each in definitions(path, text):
        head = lines[each.line - 1]
        public = _PUBLIC[language].match(each.name if language == "go" else head)
        if public and not is_test(path):
            found[each.name] = found.get(each.name, "") + re.sub(r"\s*\{.*$", "", head).strip()
    return found

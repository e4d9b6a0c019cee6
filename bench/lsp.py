"""Definitions and references through `cpl lsp` beside other language servers, on the same random places.

    python -m bench.lsp DJANGO --server pyright=basedpyright-langserver,--stdio --server ty=ty,server

Prints, for each server: the time until the first answer, definitions answered and right, references found, times, and
the memory of its processes. The first server named is taken for the truth; where another one agrees with an answer that
differs, that is said.
"""

import argparse
import io
import json
import keyword
import os
import random
import re
import subprocess
import sys
import time
import tokenize
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.language_server import LanguageServer, ServerError

Place = tuple[str, int, int]
_KEPT_OPEN = 5
_LOADING_SEC = 60
_TIMES = 20
_OWN = "codeplane"
_IMPORTS = re.compile(r"\s*(?:import|export|from)\b")
_ENDS = re.compile(r"(?:;|^)\s*$")
_GRAMMARS = {".ts": "typescript", ".tsx": "tsx", ".go": "go", ".rs": "rust"}
# What a server has to be asked for, so that it answers by what it has resolved and not by syntax alone.
_SETTINGS: dict[str, dict[str, object]] = {"typescript-language-server": {"tsserver": {"useSyntaxServer": "never"}}}


@dataclass(slots=True, kw_only=True)
class Answers:
    """What one server answered."""

    first_sec: float = 0.0
    memory_mb: float = 0.0
    definitions: dict[Place, frozenset[Place]] = field(default_factory=dict)
    definition_sec: list[float] = field(default_factory=list)
    references: dict[Place, frozenset[Place]] = field(default_factory=dict)
    reference_sec: list[float] = field(default_factory=list)
    flagged: int = 0


class Asker(LanguageServer):
    """A server of which few documents are kept open, as in an editor."""

    flagged = 0

    def at(self, path: str, line: int, column: int) -> dict[str, object]:
        """The parameters that name a place; the documents opened longest ago are closed."""
        place = super().at(path, line, column)
        while len(self._open) > _KEPT_OPEN:
            oldest = next(name for name in self._open if name != path)
            del self._open[oldest]
            params = {"textDocument": {"uri": self._uri(oldest)}}
            self._send({"method": "textDocument/didClose", "params": params})
        return place

    def definition(self, path: str, line: int, column: int) -> frozenset[Place]:
        """Where the name at a place is defined, inside the folder."""
        answer = self._ask_again("textDocument/definition", self.at(path, line, column))
        listed = answer if isinstance(answer, list) else [answer]
        locations: list[dict[str, Any]] = [each for each in listed if isinstance(each, dict)]
        found = set()
        for location in locations:
            where = self._path(location.get("uri") or location["targetUri"])
            start = (location.get("range") or location["targetSelectionRange"])["start"]
            found.add((where, start["line"], start["character"]))
        return frozenset(found)

    def wait_until_it_knows(self, places: Sequence[Place]) -> None:
        """Wait until one of some places has a definition: some servers answer before they have loaded anything."""
        until = time.monotonic() + _LOADING_SEC
        while time.monotonic() < until and not any(self.definition(*place) for place in places):
            time.sleep(0.5)

    def _ask_again(self, method: str, params: dict[str, object]) -> object:
        """The answer, asked for again where a server has thrown its work away; an error is no answer."""
        for _ in range(_TIMES):
            try:
                return self.ask(method, params)
            except ServerError as error:
                if "content modified" not in str(error):
                    break
        return None

    @property
    def pid(self) -> int:
        """The process that was started."""
        return self._process.pid

    def _read(self) -> dict[str, object]:
        message = super()._read()
        self.flagged += message.get("method") == "$/codeplane/partial"
        return message


def python_names(path: Path) -> Iterator[tuple[int, int, str]]:
    """The names in a Python file that are no keywords, with their places."""
    with tokenize.open(path) as file:
        text = file.read()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.NAME and not keyword.iskeyword(token.string) and token.line.isascii():
            yield token.start[0] - 1, token.start[1], token.string


def tree_names(path: Path) -> Iterator[tuple[int, int, str]]:
    """The names in a file, by its syntax tree."""
    import tree_sitter
    from tree_sitter_language_pack import get_language

    parser = tree_sitter.Parser(get_language(_GRAMMARS[path.suffix]))  # type: ignore[arg-type]  # a name of the pack
    text = path.read_bytes()
    if not text.isascii():
        return
    waiting = [parser.parse(text).root_node]
    while waiting:
        node = waiting.pop()
        waiting += node.children
        if node.type.endswith("identifier") and not node.child_count and node.text:
            yield node.start_point[0], node.start_point[1], node.text.decode()


NAMES: dict[str, Callable[[Path], Iterator[tuple[int, int, str]]]] = {
    ".py": python_names,
    **dict.fromkeys(_GRAMMARS, tree_names),
}


def sample(root: Path, suffixes: Sequence[str], count: int, seed: int) -> list[Place]:
    """Random names in random files."""
    chance = random.Random(seed)
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=root, check=True, capture_output=True, text=True).stdout
    files = sorted(name for name in listed.split("\0") if name.endswith(tuple(suffixes)))
    places: list[Place] = []
    while len(places) < count:
        name = chance.choice(files)
        try:
            names = list(NAMES[Path(name).suffix](root / name))
        except (SyntaxError, tokenize.TokenError, UnicodeDecodeError):
            continue
        if names:
            line, column, _ = chance.choice(names)
            places.append((name, line, column))
    return places


def settings_of(command: Sequence[str]) -> dict[str, object] | None:
    """The initialization options of a server, by the name of its program."""
    return _SETTINGS.get(Path(command[0]).name)


def pss_mb(pids: Iterable[int]) -> float:
    """The memory of processes and their children, shared pages counted in part."""
    total, waiting, seen = 0, list(pids), set[int]()
    while waiting:
        pid = waiting.pop()
        if pid in seen:
            continue
        seen.add(pid)
        try:
            rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
            total += next(int(line.split()[1]) for line in rollup.splitlines() if line.startswith("Pss:"))
            for task in Path(f"/proc/{pid}/task").iterdir():
                waiting += map(int, (task / "children").read_text().split())
        except OSError:
            continue
    return total / 1024


def ask(
    name: str, command: Sequence[str], root: Path, places: Sequence[Place], defined: Sequence[Place], language: str
) -> Answers:
    """Ask one server about all places."""
    answers = Answers()
    started = time.perf_counter()
    server = Asker(root, command, language, settings_of(command))
    try:
        first = server.definition(*defined[0])
        while not first and time.perf_counter() - started < 60:
            first = server.definition(*defined[0])
        answers.first_sec = time.perf_counter() - started
        for place in places:
            begun = time.perf_counter()
            answers.definitions[place] = server.definition(*place)
            answers.definition_sec.append(time.perf_counter() - begun)
        for place in defined:
            begun = time.perf_counter()
            try:
                answers.references[place] = frozenset(server.references(*place))
            except ServerError as error:
                print(f"{name}: {place}: {error}", file=sys.stderr)
                answers.references[place] = frozenset()
            answers.reference_sec.append(time.perf_counter() - begun)
        daemon = root / ".codeplane" / "server.json"
        own = [json.loads(daemon.read_text())["pid"]] if name == _OWN and daemon.exists() else []
        answers.memory_mb = pss_mb([server.pid, *own])
        answers.flagged = server.flagged
    finally:
        server.close()
    return answers


def percentile(values: Sequence[float], share: float) -> float:
    """A percentile in milliseconds."""
    return sorted(values)[min(len(values) - 1, int(len(values) * share))] * 1000


def inside(places: frozenset[Place]) -> frozenset[Place]:
    """Those that are in the folder."""
    return frozenset(place for place in places if not place[0].startswith("/"))


def lines(places: frozenset[Place]) -> frozenset[tuple[str, int]]:
    """Places by line: servers differ in the column of a module or an alias."""
    return frozenset((path, line) for path, line, _ in places)


def is_import(root: Path, path: str, line: int) -> bool:
    """Whether a line is one of an import."""
    listed = (root / path).read_text(errors="replace").splitlines()
    while line > 0 and not _IMPORTS.match(listed[line]) and not _ENDS.search(listed[line - 1]):
        line -= 1
    return line < len(listed) and _IMPORTS.match(listed[line]) is not None


def report(root: Path, answered: dict[str, Answers], truth: str, places: Sequence[Place], *, verbose: bool) -> None:
    """Print the comparison."""
    print(f"load {os.getloadavg()[0]:.1f}; {len(places)} places; the truth is what {truth} says")
    reference = answered[truth]
    others = [name for name in answered if name != truth]
    for name, answers in answered.items():
        right = wrong = known = missed = disputed = further = 0
        for place in places:
            expected, found = lines(inside(reference.definitions[place])), lines(inside(answers.definitions[place]))
            if not expected:
                continue
            known += 1
            if not found:
                missed += 1
            elif found & expected:
                right += 1
            elif all(path == place[0] and is_import(root, path, line) for path, line in expected):
                # The first server has not found what is imported.
                further += 1
                known -= 1
            else:
                peers = [answered[peer] for peer in others if peer != name]
                votes = sum(bool(lines(inside(peer.definitions[place])) & found) for peer in peers)
                disputed += votes > 0
                wrong += votes == 0
                if verbose and name == _OWN:
                    kind = "disputed" if votes else "wrong"
                    print(f"  {kind}: {place} ours {sorted(found)} theirs {sorted(expected)}")
            if verbose and name == _OWN and not found:
                print(f"  missed: {place} theirs {sorted(expected)[:2]}")
        if verbose and name == _OWN:
            for place, expected_places in reference.references.items():
                if left := expected_places - answers.references[place]:
                    print(f"  references of {place}: {len(expected_places)} theirs, not ours {sorted(left)[:4]}")
        given = right + wrong + disputed
        complete = sum(reference.references[place] <= answers.references[place] for place in reference.references)
        found_refs = sum(len(answers.references[place] & reference.references[place]) for place in reference.references)
        all_refs = sum(len(found) for found in reference.references.values())
        print(
            f"{name:12} first {answers.first_sec:6.2f} s  answered {given}/{known}  right {right}/{given}"
            f" (+{disputed} where another peer agrees; {further} lead further than an import, where theirs ends)"
            f"  p50 {percentile(answers.definition_sec, 0.5):.1f} p95 {percentile(answers.definition_sec, 0.95):.1f} ms"
        )
        print(
            f"{'':12} references: {found_refs}/{all_refs} of theirs, {complete}/{len(reference.references)} sets whole,"
            f" {sum(map(len, answers.references.values()))} in all; p50 {percentile(answers.reference_sec, 0.5):.1f}"
            f" p95 {percentile(answers.reference_sec, 0.95):.1f} worst {max(answers.reference_sec) * 1000:.1f} ms"
            f"  flagged {answers.flagged}  PSS {answers.memory_mb:.0f} MB"
        )


def main() -> None:
    """Ask every server, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", type=Path)
    parser.add_argument("--server", action="append", default=[], metavar="NAME=COMMAND,ARGUMENT")
    parser.add_argument("--places", type=int, default=300)
    parser.add_argument("--defined", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--suffix", action="append", default=[])
    parser.add_argument("--language", default="python")
    parser.add_argument("--verbose", action="store_true")
    given = parser.parse_args()
    root = given.root.resolve()
    places = sample(root, given.suffix or [".py"], given.places, given.seed)
    servers = dict(item.split("=", 1) for item in given.server)
    truth = next(iter(servers))
    answered: dict[str, Answers] = {}
    cpl = str(Path(sys.executable).with_name("cpl"))
    servers[_OWN] = f"{cpl},lsp,--repo,{root}"
    commands = {name: command.split(",") for name, command in servers.items()}
    # The places of references are definitions that the first server knows.
    finder = Asker(root, commands[truth], given.language, settings_of(commands[truth]))
    defined: list[Place] = []
    chance = random.Random(given.seed)
    finder.wait_until_it_knows(places[:20])
    for place in chance.sample(places, len(places)):
        found = sorted(inside(finder.definition(*place)))
        if len(found) == 1 and found[0] not in defined and found[0][2] > 0:
            defined.append(found[0])
        if len(defined) >= given.defined:
            break
    finder.close()
    for name, command in commands.items():
        answered[name] = ask(name, command, root, places, defined, given.language)
    report(root, answered, truth, places, verbose=given.verbose)


if __name__ == "__main__":
    main()

"""What `clangd` says that names mean: the places of a symbol, counted by families.

A family is what has to keep one name: the overloads and specialisations of one function, a class with its constructors
and destructor. An answer of ours is about a family, so all places count whose symbol has the same qualified name. A
place about which `clangd` says nothing (what a template depends on, texts of macros, code that is not compiled here)
is disputed, and counts for nothing.
"""

import json
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.compilers import UnitCompiler
from bench.language_server import SERVERS, LanguageServer
from bench.symbol_sample import Symbol
from codeplane.code.languages.registry import languages
from codeplane.code.resolve.occurrences import occurrences

Place = tuple[str, int, int]
Family = tuple[str, ...]
_FILE = re.compile(r"c:([^@]*)@(?:\d+@)?")
_LOCAL_TYPE = re.compile(r"@(?:[SUET]|ST[^@]*)@\w+\Z")
_PARAMETERS = re.compile(r"\(.*\)")
_ARGUMENTS = re.compile(r"<[^<>]*>")


@contextmanager
def clangd(compiler: UnitCompiler, root: Path) -> Iterator[LanguageServer]:
    """A server that knows how the units of a checkout are compiled, once it has read all of them."""
    with tempfile.TemporaryDirectory(prefix="codeplane-clangd-") as name:
        entries = [
            {"directory": str(root), "file": unit, "arguments": [*command, "-c"]}
            for unit, command in compiler.commands.items()
        ]
        Path(name, "compile_commands.json").write_text(json.dumps(entries))
        server = LanguageServer(root, [*SERVERS["cpp"], f"--compile-commands-dir={name}"], "cpp")
        try:
            server.open(next(iter(compiler.commands)))
            server.wait_until_indexed()
            yield server
        finally:
            server.close()


def family(usr: str, container: str, name: str) -> Family:
    """What a symbol shares with those that have to keep its name; a variable of a function is alone."""
    file = _FILE.match(usr)
    if "@macro@" in usr:
        return "macro", file[1] if file else "", name
    if re.match(r"c:[^@]*@\d+@", usr) and not container.endswith("::") and not _LOCAL_TYPE.search(usr):
        return "local", usr
    plain, around = name.removeprefix("~"), _PARAMETERS.sub("", container.removesuffix("::"))
    while (shorter := _ARGUMENTS.sub("", f"{around}\0{plain}")) != f"{around}\0{plain}":
        around, plain = shorter.split("\0")
    if around.rpartition("::")[2] == plain:
        # A constructor or destructor has the name of its class.
        around = around.rpartition("::")[0]
    return "symbol", file[1] if file else "", around, plain


class ClangdTruth:
    """Asks about every place of a name, and each place once."""

    def __init__(self, server: LanguageServer, compiler: UnitCompiler) -> None:
        self._server = server
        self._compiler = compiler
        self._texts = {path: (server.root / path).read_bytes() for path in self._sources()}
        self._known: dict[Place, frozenset[Family]] = {}

    def uses(self, symbol: Symbol) -> tuple[set[Place], set[Place]] | None:
        """The places of a symbol and those that are disputed, in characters from 0; None where nothing is known."""
        asked = self._families((symbol.path, symbol.line - 1, symbol.column - 1))
        if len(asked) != 1:
            return None
        certain, disputed = set[Place](), set[Place]()
        for path, text in self._texts.items():
            offsets = occurrences(text, symbol.name)
            lines = self._server.open(path) if offsets and self._compiler.covers(path) else None
            for offset in offsets:
                place = lines.place(path, offset) if lines is not None else _place(text, path, offset)
                meant = self._families(place) if lines is not None else frozenset()
                if asked <= meant:
                    certain.add(place)
                elif not meant:
                    disputed.add(place)
        return certain, disputed

    def _families(self, place: Place) -> frozenset[Family]:
        if place not in self._known:
            answer = self._server.ask("textDocument/symbolInfo", self._server.at(*place))
            found = answer if isinstance(answer, list) else []
            self._known[place] = frozenset(
                family(one.get("usr") or "", one.get("containerName") or "", one["name"]) for one in found
            )
        return self._known[place]

    def _sources(self) -> Iterator[str]:
        for file in sorted(self._server.root.rglob("*")):
            path = file.relative_to(self._server.root).as_posix()
            language = languages().of(path)
            if file.is_file() and language is not None and language.package == "c" and not path.startswith(".git/"):
                yield path


def _place(text: bytes, path: str, offset: int) -> Place:
    before = text[:offset]
    return path, before.count(b"\n"), len(before.rpartition(b"\n")[2].decode("utf-8", "replace"))

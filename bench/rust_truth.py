"""What `rust-analyzer` says that names mean.

Places of the rest of a trait's family are disputed, and so is a place about which it says nothing: bodies of macros,
attributes that a macro from elsewhere reads, code for other systems.
"""

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from bench.language_server import LanguageServer
from bench.references import Lines, Place
from bench.rust_traits import families, own_traits, trait_of
from bench.symbol_sample import Symbol, all_symbols
from codeplane.code.resolve.occurrences import occurrences


@contextmanager
def rust_analyzer(root: Path, known: Mapping[str, object]) -> Iterator[LanguageServer]:
    """A server that has read a whole checkout; `known` has its command (`analyzer`) and its `settings`."""
    settings = known.get("settings", {})
    assert isinstance(settings, dict)
    server = LanguageServer(root, shlex.split(str(known.get("analyzer", "rust-analyzer"))), "rust", settings)
    try:
        server.wait_until_quiet()
        yield server
    finally:
        server.close()


def rust_symbols(root: Path) -> list[Symbol]:
    """All symbols of a checkout but those that a trait from elsewhere prescribes, which all of its users use, too."""
    own = own_traits(root)
    everything = all_symbols(root, lambda path: path.endswith(".rs"))
    return [symbol for symbol in everything if not (trait := trait_of(root, symbol)) or trait in own]


class RustTruth:
    """Asks about symbols; places are in characters from 0."""

    def __init__(self, server: LanguageServer, symbols: Sequence[Symbol]) -> None:
        self._server = server
        self._families = families(server.root, symbols)
        self._texts = {
            file.relative_to(server.root).as_posix(): file.read_bytes() for file in sorted(server.root.rglob("*.rs"))
        }
        self._lines = {path: Lines(text) for path, text in self._texts.items()}
        self._silent: dict[str, set[Place]] = {}

    def uses(self, symbol: Symbol) -> tuple[set[Place], set[Place]] | None:
        """The places of a symbol and the disputed ones; None where the server knows no such declaration."""
        certain = self._places([symbol])
        if (symbol.path, symbol.line - 1, symbol.column - 1) not in certain:
            return None
        return certain, self._places(self._families.get(symbol, ())) | self._unknown(symbol.name)

    def _unknown(self, name: str) -> set[Place]:
        """The places of a name that the server does not know to mean anything."""
        if name not in self._silent:
            self._silent[name] = {
                place
                for path, text in self._texts.items()
                for place in (self._lines[path].place(path, at) for at in occurrences(text, name))
                if not self._server.ask("textDocument/definition", self._server.at(*place))
            }
        return self._silent[name]

    def _places(self, symbols: Iterable[Symbol]) -> set[Place]:
        found: set[Place] = set()
        for symbol in symbols:
            for path, line, column in self._server.references(symbol.path, symbol.line - 1, symbol.column - 1):
                # `Self` is a reference, too.
                at = self._lines[path].offset(line, column) if path in self._lines else -1
                if at >= 0 and self._texts[path][at:].startswith(symbol.name.encode()):
                    found.add((path, line, column))
        return found

"""Namespaces of C++ that a macro opens: `LIB_BEGIN_NAMESPACE`, where a `#define` says which these are."""

import re
from collections.abc import Iterator

from codeplane.code.languages.c.source_repair import BLOCK_MACRO
from codeplane.code.languages.member_resolver import CodeView

_BRACKET = re.compile(rb"(\binline\s+)?\bnamespace\b\s*([\w:]*)[^{}]*\{|(\})|\{")
_CONTINUED = re.compile(rb"\\\r?\n")


class MacroNamespaces:
    """Finds which namespaces are open at a place by macros alone on their lines."""

    def __init__(self, view: CodeView) -> None:
        self._view = view
        self._files: dict[str, list[tuple[int, str]]] = {}
        self._macros: dict[str, list[str | None]] = {}
        self._known: dict[str, frozenset[str]] = {}

    def at(self, path: str, offset: int) -> str:
        """Return the namespaces that macros have opened before a place, joined by dots."""
        found = ""
        for begin, space in self._namespace_changes(path):
            if begin > offset:
                break
            found = space
        return found

    def paths_to(self, name: str) -> frozenset[str]:
        """Return the namespaces of this name that macros of the repository open, each from the outermost it opens."""
        if name not in self._known:
            opens = re.compile(
                rb"^[ \t]*#[ \t]*define\b(?:\\\r?\n|[^\n])*\bnamespace\s+(?:\w+::)*%s\b(?:\\\r?\n|[^\n])*"
                % re.escape(name.encode()),
                re.MULTILINE,
            )
            found: set[str] = set()
            for path in self._view.files_with(name):
                text = self._view.text(path)
                for define in opens.finditer(text) if b"#" in text else ():
                    opened: list[str] = []
                    for part in _read_brackets(_CONTINUED.sub(b" ", define[0])):
                        opened = [*opened, part] if part is not None else opened[:-1]
                        space = ".".join(filter(None, opened))
                        found.update([space] if space.rpartition(".")[2] == name else [])
            self._known[name] = frozenset(found)
        return self._known[name]

    def _namespace_changes(self, path: str) -> list[tuple[int, str]]:
        """Return where the namespaces that macros open change in a file, and what they are from there on."""
        found = self._files.get(path)
        if found is None:
            found = self._files[path] = []
            stack: list[str] = []
            for line in BLOCK_MACRO.finditer(self._view.text(path)):
                for part in self._brackets(line[2].decode()):
                    if part is not None:
                        stack.append(part)
                    elif stack:
                        stack.pop()
                found.append((line.end(), ".".join(filter(None, stack))))
        return found

    def _brackets(self, macro: str) -> list[str | None]:
        """Return what a macro opens, empty for what is no namespace of its own, and None for each that it closes."""
        found = self._macros.get(macro)
        if found is None:
            found = self._macros[macro] = []
            for path, index in self._view.find_definitions(macro)[0]:
                facts = self._view.facts(path)
                definition = facts.definitions[index] if facts is not None and index < len(facts.definitions) else None
                if definition is None or definition.kind != "macro":
                    continue
                body = _CONTINUED.sub(b" ", self._view.text(path)[definition.name_at + len(macro) : definition.end])
                found += _read_brackets(body)
                if found:
                    break
        return found


def _read_brackets(body: bytes) -> Iterator[str | None]:
    """Yield what a macro's text opens, empty for what is no namespace of its own, and None for each that it closes."""
    for match in _BRACKET.finditer(body):
        # What is in the braces of `export {` and `extern "C" {` is in the namespace around them.
        name = b"" if match[1] else match[2] or b""
        yield None if match[3] else name.decode().replace("::", ".")

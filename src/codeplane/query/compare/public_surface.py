"""What a package gives its users: the names that its entry files export, and the types that those speak of."""

import re
from collections.abc import Callable, Iterator, Mapping

from codeplane.code.languages.modules import Modules
from codeplane.code.model import Definition, Facts
from codeplane.query.compare.rules import CALLABLES

_TYPES = frozenset({"class", "interface", "type", "enum", "namespace"})
_WORD = re.compile(rb"[A-Za-z_$][\w$]*")
_RETURNS = re.compile(rb"\)\s*:")
_RESULT = re.compile(rb"=>\s*\{|[{}]|\breturn\b(?!\s*[;}\n])|\byield\b")
_CALLBACK = re.compile(rb"(?<=[:|<,?(])\s*\(([^()]*)\)\s*=>")
_CALLED = re.compile(rb"\s*(?::|=>)")
_CALL_RESULT = re.compile(rb"\)\s*(?::|=>)\s*([^;\n{}]*)")
_MOST_NAMES = 200_000
_DEEPEST = 20
# A file and the name that it exports or defines.
Named = tuple[str, str]


class PublicSurface:
    """Tells by which names users of a package reach what a file exports, in one state."""

    def __init__(
        self, modules: Modules, facts: Callable[[str], Facts | None], text: Callable[[str], bytes | None]
    ) -> None:
        self._modules = modules
        self.facts = facts
        self.text = text
        self._exported: dict[Named, set[str]] = {}
        self._defined: dict[Named, set[str]] = {}
        self._mentioned: set[Named] = set()
        # Types of what users give to functions, and of what they get.
        self._taken: set[Named] = set()
        self._handed_out: set[Named] = set()
        self._returned: set[Named] = set()
        self._given: set[str] = set()
        self._walked: dict[int, bool] = {}
        self._count = 0

    def governs(self, path: str) -> bool:
        """Whether a manifest says by which files the package of a file is used."""
        entries = self._modules.entry_files(path)
        if not entries:
            return False
        # One object for all files of a package.
        if id(entries) not in self._walked:
            self._walked[id(entries)] = self._walk(entries)
        return self._walked[id(entries)]

    def names(self, path: str, name: str) -> set[str]:
        """The names that users have for what a file defines or passes on under a name."""
        return self._exported.get((path, name), set()) | self._defined.get((path, name), set())

    def exact_names(self, path: str, name: str) -> set[str]:
        """The names that users have for a definition, where a signature belongs to a name with it."""
        return self.names(path, name)

    def lost_macros(self, path: str, name: str, now: "PublicSurface") -> list[str]:
        """The macros that a definition was and is no longer."""
        return []

    def is_sealed(self, path: str, name: str) -> bool:
        """Whether only its package can implement a trait."""
        return False

    def known_as(self, path: str, parts: tuple[str, ...]) -> set[str]:
        """The names of the definition that a file reaches by a path, where paths are followed."""
        return set()

    def is_nameable(self, path: str, written: str) -> bool:
        """Whether users have a name for the trait that a file writes so."""
        return True

    def is_trait_seen(self, path: str, name: str) -> bool:
        """Whether users may know the trait that a file calls by a name."""
        return True

    def names_of_file(self, path: str) -> set[str]:
        """The names that users have for anything of a file."""
        return set[str]().union(*(names for (file, _), names in self._exported.items() if file == path))

    def lost_names(self, path: str, name: str, now: "PublicSurface") -> set[str]:
        """The names that users had by way of a file and have no longer, though what they stand for is still there."""
        gone = self.names(path, name) - now._given
        still = {
            known_as
            for (file, local), names in self._defined.items()
            if not names.isdisjoint(gone) and _defines(now.facts(file), local)
            for known_as in names
        }
        return gone & still

    def has(self, names: set[str]) -> bool:
        """Whether users have all of these names, whatever they stand for."""
        return names <= self._given

    def type_named(self, path: str, name: str) -> Named | None:
        """Where the type is defined that a file calls by a name it has imported."""
        facts = self.facts(path)
        for item in facts.imports if facts is not None else ():
            if item.scope == 0 and item.local == name:
                for target in self._modules.find(item.source, path):
                    return next(self._definitions(target, item.imported, 0), None)
        return None

    def is_only_taken(self, path: str, name: str) -> bool:
        """Whether users give values of a type to functions of the package, and get none from them."""
        return (path, name) in self._taken and (path, name) not in self._handed_out

    def is_returned(self, path: str, name: str) -> bool:
        """Whether functions of the package say that they make values of a type, so that users need not."""
        return (path, name) in self._returned

    def is_only_handed_out(self, path: str, name: str) -> bool:
        """Whether users get values of a type from the package, and give none to it."""
        return (path, name) in self._handed_out and (path, name) not in self._taken

    def is_seen(self, path: str, name: str) -> bool:
        """Whether users have a name for a definition, or for something that speaks of it."""
        return bool(self.names(path, name)) or (path, name) in self._mentioned

    def _walk(self, entries: Mapping[str, tuple[str, ...]]) -> bool:
        """Follow the exports of the entry files; return whether all could be followed."""
        for entry, files in entries.items():
            for path in files:
                for name in self._names_in(path, frozenset()):
                    self._follow(path, name, f"{entry} {name}", 0)
        # A type that is only exported says nothing about who makes its values.
        waiting: list[tuple[Named, bool | None]] = [(named, None) for named in self._defined]
        flags = {True: self._handed_out, False: self._taken, None: self._mentioned}
        while waiting:
            named, is_handed_out = waiting.pop()
            if is_handed_out:
                self._returned.update(self._call_results(*named))
            for other, is_result, other_way in self._signature_types(*named):
                handed_out = is_handed_out if is_result is None else is_result
                if is_result is None and other_way and is_handed_out is not None:
                    handed_out = not is_handed_out
                if other not in flags[handed_out]:
                    self._mentioned.add(other)
                    flags[handed_out].add(other)
                    waiting.append((other, handed_out))
        self._add_bases()
        return 0 < self._count < _MOST_NAMES

    def _add_bases(self) -> None:
        """Note that who makes values of a type makes values of what that builds on."""
        waiting = list(self._returned)
        while waiting:
            path, name = waiting.pop()
            facts, text = self.facts(path), self.text(path)
            if facts is None or text is None:
                continue
            heads = [
                text[definition.name_at : definition.body]
                for definition in facts.definitions
                if definition.name == name and definition.container < 0 and definition.kind in ("interface", "class")
            ]
            words = {word.decode() for head in heads for word in _WORD.findall(head.partition(b" extends ")[2])}
            new = set(self._types(path, facts, words)) - self._returned
            self._returned |= new
            waiting += new

    def _names_in(self, path: str, above: frozenset[str]) -> set[str]:
        """The names that a file exports, with those it passes on wholesale."""
        facts = self.facts(path)
        names: set[str] = set()
        if facts is None or path in above:
            return names
        for export in facts.exports:
            if export.name != "*":
                names.add(export.name)
                continue
            for target in self._modules.find(export.source, path):
                names |= self._names_in(target, above | {path}) - {"default"}
        return names

    def _follow(self, path: str, name: str, known_as: str, depth: int) -> bool:
        """Note that users know what a file exports by a name; return whether the file exports it."""
        facts = self.facts(path)
        self._count += 1
        if facts is None or depth > _DEEPEST or self._count > _MOST_NAMES:
            return False
        found = False
        for export in facts.exports:
            if export.name == name:
                found = True
                self._given.add(known_as)
                self._exported.setdefault((path, name), set()).add(known_as)
                if export.source:
                    self._pass_on(path, export.source, export.local, known_as, depth)
                else:
                    self._resolve(path, facts, export.local, known_as, depth)
        for export in facts.exports if not found and name != "default" else ():
            if export.name == "*":
                for target in self._modules.find(export.source, path):
                    if self._follow(target, name, known_as, depth + 1):
                        self._exported.setdefault((path, f"* from {export.source}"), set()).add(known_as)
                        found = True
        return found

    def _pass_on(self, path: str, source: str, name: str, known_as: str, depth: int) -> None:
        for target in self._modules.find(source, path):
            if name != "*":
                self._follow(target, name, known_as, depth + 1)
                continue
            for inner in self._names_in(target, frozenset()) if depth < _DEEPEST else ():
                self._follow(target, inner, f"{known_as}.{inner}", depth + 1)

    def _resolve(self, path: str, facts: Facts, local: str, known_as: str, depth: int) -> None:
        for item in facts.imports:
            if item.scope == 0 and item.local == local:
                self._pass_on(path, item.source, item.imported or "*", known_as, depth)
                return
        self._defined.setdefault((path, local), set()).add(known_as)

    def _signature_types(self, path: str, name: str) -> Iterator[tuple[Named, bool | None, bool]]:
        """The types that the signatures of a definition name, and whether users get values of them.

        The last says of a type's parts whether values go the other way than those of the type.
        """
        facts, text = self.facts(path), self.text(path)
        if facts is None or text is None:
            return
        words: dict[bool | None, set[str]] = {False: set(), True: set(), None: set()}
        returned: set[str] = set()
        arguments: list[bytes] = []
        for place, definition in enumerate(facts.definitions):
            if definition.name == name and definition.container < 0:
                for span, is_result in _signatures(facts, place, definition, text):
                    if is_result is None:
                        span, taken = _without_arguments(span)
                        arguments += taken
                    spoken = _names_in(span)
                    words[is_result] |= spoken
                    returned |= spoken if _RETURNS.match(span) or (is_result and span.endswith(b"=>")) else set()
        self._returned.update(self._types(path, facts, returned))
        passed = {word for span in arguments for word in _names_in(span)}
        for is_result, spoken in words.items():
            for named in self._types(path, facts, spoken):
                yield named, is_result, False
        for named in self._types(path, facts, passed):
            yield named, None, True

    def _call_results(self, path: str, name: str) -> Iterator[Named]:
        """The types that calls of a function type give, as it says."""
        facts, text = self.facts(path), self.text(path)
        for definition in facts.definitions if facts is not None else ():
            if definition.name == name and definition.container < 0 and definition.kind in ("type", "interface"):
                written = (text or b"")[definition.start : definition.end]
                words = {word.decode() for result in _CALL_RESULT.findall(written) for word in _WORD.findall(result)}
                assert facts is not None
                yield from self._types(path, facts, words)

    def _types(self, path: str, facts: Facts, words: set[str]) -> Iterator[Named]:
        for definition in facts.definitions:
            if definition.container < 0 and definition.name in words and definition.kind in _TYPES:
                yield path, definition.name
        for item in facts.imports:
            if item.scope == 0 and item.local in words:
                for target in self._modules.find(item.source, path):
                    yield from self._definitions(target, item.imported, 0)

    def _definitions(self, path: str, name: str, depth: int) -> Iterator[Named]:
        """Where a name that a file exports is defined."""
        facts = self.facts(path)
        if facts is None or depth > _DEEPEST:
            return
        for export in facts.exports:
            if export.name not in (name, "*"):
                continue
            if export.source:
                for target in self._modules.find(export.source, path):
                    yield from self._definitions(target, name if export.name == "*" else export.local, depth + 1)
                continue
            item = next((item for item in facts.imports if item.scope == 0 and item.local == export.local), None)
            if item is None:
                yield from self._types(path, facts, {export.local})
            else:
                for target in self._modules.find(item.source, path):
                    yield from self._definitions(target, item.imported, depth + 1)


def _defines(facts: Facts | None, name: str) -> bool:
    return facts is not None and any(each.name == name and each.container < 0 for each in facts.definitions)


def _gives_nothing(body: bytes) -> bool:
    """Whether a function has statements, and no result among them."""
    if not body.lstrip().startswith(b"{"):
        return False
    # A result of a function in it is not its own.
    inside: list[bool] = []
    for found in _RESULT.finditer(body):
        if found[0] == b"}":
            del inside[-1:]
        elif found[0].endswith(b"{"):
            inside.append(found[0] != b"{")
        elif not any(inside):
            return False
    return True


def _names_in(span: bytes) -> set[str]:
    return {word.decode() for word in _WORD.findall(span)}


def _without_arguments(written: bytes) -> tuple[bytes, list[bytes]]:
    """A type without the arguments of the functions in it, and those, without what functions in them get."""
    left, taken, start, at = b"", list[bytes](), 0, 0
    while (at := written.find(b"(", at)) >= 0:
        depth, end = 1, at + 1
        while depth and end < len(written):
            depth += (written[end : end + 1] == b"(") - (written[end : end + 1] == b")")
            end += 1
        if _CALLED.match(written, end):
            inside, given = _without_arguments(written[at + 1 : end - 1])
            taken.append(inside)
            left += written[start:at] + b" " + b" ".join(given) + b" "
            start = at = end
        else:
            at += 1
    return left + written[start:], taken


def _arguments(header: bytes) -> Iterator[tuple[bytes, bool | None]]:
    """The parts of a head that tell what users give, and what functions get that they give."""
    yield _CALLBACK.sub(b" => ", header), False
    for found in _CALLBACK.finditer(header):
        yield found[0], True


def _signatures(facts: Facts, place: int, definition: Definition, text: bytes) -> Iterator[tuple[bytes, bool | None]]:
    """The parts of a definition that tell users its types, and whether users get values of them.

    None says: if they get values of the definition. A function without a written result may return all that it names.
    """
    header = text[definition.start : definition.body]
    if definition.kind in CALLABLES:
        returns = list(_RETURNS.finditer(header))
        if not returns and _gives_nothing(text[definition.body : definition.end]):
            yield from _arguments(header)
        elif not returns:
            yield text[definition.start : definition.end], True
        else:
            # Function types in it have results, too; the last is its own, whatever stands in that.
            yield from _arguments(header[: returns[-1].start()])
            yield header[returns[-1].start() :], True
    elif definition.kind in _TYPES and definition.kind != "class":
        yield text[definition.start : definition.end], None
    elif definition.kind != "class":
        yield text[definition.start : definition.end], True
    else:
        yield header.partition(b"{")[0], True
        for inner, member in enumerate(facts.definitions):
            if member.container == place and not member.name.startswith("#"):
                yield from _signatures(facts, inner, member, text)

"""What the parameters of macros stand for, by what the macros are called with."""

import re
from collections.abc import Iterator, Sequence

from codeplane.code.languages.c.types import Type, Types
from codeplane.code.languages.member_resolver import CodeView
from codeplane.code.model import REASONS, Facts

_PARAM = REASONS.index("PARAM")
_RECEIVER = re.compile(rb"(?:\(\s*)?\b([A-Za-z_]\w*)(?:\s*\))?\s*(?:->|\.)[ \t]*\Z")
_WHOLE = re.compile(rb"\s*\(?\s*([A-Za-z_]\w*)\s*\)?\s*")
_CALLED = re.compile(rb"\b([A-Za-z_]\w*)[ \t]*\((?:[^()\n;{}]*,)?\s*\Z")
_OPENED = re.compile(rb"\b([A-Za-z_]\w*)[ \t]*\(([\w\s,:]*)\Z")
_PASTED = re.compile(rb"\w+(?:[ \t]*##[ \t]*\w+)+")
_STRING = re.compile(rb"\"(?:[^\"\\\n]|\\.)*\"")
_HEAD = re.compile(rb"#[ \t]*define[ \t]+\w+\(([^()]*)\)")
_ARGUMENTS = re.compile(rb"\b([A-Za-z_]\w*)[ \t]*\(([^()]*)\Z")
# Macros of googletest, which is seldom in the repository, and which of their arguments are parts of names.
_TEST_WORDS = {"TEST": (0, 1), **dict.fromkeys(("TEST_F", "TEST_P", "TYPED_TEST", "TYPED_TEST_P"), (1,))}
_CALLS = re.compile(rb"\b([A-Za-z_]\w*)[ \t]*\(")
_READ = ("c", "cpp")
_MAX_CALLS = 400
_MAX_DEPTH = 3
_MAX_LENGTH = 2_000
_MAX_HEAD = 200


class Macros:
    """Types the receivers in the texts of macros, which have no syntax."""

    def __init__(self, view: CodeView, types: Types) -> None:
        self._view = view
        self._types = types
        self._given: dict[tuple[str, int], tuple[Type, ...]] = {}
        self._joins: dict[tuple[str, int], bool] = {}

    def receiver_types(self, path: str, facts: Facts, offset: int) -> tuple[Type, ...]:
        """Return the types of what a member in the text of a macro is read from; empty unless all are known."""
        before = _RECEIVER.search(self._view.text(path), max(0, offset - 120), offset)
        return self._of_parameter(path, facts, offset, before[1].decode(), 0) if before is not None else ()

    def pasting_macro(self, name: str, places: Sequence[tuple[str, int]]) -> tuple[str, int] | None:
        """Return where `##` makes a name from parts, or other names from one that is used at these places."""
        for part, pattern in _parts(name):
            for path in self._view.files_with(part):
                facts = self._view.facts(path)
                text = self._view.text(path) if facts is not None and facts.language in _READ else b""
                for made in pattern.finditer(text):
                    if _pastes_to(text, made.start(), name):
                        return path, made.start()
        for path, offset in places:
            facts, text = self._view.facts(path), self._view.text(path)
            called = _CALLED.search(text, max(0, offset - 200), offset) if facts is not None else None
            if called is not None and self._pastes(called[1].decode("utf-8", "replace"), 0):
                return path, offset
        return None

    def is_word(self, path: str, offset: int) -> bool:
        """Whether what a macro is called with is no name here, but a part of other names or a text."""
        text = self._view.text(path)
        opened = _OPENED.search(text, max(0, offset - _MAX_HEAD), offset)
        if opened is None or _HEAD.search(text, text.rfind(b"\n", 0, opened.start()) + 1, opened.end()):
            return False
        return self._only_joins(opened[1].decode(), opened[2].count(b","), 0)

    def _only_joins(self, macro: str, position: int, depth: int) -> bool:
        """Whether a macro does nothing with an argument but join it with something else, or write it as text."""
        key = (macro, position)
        if key not in self._joins:
            self._joins[key] = False
            bodies = list(self._bodies(macro))
            self._joins[key] = (
                all(self._joins_in(body, position, depth) for body in bodies)
                if bodies
                else position in _TEST_WORDS.get(macro, ())
            )
        return self._joins[key]

    def _joins_in(self, body: bytes, position: int, depth: int) -> bool:
        parameters = [word.strip() for word in body.partition(b")")[0].lstrip(b"(").split(b",")]
        if not body.startswith(b"("):
            return False
        if parameters[-1] == b"...":
            parameters[-1:] = [b"__VA_ARGS__"] * (max(0, position - len(parameters) + 1) + 1)
        if position >= len(parameters) or not parameters[position]:
            return False
        text = _STRING.sub(b"0", body.partition(b")")[2])
        places = list(re.finditer(rb"\b%s\b" % re.escape(parameters[position]), text))
        return bool(places) and all(self._is_joined(text, place, depth) for place in places)

    def _is_joined(self, text: bytes, place: re.Match[bytes], depth: int) -> bool:
        before, after = text[: place.start()].rstrip(b" \t\\\r\n"), text[place.end() :].lstrip(b" \t\\\r\n")
        if before.endswith(b"#") or after.startswith(b"##"):
            return True
        given = _ARGUMENTS.search(text, max(0, place.start() - _MAX_HEAD), place.start())
        if given is None or depth >= 2 * _MAX_DEPTH or not after.startswith((b",", b")")):
            return False
        whole = given[2].rpartition(b",")[2].strip(b" \t\\\r\n")
        return not whole and self._only_joins(given[1].decode(), given[2].count(b","), depth + 1)

    def _bodies(self, macro: str) -> Iterator[bytes]:
        """Yield what stands behind the name of a macro in each of its definitions."""
        for path, index in self._view.find_definitions(macro)[0]:
            facts = self._view.facts(path)
            definition = facts.definitions[index] if facts is not None and index < len(facts.definitions) else None
            if facts is not None and definition is not None and definition.kind == "macro" and facts.language in _READ:
                yield self._view.text(path)[definition.name_at + len(definition.name) : definition.end]

    def _pastes(self, macro: str, depth: int) -> bool:
        """Whether a macro, or one that its text names, joins what it is given with something else."""
        for body in self._bodies(macro):
            if b"##" in body:
                return True
            inner = {word.decode() for word in _CALLS.findall(body)} - {macro}
            if depth < _MAX_DEPTH and any(self._pastes(word, depth + 1) for word in inner):
                return True
        return False

    def _of_parameter(self, path: str, facts: Facts, offset: int, name: str, depth: int) -> tuple[Type, ...]:
        scope = facts.scope_at(offset)
        index = facts.scopes[scope].definition
        if index < 0 or facts.definitions[index].kind != "macro" or not facts.rows(scope, name):
            return ()
        places = sorted(facts.bind_at(row) for row in range(len(facts.bind_names)) if facts.bind_scope(row) == scope)
        return self._arguments(
            facts.definitions[index].name, places.index(facts.bind_at(facts.rows(scope, name)[0])), depth
        )

    def _arguments(self, macro: str, position: int, depth: int) -> tuple[Type, ...]:
        """Return the types of an argument in all calls of a macro."""
        if (macro, position) in self._given or depth > _MAX_DEPTH:
            return self._given.get((macro, position), ())
        self._given[macro, position] = ()
        found: list[Type] = []
        pattern = re.compile(rb"(?<![\w#])(#[ \t]*define[ \t]+)?\b%s[ \t]*\(" % macro.encode())
        for path in self._view.files_with(macro):
            facts, text = self._view.facts(path), self._view.text(path)
            for call in pattern.finditer(text) if facts is not None and facts.language in _READ else ():
                at = call.end() - 1
                if call[1] or facts is None or facts.in_text(at):
                    continue
                types = self._argument(path, facts, call.start(), at, position, depth)
                if not types or len(found) > _MAX_CALLS:
                    return ()
                found += types
        self._given[macro, position] = tuple(found)
        return self._given[macro, position]

    def _argument(
        self, path: str, facts: Facts, start: int, opened: int, position: int, depth: int
    ) -> tuple[Type, ...]:
        node = self._view.node(path, start, start + 1)
        call = node.parent if node is not None else None
        if call is not None and call.type == "call_expression":
            given = call.child_by_field_name("arguments")
            argument = given.named_child(position) if given is not None and position < given.named_child_count else None
            found = self._types.of(path, argument) if argument is not None else None
            return (found,) if found is not None else ()
        if node is None or node.type != "preproc_arg":
            return ()
        whole = _WHOLE.fullmatch(_nth(self._view.text(path), opened, position))
        return self._of_parameter(path, facts, start, whole[1].decode(), depth + 1) if whole is not None else ()


def _nth(text: bytes, opened: int, position: int) -> bytes:
    """Return one of the arguments in brackets."""
    depth, start, count = 0, opened + 1, 0
    for at in range(opened, min(len(text), opened + _MAX_LENGTH)):
        char = text[at : at + 1]
        if char in b"([{":
            depth += 1
        elif char in b")]}":
            depth -= 1
        if (depth == 1 and char == b",") or depth == 0:
            if count == position:
                return text[start:at]
            count, start = count + 1, at + 1
        if depth == 0:
            break
    return b""


def _pastes_to(text: bytes, at: int, name: str) -> bool:
    """Whether what is joined at a place may be a name."""
    line = text.rfind(b"\n", 0, at) + 1
    joined = next((chain for chain in _PASTED.finditer(text, line) if chain.end() > at), None)
    if joined is None or joined.start() > at:
        return True
    head = _HEAD.search(text, text.rfind(b"#", 0, text.rfind(b"define", 0, at)), at)
    given = {word.strip(b" \t\\\r\n") for word in head[1].split(b",")} if head is not None else set()
    parts = (part.strip() for part in joined[0].split(b"##"))
    pattern = b"".join(rb"\w*" if part in given or part == b"__VA_ARGS__" else re.escape(part) for part in parts)
    return re.fullmatch(pattern, name.encode()) is not None


def _parts(name: str) -> Iterator[tuple[str, re.Pattern[bytes]]]:
    """Yield the beginnings and ends of a name, each with how a macro joins it."""
    for at in range(1, len(name)):
        if name[at - 1] == "_" or name[at] == "_" or name[at].isupper():
            begin, end = name[:at], name[at:]
            yield begin, re.compile(rb"\b%s[ \t]*##" % begin.encode())
            yield end, re.compile(rb"##[ \t]*%s\b" % end.encode())

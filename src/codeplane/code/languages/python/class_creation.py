"""How a Python class is created, and what calling it returns, read from the text."""

import re
from collections.abc import Sequence

from codeplane.code.languages.expression import closing_bracket
from codeplane.code.languages.python.evidence import decorators
from codeplane.code.model import Definition, Facts

_DECORATOR = re.compile(rb"^[ \t]*@[ \t]*([\w\x80-\xff]+(?:[ \t]*\.[ \t]*[\w\x80-\xff]+)*)", re.MULTILINE)
_METACLASS = re.compile(rb"\bmetaclass[ \t]*=[ \t]*([\w\x80-\xff.]+)[ \t]*([(\[]?)")
_RETURN = re.compile(rb"\breturn\b[ \t]*")
_PARTIAL = re.compile(rb"(?:functools\.)?partial\(\s*(?=[\w\x80-\xff]+\s*(?:,\s*[\w\x80-\xff]+\s*=(?!=)|\)))")
_NAME = re.compile(rb"([A-Za-z_\x80-\xff][\w\x80-\xff]*)[ \t]*(\(?)")
_FIRST = re.compile(rb"\(\s*([A-Za-z_\x80-\xff][\w\x80-\xff]*)")
_MADE = rb"(?:super\s*\([^()]*\)|[\w\x80-\xff.]+)\s*\.\s*%s\s*\("
_ENDS = re.compile(rb"[ \t]*(?:[#;\r\n]|$)")
# Decorators of others that give back the class they are put on.
_KEEPING = frozenset(
    {
        "attributes",
        "attrs",
        "add_metaclass",
        "dataclass",
        "dataclass_json",
        "dataclass_transform",
        "define",
        "deprecated",
        "expectedFailure",
        "final",
        "frozen",
        "mutable",
        "runtime_checkable",
        "s",
        "skip",
        "skipIf",
        "skipUnless",
        "total_ordering",
        "unique",
        "verify",
    }
)


def decorator_places(above: bytes, start: int) -> list[tuple[str, int]]:
    """The decorators in the lines above a class: the dotted name of each, and where its last part stands."""
    found = []
    for match in _DECORATOR.finditer(above):
        last = match[1].rpartition(b".")[2].strip()
        found.append((match[1].decode("utf-8", "replace").replace(" ", ""), start + match.end(1) - len(last)))
    return found


def is_known_to_keep(name: str) -> bool:
    """Whether a decorator that is not of this repository gives back the class itself, by what it is called."""
    return name.rpartition(".")[2] in _KEEPING or ".mark." in f".{name}"


def metaclass(text: bytes, definition: Definition) -> tuple[str, int] | None:
    """The metaclass a class names, and where the last part stands; the name is empty for one that is made there."""
    found = _METACLASS.search(text, *definition.bases) if definition.bases is not None else None
    if found is None:
        return None
    last = found[1].rpartition(b".")[2]
    return ("" if found[2] else last.decode("utf-8", "replace")), found.end(1) - len(last)


def all_give_back(facts: Facts, text: bytes, functions: Sequence[int], around: frozenset[int] = frozenset()) -> bool:
    """Whether functions of one name return what they were given first, or functions that do; overloads say nothing."""
    plain = [index for index in functions if b"overload" not in decorators(text, facts.definitions[index])]
    return bool(plain) and all(index in around or _gives_back(facts, text, index, around | {index}) for index in plain)


def _gives_back(facts: Facts, text: bytes, index: int, around: frozenset[int]) -> bool:
    body, definition = facts.body_of.get(index, -1), facts.definitions[index]
    first = _FIRST.search(text, definition.name_at, definition.end)
    if body < 0 or first is None:
        return False
    if len(facts.rows_by_binding.get((body, first[1].decode("utf-8", "replace")), ())) != 1:
        return False
    returns = 0
    for match in _RETURN.finditer(text, definition.name_at, definition.end):
        if facts.in_text(match.start()) or facts.scope_at(match.start()) != body:
            continue
        returns += 1
        name = _NAME.match(text, match.end())
        if name is None or (name[1] != first[1] and not _ENDS.match(text, name.end()) and not name[2]):
            return False
        if name[1] == first[1] and _ENDS.match(text, name.end()):
            continue
        partial = _PARTIAL.match(text, match.end())
        if partial is not None:
            name = _NAME.match(text, partial.end())
        elif name[2] and not _hands_on(text, name.end() - 1, first[1]):
            return False
        named = name[1].decode("utf-8", "replace") if name is not None else ""
        inner = facts.definitions_by_binding.get((body, named), ()) or facts.definitions_by_binding.get((0, named), ())
        if not all_give_back(facts, text, inner, around):
            return False
    return returns > 0


def _hands_on(text: bytes, opened: int, name: bytes) -> bool:
    """Whether a call is given a name first, or no argument by its place, and nothing comes after it."""
    closed = closing_bracket(text, opened)
    first = re.compile(rb"\(\s*(?:%s\s*[,)]|\*|[\w\x80-\xff]+\s*=(?!=)|\))" % re.escape(name))
    return closed is not None and first.match(text, opened) is not None and _ENDS.match(text, closed + 1) is not None


def makes_its_own(facts: Facts, text: bytes, index: int, name: str) -> bool:
    """Whether `__new__`, or a metaclass's `__call__`, gives what the one above it makes and nothing else."""
    body, definition = facts.body_of.get(index, -1), facts.definitions[index]
    if body < 0:
        return False
    made = re.compile(_MADE % name.encode())
    returns = 0
    for match in _RETURN.finditer(text, definition.name_at, definition.end):
        if facts.in_text(match.start()) or facts.scope_at(match.start()) != body:
            continue
        returns += 1
        if made.match(text, match.end()):
            continue
        variable = _NAME.match(text, match.end())
        if variable is None or variable[2] or not _ENDS.match(text, variable.end()):
            return False
        rows = facts.rows_by_binding.get((body, variable[1].decode("utf-8", "replace")), ())
        given = re.compile(rb"[ \t]*=[ \t]*" + made.pattern)
        ends = [facts.bind_at(row) + len(variable[1]) for row in rows]
        if not ends or not all(given.match(text, end) for end in ends):
            return False
    return returns > 0

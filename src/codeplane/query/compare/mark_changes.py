"""Changes of decorators, annotations and attributes, and of the traits that they derive."""

import re
from collections.abc import Sequence

from codeplane.code.languages.contract import Contract
from codeplane.query.compare.header import Header
from codeplane.query.compare.outline import Outline
from codeplane.query.compare.verdict import Verdict

Implemented = frozenset[tuple[str, str]]
# What is around a function that makes something else of it.
_WRAPPERS = ("contextmanager", "asynccontextmanager")
_WAYS = {"staticmethod": "static method", "classmethod": "class method", "property": "property"}


def judge_marks(verdict: Verdict, old_header: Header, new_header: Header, rules: Contract) -> None:
    """Judge decorators, annotations and attributes that came or went."""
    if old_header.marks == new_header.marks:
        return
    if rules.non_exhaustive:
        came = "non_exhaustive" in " ".join(new_header.marks) and "non_exhaustive" not in " ".join(old_header.marks)
        if came:
            verdict.add("non_exhaustive now", breaks=True, tag="decorators_changed")
    if rules.decorators:
        before, after = call_style(old_header), call_style(new_header)
        if before != after:
            breaks = {before, after} != {"static method", "class method"}
            verdict.add(f"{before} before, {after} now", breaks=breaks, tag="decorators_changed")
        if has_decorator(new_header, "abstractmethod") and not _is_abstract(old_header):
            verdict.add("abstractmethod now", breaks=True, tag="decorators_changed")
        for word in _WRAPPERS:
            # What is no generator without it may give what it gives by hand.
            if (
                has_decorator(old_header, word) != has_decorator(new_header, word)
                and "*" in old_header.modifiers & new_header.modifiers
                and not any("ContextManager" in header.returns for header in (old_header, new_header))
            ):
                message = f"no longer {word}" if has_decorator(old_header, word) else f"{word} now"
                verdict.add(message, breaks=True, tag="decorators_changed")
        if before == after == "property" and _setter(old_header) and not _setter(new_header):
            verdict.add("can no longer be set", breaks=True, tag="decorators_changed")
    if not verdict.breaking and "decorators_changed" not in verdict.tags:
        gone = [mark for mark in old_header.marks if mark not in new_header.marks]
        come = [mark for mark in new_header.marks if mark not in old_header.marks]
        words = _other_marks(gone, come)
        verdict.add(clip(", ".join(words), 200) or "order of decorators", breaks=False, tag="decorators_changed")


def is_wrapped_anew(old_header: Header, new_header: Header) -> bool:
    """Whether a decorator with arguments came to a function that stays callable alike, and decides what it gives."""
    names = [[each.name for each in header.parameters or ()] for header in (old_header, new_header)]
    came = [mark for mark in new_header.marks if mark not in old_header.marks and "(" in mark]
    return names[0] == names[1] and bool(came)


def call_style(header: Header) -> str:
    """The way a function is called: as a static, class or plain method, or read as a property."""
    if "get" in header.modifiers:
        return "property"
    for mark in header.marks:
        words = mark.replace("(", " ").split()
        for word in words[1:]:
            if word in _WAYS:
                return _WAYS[word]
            if word.endswith("property") or word in ("setter", "getter", "deleter"):
                return "property"
    return "method"


def _is_abstract(header: Header) -> bool:
    return any(word.startswith("abstract") for mark in header.marks for word in mark.split())


def _setter(header: Header) -> bool:
    return any("setter" in mark for mark in header.marks)


def has_decorator(header: Header, word: str) -> bool:
    return any(word in mark.split() for mark in header.marks)


def _other_marks(gone: Sequence[str], come: Sequence[str]) -> list[str]:
    went, came = [_mark(mark) for mark in gone], [_mark(mark) for mark in come]
    # Of a decorator with a long table of arguments, both sides begin alike.
    alike = [mark for mark in came if mark in went]
    notes = [f"{mark.partition('(')[0]}(…) with other arguments" for mark in alike]
    return [
        *notes,
        *(f"+{mark}" for mark in came if mark not in alike),
        *(f"-{mark}" for mark in went if mark not in alike),
    ]


def _mark(mark: str) -> str:
    """A decorator, clipped if its arguments are long."""
    return clip(mark.replace(" ", ""), 60)


def clip(text: str, most: int) -> str:
    """Cut a text to a length."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _derived_traits(marks: Sequence[str]) -> set[str]:
    """The traits that attributes derive."""
    traits: set[str] = set()
    for mark in marks:
        words = mark.split()
        if "derive" in words:
            traits |= {word for word in words if word.isidentifier() and word != "derive"}
    return traits


def lost_traits(old: Outline, old_place: int, new: Outline, new_place: int, elsewhere: Implemented) -> list[str]:
    """The traits a type has lost; `elsewhere` are those implemented in other changed files."""
    before, after = old.entities[old_place], new.entities[new_place]
    had = _derived_traits(old.parts(old_place).header.marks) | {
        trait for trait, name in old.implemented if name == before.name
    }
    has = _derived_traits(new.parts(new_place).header.marks) | {
        trait for trait, name in new.implemented | elsewhere if name == after.name
    }
    lost = had - has
    if "Into" in lost and re.search(rb"\bFrom\s*<\s*" + before.name.encode() + rb"\b", new.text):
        # Whatever is made from it has it for free.
        lost = lost - {"Into"}
    return sorted(lost)

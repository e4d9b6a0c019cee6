"""What a Rust type can do by traits: derived, or written out for it in its file."""

from collections.abc import Sequence

from codeplane.query.compare.outline import Outline

Implemented = frozenset[tuple[str, str]]


def derived(marks: Sequence[str]) -> set[str]:
    """The traits that attributes derive."""
    found: set[str] = set()
    for mark in marks:
        words = mark.split()
        if "derive" in words:
            found |= {word for word in words if word.isidentifier() and word != "derive"}
    return found


def lost(old: Outline, old_place: int, new: Outline, new_place: int, elsewhere: Implemented) -> list[str]:
    """The traits a type no longer has; `elsewhere` are those that files which changed give now."""
    before, after = old.entities[old_place], new.entities[new_place]
    had = derived(old.parts(old_place).header.marks) | {one for one, name in old.implemented if name == before.name}
    has = derived(new.parts(new_place).header.marks) | {
        one for one, name in new.implemented | elsewhere if name == after.name
    }
    return sorted(had - has)

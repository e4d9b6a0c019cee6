"""Types of Rust that are spelled differently and are the same."""

import re
from dataclasses import replace

from codeplane.query.compare.header import Header
from codeplane.query.compare.lifetimes import lives_longer
from codeplane.query.compare.outline import Outline

_SELF = re.compile(r"\bSelf\b(?! ::)")
# A lifetime that would be left out all the same.
_LEFT_OUT = re.compile(r"< ' ?_ (?:> ?|, (?P<more>))")
_PATH = re.compile(r"(?<!\w)(?<!')(?<!' )[A-Za-z_]\w*(?: :: [A-Za-z_]\w*)*")
_STARTS = ("crate", "self", "super")
# The parts of the standard library, and its modules whose names need no import.
_STANDARD = ("core", "alloc")
_PRELUDE = frozenset(
    f"std::{path}"
    for module, names in {
        "borrow": "ToOwned",
        "boxed": "Box",
        "clone": "Clone",
        "cmp": "Eq PartialEq Ord PartialOrd",
        "convert": "AsRef AsMut Into From TryFrom TryInto",
        "default": "Default",
        "iter": "Iterator Extend IntoIterator DoubleEndedIterator ExactSizeIterator FromIterator",
        "marker": "Copy Send Sync Sized Unpin",
        "ops": "Drop Fn FnMut FnOnce",
        "option": "Option",
        "result": "Result",
        "string": "String ToString",
        "vec": "Vec",
    }.items()
    for path in (f"{module}::{name}" for name in names.split())
)


def with_same_spelling(
    old: Outline, old_place: int, new: Outline, new_place: int, before: Header, now: Header
) -> Header:
    """The old header, with the types spelled as they are now where both spellings mean the same."""
    if not (old.rules.crates and new.rules.crates) or old.facts is None or new.facts is None:
        return before

    def respelled(mine: str, yours: str) -> str:
        if mine == yours or not mine or not yours:
            return mine
        return yours if _mean_the_same(old, old_place, mine, new, new_place, yours) else mine

    returns = respelled(before.returns, now.returns)
    parent = new.entities[new_place].parent
    is_promised = parent >= 0 and new.entities[parent].kind == "trait"
    if returns != now.returns and not is_promised and lives_longer(before, now):
        returns = now.returns
    before = replace(
        before,
        returns=returns,
        generics=respelled(before.generics, now.generics),
        rest=respelled(before.rest, now.rest),
    )
    if before.parameters is None or now.parameters is None or len(before.parameters) != len(now.parameters):
        return before
    pairs = zip(before.parameters, now.parameters, strict=True)
    return replace(
        before, parameters=tuple(replace(each, type=respelled(each.type, other.type)) for each, other in pairs)
    )


def _mean_the_same(old: Outline, old_place: int, before: str, new: Outline, new_place: int, after: str) -> bool:
    """Whether two texts are the same but for paths that lead to the same."""
    sides = _without_self(old, old_place, before), _without_self(new, new_place, after)
    shapes = [_PATH.sub("_", side) for side in sides]
    if shapes[0] != shapes[1]:
        return False
    paths = zip(*([found[0] for found in _PATH.finditer(side)] for side in sides), strict=True)
    return all(
        mine == yours or _is_same_path((old, old_place), mine.split(" :: "), (new, new_place), yours.split(" :: "))
        for mine, yours in paths
    )


def _without_self(outline: Outline, place: int, written: str) -> str:
    """A type with its own name for `Self`, and without lifetimes that say nothing."""
    parent = outline.entities[place].parent
    if parent >= 0 and not outline.parts(parent).header.generics and outline.entities[parent].kind != "trait":
        written = _SELF.sub(outline.entities[parent].name, written)
    return _LEFT_OUT.sub(lambda found: "< " if found["more"] is not None else "", written)


def _is_same_path(old: tuple[Outline, int], before: list[str], new: tuple[Outline, int], after: list[str]) -> bool:
    """Whether a path meant before what another means now."""
    mine, yours = _spelled_out(*old, before), _spelled_out(*new, after)
    if mine == yours:
        return True
    if mine.rpartition("::")[2] != yours.rpartition("::")[2] and not (old[0].package and new[0].package):
        return False
    if _is_from_glob(new[0], yours, mine) or _is_from_glob(old[0], mine, yours):
        return True
    if _is_inside(*old) or _is_inside(*new) or old[0].package is None or new[0].package is None:
        return False
    known = new[0].package.known_as(new[0].path, tuple(after))
    # The name it had may be another one of what it is called now.
    return not (
        known.isdisjoint(old[0].package.known_as(old[0].path, tuple(before)))
        and known.isdisjoint(new[0].package.known_as(new[0].path, tuple(before)))
    )


def _is_from_glob(outline: Outline, name: str, path: str) -> bool:
    """Whether a file imports all names of the module that a path leads through, and the name is the path's last."""
    module, _, last = path.rpartition("::")
    imports = outline.facts.imports if outline.facts is not None else ()
    return name == last and any(item.imported == "*" and item.source == module for item in imports)


def _is_inside(outline: Outline, place: int) -> bool:
    """Whether a definition is in a module that a file has inside."""
    while (place := outline.entities[place].parent) >= 0:
        if outline.entities[place].kind == "module":
            return True
    return False


def _spelled_out(outline: Outline, place: int, parts: list[str]) -> str:
    """A path from the root of its crate, or of the one that the file imports it from."""
    imports = outline.facts.imports if outline.facts is not None else ()
    for item in imports:
        if item.scope == 0 and item.imported not in ("", "*") and (item.local or item.imported) == parts[0]:
            source = [part for part in item.source.split("::") if part]
            parts = [*source, *([item.imported] if item.imported != "self" else []), *parts[1:]]
            break
    else:
        if parts[0] not in _STARTS and any(
            entity.name == parts[0] and entity.parent < 0 and entity.kind != "export" for entity in outline.entities
        ):
            parts = ["self", *parts]
    if parts[0] in _STARTS[1:]:
        around = _module_path(outline.path)
        while parts[:1] == ["self"] or parts[:1] == ["super"]:
            around = around[:-1] if parts[0] == "super" else around
            parts = parts[1:]
        parts = ["crate", *around, *parts]
    path = "::".join(["std" if parts[0] in _STANDARD else parts[0], *parts[1:]])
    return parts[-1] if path in _PRELUDE else path


def _module_path(path: str) -> list[str]:
    """The modules from the root of a crate to a file, by where the file usually is."""
    parts = path.removesuffix(".rs").split("/")
    if "src" in parts:
        parts = parts[len(parts) - parts[::-1].index("src") :]
    return parts[:-1] if parts[-1] in ("mod", "lib", "main") else parts

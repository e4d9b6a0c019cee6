"""Changes of base classes: which ones a class has lost or gained."""

import re
from collections.abc import Callable, Sequence

from codeplane.query.compare.header import Header
from codeplane.query.compare.inheritance import library_name
from codeplane.query.compare.outline import Outline, outermost
from codeplane.query.compare.rules import PROMISES
from codeplane.query.compare.tokens import compact
from codeplane.query.compare.verdict import Verdict
from codeplane.query.compare.visibility import visibility_of

_MOST = 50
# Modules that give the same classes.
_GENERIC = {"typing": "collections.abc", "typing_extensions": "collections.abc", "collections": "collections.abc"}


# The bases that the base classes of a class name, each in its file.
BasesAbove = Callable[[Outline, int], Sequence[tuple[Outline, str]]]


def no_bases_above(outline: Outline, place: int) -> Sequence[tuple[Outline, str]]:
    """Know nothing of the classes of other files."""
    return ()


def judge_bases(
    verdict: Verdict,
    old: Outline,
    old_place: int,
    new: Outline,
    new_place: int,
    bases_above: BasesAbove = no_bases_above,
) -> None:
    """Judge changed base classes; one still inherited through another is not lost."""
    old_header, new_header = old.parts(old_place).header, new.parts(new_place).header
    gone = [base for base in old_header.bases if base not in new_header.bases]
    come = [base for base in new_header.bases if base not in old_header.bases]
    if _are_sealed(old, old_place, new, new_place):
        # What seals a trait is no concern of those who cannot implement it.
        gone, come = _known_bases(old, gone), _known_bases(new, come)
    if gone:
        above = _above(new, new_header)
        lost = [
            base
            for base in gone
            # What a call makes is not known, and a name may be reached by another way.
            if "=" not in base
            and "(" not in base
            and not any(
                _is_same(old, written, new, other)
                for written in _spellings(old, base)
                for name in come
                for other in _spellings(new, name)
            )
            and not _is_kept(old, base, new, new_header, above)
            and not any(_is_inherited(old, base, *other) for other in bases_above(new, new_place))
            and not _is_absorbed(old, base, new, new_place, above)
        ]
        message = f"no longer builds on {_list_names(gone)}"
        if not lost:
            message += " itself"
        verdict.add(message, breaks=bool(lost), tag="bases_changed")
    if come:
        # Who has it has to have what that asks for, too.
        asked = new.entities[new_place].kind in PROMISES and new.rules.typed
        asked = asked and not is_made_here(old, new, new_place)
        asked = asked and not all(any(_is_same(old, other, new, base) for other in gone) for base in come)
        verdict.add(f"builds on {_list_names(come)}", breaks=asked, tag="bases_changed")


def _is_absorbed(old: Outline, base: str, new: Outline, new_place: int, above: frozenset[str]) -> bool:
    """Whether a class has all that it had from a base of its file, which users did not see or have no longer."""
    was, now = (side.named.get((-1, "class", _name(base)), ()) for side in (old, new))
    if not old.rules.decorators or len(was) != 1 or (now and visibility_of(old, was[0]) == "public"):
        return False
    around = [new_place, *(place for name in above for place in new.named.get((-1, "class", name), ()))]
    has = {new.entities[child].name for place in around for child in new.children.get(place, ())}
    had = {old.entities[child].name for child in old.children.get(was[0], ())}
    return {name for name in had if not name.startswith("_")} <= has


def is_made_here(old: Outline, new: Outline, place: int) -> bool:
    """Whether functions of the package, before and now, give users the values of a type."""
    name = outermost(new, place)
    return all(
        side.package is not None
        and (side.package.is_returned(side.path, name) or side.package.is_only_handed_out(side.path, name))
        for side in (old, new)
    )


def _is_inherited(old: Outline, base: str, outline: Outline, other: str) -> bool:
    """Whether a base that a class names in another file is the one that this one had."""
    if _is_same(old, base, outline, other):
        return True
    module, stem = _module(old, base), outline.path.rpartition("/")[2].partition(".")[0]
    is_defined = _last(base) == _last(other) and _module(outline, other) is None
    return is_defined and module is not None and module.rpartition(".")[2] == stem


def is_protocol(outline: Outline, base: str) -> bool:
    """Whether a base makes a class a promise of members; others may be called so, too."""
    return _last(base) == "Protocol" and _module(outline, base) in ("typing", "typing_extensions")


def _spellings(outline: Outline, base: str) -> list[str]:
    """A base, and what variables of its file say that it is: `Base = module.Base[str]`."""
    places = [
        place
        for kind in ("variable", "constant", "type")
        for place in outline.named.get((-1, kind, _name(base)), ())
        if outline.rules.decorators
    ]
    values = [" ".join(token for token in outline.parts(place).body if token != "=") for place in places]
    return [base, *(value for value in values if value)]


def _is_kept(old: Outline, base: str, new: Outline, new_header: Header, above: frozenset[str]) -> bool:
    rules, name = old.rules, _name(base)
    if rules.builtins is None:
        return False
    if base.startswith("implements ") or (name and name == rules.implied_base):
        return True
    if rules.generic_base and name.rpartition(".")[2] == rules.generic_base and new_header.generics:
        return True
    extends, library = rules.builtins.extends, library_name(old, base)
    now = [library_name(new, other) for other in new_header.bases]
    return (
        name in above
        or (not _is_own(old, name) and any(extends(other, name) for other in above))
        or any(library and extends(other, library) for other in now if other)
    )


def _list_names(bases: Sequence[str]) -> str:
    return ", ".join(compact(base.removeprefix("implements ")) for base in bases)


def _above(outline: Outline, header: Header) -> frozenset[str]:
    """The names of all base classes reachable through classes of the same file."""
    places = {
        entity.name: place
        for place, entity in enumerate(outline.entities)
        if entity.kind == "class" and entity.parent < 0
    }
    names: set[str] = set()
    waiting = list(header.bases)
    while waiting and len(names) < _MOST:
        name = _name(waiting.pop())
        if not name or name in names:
            continue
        names.add(name)
        if name in places:
            waiting += outline.parts(places[name]).header.bases
    builtins = outline.rules.builtins
    if builtins is None:
        return frozenset(names)
    # A name that the file binds itself is not the one that is built in, whatever is above it.
    hidden = {name for name in names if builtins.can_be_hidden(name) and _is_own(outline, name)}
    return frozenset(f"\0{name}" if name in hidden else name for name in names)


def _is_own(outline: Outline, name: str) -> bool:
    imported = outline.facts.imports if outline.facts is not None else ()
    return any(entity.name == name for entity in outline.entities if entity.parent < 0) or any(
        item.local == name for item in imported
    )


def _is_same(old: Outline, before: str, new: Outline, after: str) -> bool:
    """Whether two bases may be one, named in another way: `Base` of `from a import Base`, and `a.Base[T]`."""
    if _last(before) != _last(after):
        return False
    own = _module(old, before) is None, _module(new, after) is None
    if own[0]:
        # A module that has become a package gives to its parts what it defined.
        return new.path.startswith(f"{old.path.rpartition('.')[0].removesuffix('/__init__')}/")
    if own[1]:
        return False
    modules = {_GENERIC.get(module or "", module) for module in (_module(old, before), _module(new, after))} - {""}
    return len(modules) < 2 or old.rules.structural


def _module(outline: Outline, base: str) -> str | None:
    """The module that a base is named by or imported from; None if the file defines it."""
    module, _, name = _name(base.removeprefix("implements ")).rpartition(".")
    if module:
        imported = outline.facts.imports if outline.facts is not None else ()
        whole = (item.source for item in imported if item.local == module and not item.imported)
        return next(whole, module)
    if any(entity.name == name and entity.kind != "export" for entity in outline.entities if entity.parent < 0):
        return None
    imported = outline.facts.imports if outline.facts is not None else ()
    return next((item.source for item in imported if item.local == name), "")


def _last(base: str) -> str:
    """A base's name without the modules and arguments around it."""
    return _name(base.removeprefix("implements ")).rpartition(".")[2]


def _name(base: str) -> str:
    """A base's name without type arguments: `Base[T]`, `Base<T>`, `module . Base`."""
    return "" if "=" in base else re.split(r"[\[<(]", base)[0].replace(" ", "")


def _are_sealed(old: Outline, old_place: int, new: Outline, new_place: int) -> bool:
    """Whether only its own package could and can implement a trait."""
    return all(
        side.package is not None and side.package.is_sealed(side.path, side.entities[place].path)
        for side, place in ((old, old_place), (new, new_place))
    )


def _known_bases(outline: Outline, bases: list[str]) -> list[str]:
    """The bases that users can name."""
    package = outline.package
    return [base for base in bases if package is None or package.is_nameable(outline.path, base)]

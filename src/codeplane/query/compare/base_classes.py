"""What a class builds on: whether it is still all that it was."""

import re
from collections.abc import Sequence

from codeplane.query.compare.header import Header
from codeplane.query.compare.outline import Outline
from codeplane.query.compare.rules import PROMISES
from codeplane.query.compare.tokens import tight
from codeplane.query.compare.verdict import Verdict

_MOST = 50


def judge_bases(found: Verdict, old: Outline, old_place: int, new: Outline, new_place: int) -> None:
    """Note what other base classes do; one that is still reached through another has not gone."""
    one, two = old.parts(old_place).header, new.parts(new_place).header
    gone = [base for base in one.bases if base not in two.bases]
    come = [base for base in two.bases if base not in one.bases]
    if gone:
        above = _above(new, two)
        lost = [base for base in gone if "=" not in base and not _is_kept(old, base, two, above)]
        told = f"no longer builds on {_said(gone)}"
        if not lost:
            told += " itself"
        found.say(told, breaks=bool(lost), tag="bases_changed")
    if come:
        # Who has it has to have what that asks for, too.
        asked = new.entities[new_place].kind in PROMISES and new.rules.typed
        found.say(f"builds on {_said(come)}", breaks=asked, tag="bases_changed")


def _is_kept(old: Outline, base: str, two: Header, above: frozenset[str]) -> bool:
    rules, name = old.rules, _name(base)
    if rules.builtins is None:
        return False
    if base.startswith("implements ") or (name and name == rules.implied_base):
        return True
    if rules.generic_base and name.rpartition(".")[2] == rules.generic_base and two.generics:
        return True
    extends = rules.builtins.extends
    return name in above or (not _is_own(old, name) and any(extends(other, name) for other in above))


def _said(bases: Sequence[str]) -> str:
    return ", ".join(tight(base.removeprefix("implements ")) for base in bases)


def _above(outline: Outline, header: Header) -> frozenset[str]:
    """The names of what a class builds on, through the classes of its own file; built-in ones by their name."""
    places = {one.name: place for place, one in enumerate(outline.entities) if one.kind == "class" and one.parent < 0}
    found: set[str] = set()
    waiting = list(header.bases)
    while waiting and len(found) < _MOST:
        name = _name(waiting.pop())
        if not name or name in found:
            continue
        found.add(name)
        if name in places:
            waiting += outline.parts(places[name]).header.bases
    builtins = outline.rules.builtins
    if builtins is None:
        return frozenset(found)
    # A name that the file binds itself is not the one that is built in, whatever is above it.
    hidden = {name for name in found if builtins.can_be_hidden(name) and _is_own(outline, name)}
    return frozenset(f"\0{name}" if name in hidden else name for name in found)


def _is_own(outline: Outline, name: str) -> bool:
    imported = outline.facts.imports if outline.facts is not None else ()
    return any(one.name == name for one in outline.entities if one.parent < 0) or any(
        one.local == name for one in imported
    )


def _name(base: str) -> str:
    """A base without what it is filled with: `Base[T]`, `Base<T>`, `module . Base`."""
    return "" if "=" in base else re.split(r"[\[<(]", base)[0].replace(" ", "")

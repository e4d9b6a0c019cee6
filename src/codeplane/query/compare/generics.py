"""Type parameters: what they are called is nobody's affair, what is asked of them is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from codeplane.code.languages.contract import Contract
from codeplane.query.compare.header import Header
from codeplane.query.compare.outline import Outline
from codeplane.query.compare.tokens import split_at
from codeplane.query.compare.verdict import Verdict

_WORDS = frozenset({"typename", "class", "in", "out", "const", "reified", "inferred"})
_SIGNS = frozenset({":", "extends", "<:"})
# What is asked of every type anyway.
_NOTHING = frozenset({"any", "Any", "Any ?", "Object", "unknown"})


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeParameter:
    """One type parameter, and what a type has to be to take its place."""

    name: str
    asked: frozenset[str] = frozenset()
    default: bool = False


def type_parameters(header: Header, rules: Contract) -> tuple[list[TypeParameter], str]:
    """The type parameters with all that is asked of them, and the rest of the head without what it asks."""
    found = [_read(part, rules) for part in split_at(header.generics.split(" ")[1:-1], ",", angles=True)]
    if rules.shape == "grouped":
        found = _shared(found)
    tokens = header.rest.split(" ")
    if "where" not in tokens:
        return found, header.rest
    cut = tokens.index("where")
    asked: dict[str, set[str]] = {}
    for clause in _clauses(tokens[cut + 1 :], rules):
        name, _, kinds = " ".join(clause).partition(" : ")
        asked.setdefault(name, set()).update(_each(kinds.split(" "), "," if rules.where_clauses else "+"))
    names = {one.name for one in found}
    found = [replace(one, asked=one.asked | frozenset(asked.get(one.name, ()))) for one in found]
    rest = tokens[:cut] + [f"{name}: {' + '.join(sorted(asked[name]))}" for name in asked if name not in names]
    return found, " ".join(rest)


def as_called_now(old: Outline, old_place: int, new: Outline, new_place: int, header: Header) -> Header:
    """A head of the earlier state with its type parameters, and those around it, called as they are in the later."""
    names: dict[str, str] = {}
    while old_place >= 0 and new_place >= 0:
        before, _ = type_parameters(old.parts(old_place).header, old.rules)
        after, _ = type_parameters(new.parts(new_place).header, new.rules)
        if len(before) == len(after):
            for one, two in zip(before, after, strict=True):
                names.setdefault(one.name, two.name)
        old_place, new_place = old.entities[old_place].parent, new.entities[new_place].parent
    if all(one == two for one, two in names.items()):
        return header
    return replace(
        header,
        generics=_renamed(header.generics, names),
        parameters=None
        if header.parameters is None
        else tuple(replace(one, type=_renamed(one.type, names)) for one in header.parameters),
        returns=_renamed(header.returns, names),
        bases=tuple(_renamed(base, names) for base in header.bases),
        rest=_renamed(header.rest, names),
    )


def judge_generics(
    found: Verdict, one: Sequence[TypeParameter], two: Sequence[TypeParameter], *, typed: bool, inferred: bool
) -> None:
    """Note what other type parameters do; those of a call are found out from what it is given, if it had none."""
    if one == two:
        return
    more = two[len(one) :]
    if len(two) < len(one) or not all(other.default for other in more):
        found.say("type parameters changed", breaks=typed and not (inferred and not one))
        return
    stricter = [
        other
        for before, other in zip(one, two, strict=False)
        if not other.asked <= before.asked or (before.default and not other.default)
    ]
    if stricter:
        told = ", ".join(f"{other.name}: {' + '.join(sorted(other.asked)) or 'has no default'}" for other in stricter)
        found.say(f"asks for {told}"[:120], breaks=typed)
    else:
        found.say("takes more types", breaks=False)


def _read(part: Sequence[str], rules: Contract) -> TypeParameter:
    said = list(part)
    cut = said.index("=") if "=" in said else len(said)
    head = [token for token in said[:cut] if token not in _WORDS]
    default = cut < len(said)
    head = head[1:] if head[:1] in (["+"], ["-"]) else head
    if not head:
        return TypeParameter(name="", default=default)
    if rules.templates:
        return TypeParameter(name=head[-1], asked=frozenset(head[:-1]), default=default)
    asked = head[2:] if head[1:2] and head[1] in _SIGNS else head[1:]
    return TypeParameter(name=head[0], asked=frozenset(_each(asked, rules.bound_sign)), default=default)


def _shared(found: Sequence[TypeParameter]) -> list[TypeParameter]:
    """`K, V any`: a name alone has what the next says."""
    made: list[TypeParameter] = []
    asked: frozenset[str] = frozenset()
    known = False
    for one in reversed(found):
        if one.asked or not known:
            asked, known = one.asked, True
        made.append(replace(one, asked=asked))
    return made[::-1]


def _each(tokens: Sequence[str], sign: str) -> list[str]:
    said = [" ".join(part) for part in split_at(tokens, sign, angles=True)]
    return [one for one in said if one not in _NOTHING]


def _clauses(tokens: Sequence[str], rules: Contract) -> list[list[str]]:
    if not rules.where_clauses:
        return split_at(tokens, ",", angles=True)
    found: list[list[str]] = [[]]
    for token in tokens:
        if token == "where":
            found.append([])
        else:
            found[-1].append(token)
    return found


def _renamed(said: str, names: Mapping[str, str]) -> str:
    return " ".join(names.get(token, token) for token in said.split(" ")) if said else said

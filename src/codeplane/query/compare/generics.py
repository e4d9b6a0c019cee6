"""Type parameters: their names do not matter, their bounds do."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from codeplane.code.languages.contract import Contract
from codeplane.query.compare.header import Header
from codeplane.query.compare.outline import Outline
from codeplane.query.compare.tokens import split_at
from codeplane.query.compare.type_compatibility import is_computed
from codeplane.query.compare.verdict import Verdict

_WORDS = frozenset({"typename", "class", "in", "out", "const", "reified", "inferred"})
_CALLED = ("Fn", "FnMut", "FnOnce")
_SIGNS = frozenset({":", "extends", "<:"})
# What is asked of every type anyway.
_NOTHING = frozenset({"any", "Any", "Any ?", "Object", "unknown"})


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeParameter:
    """A type parameter and its bounds."""

    name: str
    asked: frozenset[str] = frozenset()
    default: str = ""


def type_parameters(header: Header, rules: Contract) -> tuple[list[TypeParameter], str]:
    """The type parameters with their bounds, and the rest of the header without the bounds."""
    parameters = [_read(part, rules) for part in split_at(header.generics.split(" ")[1:-1], ",", angles=True)]
    if rules.shape == "grouped":
        parameters = _share_bounds(parameters)
    tokens = header.rest.split(" ")
    if "where" not in tokens:
        return parameters, header.rest
    cut = tokens.index("where")
    asked: dict[str, set[str]] = {}
    for clause in _clauses(tokens[cut + 1 :], rules):
        name, _, kinds = " ".join(clause).partition(" : ")
        asked.setdefault(name, set()).update(_each(kinds.split(" "), "," if rules.where_clauses else "+"))
    names = {parameter.name for parameter in parameters}
    parameters = [
        replace(parameter, asked=parameter.asked | frozenset(asked.get(parameter.name, ()))) for parameter in parameters
    ]
    rest = tokens[:cut] + [f"{name}: {' + '.join(sorted(asked[name]))}" for name in asked if name not in names]
    return parameters, " ".join(rest)


def with_current_names(old: Outline, old_place: int, new: Outline, new_place: int, header: Header) -> Header:
    """The old header with its type parameters, and those around it, renamed as in the new one."""
    names: dict[str, str] = {}
    while old_place >= 0 and new_place >= 0:
        before, _ = type_parameters(old.parts(old_place).header, old.rules)
        after, _ = type_parameters(new.parts(new_place).header, new.rules)
        if len(before) == len(after):
            for old_parameter, new_parameter in zip(before, after, strict=True):
                names.setdefault(old_parameter.name, new_parameter.name)
        old_place, new_place = old.entities[old_place].parent, new.entities[new_place].parent
    if all(old_name == new_name for old_name, new_name in names.items()):
        return header
    return replace(
        header,
        generics=_rename_words(header.generics, names),
        parameters=None
        if header.parameters is None
        else tuple(replace(old_name, type=_rename_words(old_name.type, names)) for old_name in header.parameters),
        returns=_rename_words(header.returns, names),
        bases=tuple(_rename_words(base, names) for base in header.bases),
        rest=_rename_words(header.rest, names),
    )


def with_defaults(old: Header, new: Header, rules: Contract) -> Header:
    """The new header, with what it says for type parameters that the old one did not have put in their places."""
    before, _ = type_parameters(old, rules)
    after, _ = type_parameters(new, rules)
    names = {parameter.name: parameter.default for parameter in after[len(before) :]}
    if not names or not all(names.values()):
        return new
    # What is passed may be anything within the bound.
    bounds = {
        parameter.name: " & ".join(sorted(parameter.asked)) or parameter.default for parameter in after[len(before) :]
    }
    return replace(
        new,
        parameters=None
        if new.parameters is None
        else tuple(replace(parameter, type=_rename_words(parameter.type, bounds)) for parameter in new.parameters),
        returns=_rename_words(new.returns, names),
        rest=_rename_words(new.rest, names),
    )


def judge_generics(
    verdict: Verdict,
    old_parameters: Sequence[TypeParameter],
    new_parameters: Sequence[TypeParameter],
    *,
    typed: bool,
    inferred: bool,
    fits: Callable[[str, str], bool] | None = None,
) -> None:
    """Judge changed type parameters; `inferred` if calls do not write them, `fits` if a bound asks for no more."""
    if old_parameters == new_parameters:
        return
    more = new_parameters[len(old_parameters) :]
    if len(new_parameters) < len(old_parameters) or not all(other.default for other in more):
        verdict.add("type parameters changed", breaks=typed and not inferred)
        return
    stricter = [
        other
        for before, other in zip(old_parameters, new_parameters, strict=False)
        if not (_is_asked(before, other) or (fits is not None and _fits(before, other, fits)))
        or (before.default and not other.default)
    ]
    if stricter:
        asked_for = ", ".join(
            f"{other.name}: {' + '.join(sorted(other.asked)) or 'has no default'}" for other in stricter
        )
        verdict.add(f"asks for {asked_for}"[:120], breaks=typed)
    else:
        verdict.add("takes more types", breaks=False)


def _is_asked(before: TypeParameter, now: TypeParameter) -> bool:
    """Whether a type parameter asks for no more; nobody writes one out that has a default and a computed bound."""
    if all("=>" in kind for kind in before.asked - now.asked) and now.asked - before.asked == {"Function"}:
        return bool(before.asked)
    if now.asked - before.asked <= {weaker for kind in before.asked for weaker in _weaker(kind)}:
        return True
    return now.asked <= before.asked or (bool(now.default) and is_computed(*now.asked, *before.asked))


def _weaker(kind: str) -> list[str]:
    """The bounds of Rust that every function within a bound fulfils as well."""
    word, bracket, rest = kind.partition(" (")
    at = _CALLED.index(word) if word in _CALLED and bracket else len(_CALLED)
    return [f"{other}{bracket}{rest}" for other in _CALLED[at + 1 :]]


def is_inferable(header: Header, parameters: Sequence[TypeParameter]) -> bool:
    """Whether what every call has to give says what its type parameters are, so that nobody writes them out."""
    given = [parameter for parameter in header.parameters or () if parameter.is_required]
    taken = {word for parameter in given for word in parameter.type.split(" ")}
    return all(each.default or each.name in taken for each in parameters)


def _fits(before: TypeParameter, now: TypeParameter, fits: Callable[[str, str], bool]) -> bool:
    """Whether what an old bound allows is allowed by the new one."""
    old, new = (" & ".join(sorted(each.asked)) for each in (before, now))
    return bool(old) and (not new or fits(old, new))


def _read(part: Sequence[str], rules: Contract) -> TypeParameter:
    tokens = list(part)
    cut = tokens.index("=") if "=" in tokens else len(tokens)
    head = [token for token in tokens[:cut] if token not in _WORDS]
    default = " ".join(tokens[cut + 1 :])
    head = head[1:] if head[:1] in (["+"], ["-"]) else head
    if not head:
        return TypeParameter(name="", default=default)
    if rules.templates:
        return TypeParameter(name=head[-1], asked=frozenset(head[:-1]), default=default)
    asked = head[2:] if head[1:2] and head[1] in _SIGNS else head[1:]
    return TypeParameter(name=head[0], asked=frozenset(_each(asked, rules.bound_sign)), default=default)


def _share_bounds(parameters: Sequence[TypeParameter]) -> list[TypeParameter]:
    """Go's `K, V any`: a bare name shares the next one's bounds."""
    made: list[TypeParameter] = []
    asked: frozenset[str] = frozenset()
    known = False
    for parameter in reversed(parameters):
        if parameter.asked or not known:
            asked, known = parameter.asked, True
        made.append(replace(parameter, asked=asked))
    return made[::-1]


def _each(tokens: Sequence[str], sign: str) -> list[str]:
    kinds = [" ".join(part) for part in split_at(tokens, sign, angles=True)]
    return [kind for kind in kinds if kind not in _NOTHING]


def _clauses(tokens: Sequence[str], rules: Contract) -> list[list[str]]:
    if not rules.where_clauses:
        return split_at(tokens, ",", angles=True)
    clauses: list[list[str]] = [[]]
    for token in tokens:
        if token == "where":
            clauses.append([])
        else:
            clauses[-1].append(token)
    return clauses


def _rename_words(text: str, names: Mapping[str, str]) -> str:
    return " ".join(names.get(token, token) for token in text.split(" ")) if text else text

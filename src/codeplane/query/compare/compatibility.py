"""Compatibility: whether a change breaks users of a definition, and why."""

import re

from codeplane.code.languages.contract import Contract, Visibility
from codeplane.query.compare.base_classes import BasesAbove, judge_bases, no_bases_above
from codeplane.query.compare.call_changes import is_special, judge_parameters
from codeplane.query.compare.fields import judge_field, judge_made, judge_order
from codeplane.query.compare.generics import (
    is_inferable,
    judge_generics,
    type_parameters,
    with_current_names,
    with_defaults,
)
from codeplane.query.compare.header import Header
from codeplane.query.compare.kinds import judge_value
from codeplane.query.compare.layout import is_closed, is_same_interface
from codeplane.query.compare.lifetimes import with_elided_lifetimes
from codeplane.query.compare.mark_changes import (
    Implemented,
    call_style,
    clip,
    judge_marks,
    lost_traits,
)
from codeplane.query.compare.modifier_changes import judge_modifiers
from codeplane.query.compare.outline import Outline
from codeplane.query.compare.pairing import Pair
from codeplane.query.compare.parameter_changes import judge_calls
from codeplane.query.compare.parameters import Parameter, parameters
from codeplane.query.compare.rules import CALLABLES, ORDER, PROMISES
from codeplane.query.compare.tokens import code_of, compact
from codeplane.query.compare.type_aliases import Aliases, names_outside, without_aliases
from codeplane.query.compare.type_compatibility import (
    is_computed,
    narrows,
    returns_no_more,
    same_but_arguments,
    widens,
)
from codeplane.query.compare.type_finder import FindType, type_here
from codeplane.query.compare.type_judge import TypeJudge
from codeplane.query.compare.type_spelling import with_same_spelling
from codeplane.query.compare.type_use import is_only_given, is_only_taken
from codeplane.query.compare.verdict import Verdict
from codeplane.query.compare.visibility import visibility_of

_OPERATOR = re.compile(rb"\boperator\s*([^\s(]+)\s*\(([^)]*)\)")
_TYPES = frozenset({"interface", "type"})
_IMPLEMENTING = frozenset({"struct", "enum", "union"})
_ASSIGNED = frozenset({"variable", "constant", "field", "property"})


def judge_change(
    pair: Pair,
    elsewhere: Implemented = frozenset(),
    aliases: tuple[Aliases, Aliases] = ({}, {}),
    types: tuple[FindType, FindType] = (type_here, type_here),
    bases_above: BasesAbove = no_bases_above,
) -> Verdict:
    """Judge a changed header; `elsewhere` are traits implemented in other files.

    `aliases` are the names of types before and now, `types` find the definition of one, `bases_above` what base
    classes build on now.
    """
    assert pair.old is not None and pair.new is not None
    verdict = Verdict()
    before, after = pair.old.entities[pair.old_place], pair.new.entities[pair.new_place]
    old_header, new_header = pair.old.parts(pair.old_place).header, pair.new.parts(pair.new_place).header
    old_header = with_current_names(pair.old, pair.old_place, pair.new, pair.new_place, old_header)
    old_header = without_aliases(old_header, pair.old, aliases[0])
    new_header = without_aliases(new_header, pair.new, aliases[1])
    rules = pair.new.rules
    if rules.crates:
        old_header, new_header = with_elided_lifetimes(old_header), with_elided_lifetimes(new_header)
    old_header = with_same_spelling(pair.old, pair.old_place, pair.new, pair.new_place, old_header, new_header)
    old_seen, new_seen = visibility_of(pair.old, pair.old_place), visibility_of(pair.new, pair.new_place)
    if before.name != after.name:
        new_seen = old_seen
    if _comes_from_container(pair, old_seen, new_seen):
        # It is judged there.
        old_seen = new_seen
    if ORDER[new_seen] > ORDER[old_seen] and _is_left_out_of_list(pair):
        verdict.add("not in the new __all__", breaks=False, tag="visibility_changed")
    elif ORDER[new_seen] > ORDER[old_seen]:
        breaks = ORDER[old_seen] < 2 and not _has_no_name(pair)
        verdict.add(f"{old_seen} before, {new_seen} now", breaks=breaks, tag="visibility_changed")
    elif old_seen != new_seen:
        verdict.add(f"{old_seen} before, {new_seen} now", breaks=False, tag="visibility_changed")
    if after.name in pair.new.type_only and after.name not in pair.old.type_only and before.kind not in _TYPES:
        verdict.add("only its type is given away", breaks=True, tag="visibility_changed")
    if before.kind != after.kind and {before.kind, after.kind} != {"function", "prototype"}:
        if after.kind == "type" and (_is_same_by_name(pair.new, new_header, before.kind) or _stands_for(pair)):
            verdict.add(f"a name for {_shorten(new_header.rest[2:])} now", breaks=False, tag="kind_changed")
            return verdict
        if rules.lambda_values and _judge_lambda(verdict, pair):
            return verdict
        if rules.decorators and judge_value(verdict, pair):
            return verdict
        if rules.structural and (_is_type_still(before.kind, after.kind) or _may_be_called(pair)):
            verdict.add(f"a {before.kind} before, a {after.kind} now", breaks=False, tag="kind_changed")
            return verdict
        if rules.decorators and is_special(after.name) and {before.kind, after.kind} <= _ASSIGNED | CALLABLES:
            # The interpreter calls it, however it is given.
            verdict.add(f"a {before.kind} before, a {after.kind} now", breaks=False, tag="kind_changed")
            return verdict
        called = before.kind in CALLABLES and call_style(old_header) != "property"
        calls = after.kind in CALLABLES and call_style(new_header) != "property"
        _judge_kind(verdict, before.kind, after.kind, still=not called and not calls)
        return verdict
    judge_modifiers(verdict, pair, old_header, new_header, rules)
    judge_marks(verdict, old_header, new_header, rules)
    if pair.new.language.classes.traits and before.kind in _IMPLEMENTING:
        gone = lost_traits(pair.old, pair.old_place, pair.new, pair.new_place, elsewhere)
        if gone:
            verdict.add(f"no longer has {', '.join(gone)}", breaks=True, tag="decorators_changed")
    if rules.operators:
        _judge_operators(verdict, pair.old, pair.old_place, pair.new, pair.new_place)
    shape = _judge_shape(pair, old_header, new_header)
    if shape.breaking and rules.unions:
        judge = TypeJudge((pair.old, pair.old_place), (pair.new, pair.new_place), types)
        without_new = with_defaults(old_header, new_header, rules)
        written_out = _judge_shape(pair, old_header, without_new, judge.with_own(old_header, new_header))
        if not written_out.breaking:
            shape = Verdict(harmless=[*shape.breaking, *shape.harmless], tags=shape.tags)
    verdict.join(shape)
    bases = Verdict()
    judge_bases(bases, pair.old, pair.old_place, pair.new, pair.new_place, bases_above)
    is_interface = rules.unions and before.kind == after.kind == "interface"
    if bases.breaking and is_interface and is_same_interface(pair, types):
        bases = Verdict(harmless=[*bases.breaking, *bases.harmless], tags=bases.tags)
    verdict.join(bases)
    if rules.field_classes:
        judge_field(verdict, pair.old, pair.old_place, pair.new, pair.new_place)
        judge_order(verdict, pair.old, pair.old_place, pair.new, pair.new_place)
        judge_made(verdict, pair.old, pair.old_place, pair.new, pair.new_place)
    promised = after.parent >= 0 and pair.new.entities[after.parent].kind in PROMISES
    if promised and before.kind in CALLABLES and old_header.has_body and not new_header.has_body:
        verdict.add("has to be given by everyone now", breaks=True)
    if old_header.optional and not new_header.optional:
        verdict.add("has to be there now", breaks=promised)
    elif new_header.optional and not old_header.optional:
        verdict.add("may be missing now", breaks=not is_only_taken(pair))
    return verdict


def _comes_from_container(pair: Pair, before: Visibility, now: Visibility) -> bool:
    """Whether a member is as visible as what it is in, before and now."""
    assert pair.old is not None and pair.new is not None
    around = [side.entities[place].parent for side, place in pair.sides]
    return min(around) >= 0 and (visibility_of(pair.old, around[0]), visibility_of(pair.new, around[1])) == (
        before,
        now,
    )


def _is_unnamed(pair: Pair) -> bool:
    """Whether no path leads users to a definition of a crate, before or now."""
    return all(
        side.package is not None and not side.package.names(side.path, side.entities[place].path)
        for side, place in pair.sides
    )


def _has_no_name(pair: Pair) -> bool:
    """Whether users met a definition only where others speak of it, and had no name for it themselves."""
    assert pair.old is not None and pair.before is not None
    package = pair.old.package
    if package is None or pair.old.rules.crates or pair.before.parent >= 0:
        return False
    return not package.names(pair.old.path, pair.before.name)


def _is_left_out_of_list(pair: Pair) -> bool:
    """Whether a module of Python that has a list of names now, and had none, still has one that is not in it."""
    assert pair.old is not None and pair.new is not None
    is_new = pair.new.rules.private_modules and pair.new.is_listed and not pair.old.is_listed
    return is_new and pair.now.parent < 0 and not pair.new.is_private_module and not pair.now.name.startswith("_")


def _judge_shape(pair: Pair, old_header: Header, new_header: Header, judge: TypeJudge | None = None) -> Verdict:
    """Judge what is passed and what is given back; with a judge types count that are written in another way."""
    assert pair.new is not None
    verdict = Verdict()
    written = bool(old_header.annotation), bool(new_header.annotation)
    if all(written) or (any(written) and judge is not None):
        _judge_annotation(verdict, old_header, new_header, judge)
        return verdict
    if old_header.parameters != new_header.parameters:
        judge_parameters(verdict, pair, old_header, new_header, judge)
    _judge_types(verdict, pair, old_header, new_header, pair.new.rules, judge)
    return verdict


def _judge_annotation(verdict: Verdict, old_header: Header, new_header: Header, judge: TypeJudge | None) -> None:
    """Judge the written types of a function value, whose own parameters nobody sees."""
    before, after = old_header.annotation, new_header.annotation
    if before != after:
        breaks = not same_but_arguments(before, after) and not is_computed(before, after)
        breaks = breaks and (judge is None or not judge.calls(old_header, new_header))
        verdict.add(f"is {_shorten(after)} now, {_shorten(before)} before", breaks=breaks, tag="return_type_changed")


def _is_type_still(before: str, after: str) -> bool:
    """Whether what has the members of a type is one all the same, however it is declared."""
    return before in _TYPES and after in _TYPES | {"class"}


def _may_be_called(pair: Pair) -> bool:
    """Whether a function became a value that holds one: of a function's type, or what a call or a name gives."""
    assert pair.new is not None and pair.before is not None
    if pair.before.kind not in CALLABLES or pair.now.kind not in _ASSIGNED:
        return False
    parts = pair.new.parts(pair.new_place)
    written, value = parts.header.returns.split(" "), [token for token in parts.body if token != "="]
    if written != [""]:
        return "=>" in written or "typeof" in written or written[0][:1].isupper()
    return bool(value) and value[0].isidentifier()


def _judge_kind(verdict: Verdict, before: str, after: str, *, still: bool) -> None:
    """`still`: it was and is a value to its users."""
    values = still and {before, after} <= _ASSIGNED | CALLABLES
    verdict.add(f"a {before} before, a {after} now", breaks=not values, tag="kind_changed")


def _judge_types(
    verdict: Verdict,
    pair: Pair,
    old_header: Header,
    new_header: Header,
    rules: Contract,
    judge: TypeJudge | None,
) -> None:
    kind = pair.now.kind
    before, first = type_parameters(old_header, rules)
    after, second = type_parameters(new_header, rules)
    judge_generics(
        verdict,
        before,
        after,
        # Nobody writes the parameters of a type that has no name outside.
        typed=rules.typed and not (rules.crates and kind in _IMPLEMENTING and _is_unnamed(pair)),
        inferred=kind in CALLABLES
        and rules.infers_type_arguments
        and (not before or (rules.unions and is_inferable(old_header, before))),
        fits=judge.takes if judge is not None else None,
    )
    is_inferred = kind in ("variable", "constant") and not new_header.returns and new_header.has_body
    if old_header.returns != new_header.returns:
        if rules.unions:
            breaks = (
                bool(old_header.returns)
                and bool(new_header.returns)
                and not narrows(old_header.returns, new_header.returns)
                and not (judge is not None and judge.gives(old_header.returns, new_header.returns))
                if kind in CALLABLES
                else bool(old_header.returns)
                and not is_inferred
                and not same_but_arguments(old_header.returns, new_header.returns)
                and not _holds_what_it_held(pair, old_header, new_header, judge)
            )
            breaks = breaks and not is_computed(old_header.returns, new_header.returns)
        else:
            breaks = rules.typed and (bool(old_header.returns) or kind in CALLABLES) and not is_inferred
            breaks = breaks and not (
                kind in CALLABLES and returns_no_more(old_header.returns, new_header.returns, rules)
            )
        what = "gives" if kind in CALLABLES else "is"
        message = f"{what} {_shorten(new_header.returns)} now, {_shorten(old_header.returns)} before"
        verdict.add(message, breaks=breaks, tag="return_type_changed")
    if kind == "type" and rules.crates and first != second and _is_opaque(pair, first, second):
        verdict.add(f"{_shorten(second.removeprefix('= '))} now, which has no name outside", breaks=False)
    elif kind == "type" and names_outside(first, second, pair.old, pair.new):
        message = f"{_shorten(second)} now, {_shorten(first)} before: another package says whether they are the same"
        verdict.add(message, breaks=False)
    elif first != second and kind != "export":
        virtual = "virtual" in new_header.modifiers
        if judge is not None and kind == "type":
            _judge_type(verdict, pair, first.removeprefix("= "), second.removeprefix("= "), judge)
        else:
            _judge_rest(verdict, kind, first, second, rules, virtual=virtual, is_taken=is_only_taken(pair))
    elif first != second:
        verdict.add(f"comes from {new_header.rest.split()[-1]} now", breaks=False)


def _is_opaque(pair: Pair, before: str, after: str) -> bool:
    """Whether an alias stands for one type as before, which users know by no other name, with other arguments."""
    heads = [text.removeprefix("= ").partition(" <")[0].split(" :: ") for text in (before, after)]
    if heads[0][-1] != heads[1][-1]:
        return False
    known = [
        side.package.known_as(side.path, tuple(parts)) if side.package is not None else set[str]()
        for (side, _), parts in zip(pair.sides, heads, strict=True)
    ]
    return all(names and all("::" not in name for name in names) for names in known)


def _holds_what_it_held(pair: Pair, old_header: Header, new_header: Header, judge: TypeJudge | None) -> bool:
    """Whether a field is still of a type that its users can do with, who set it, read it, or do both."""
    before, after = old_header.returns, new_header.returns
    is_taken, is_given = is_only_taken(pair), is_only_given(pair) or "readonly" in old_header.modifiers
    # What an instance of a class holds is the class's to set.
    is_given = is_given or _container_kind(pair) == "class"
    if is_taken and widens(before, after):
        return True
    if judge is None or not after:
        return False
    if judge.has_more_values(before, after):
        return True
    return (is_given or judge.takes(before, after)) and (is_taken or judge.gives(before, after))


def _container_kind(pair: Pair) -> str:
    assert pair.new is not None
    return pair.new.entities[pair.now.parent].kind if pair.now.parent >= 0 else ""


def _judge_type(verdict: Verdict, pair: Pair, before: str, after: str, judge: TypeJudge) -> None:
    """Judge what an alias stands for: users give values of it unless they only get them."""
    fits = judge.gives(before, after) if is_only_given(pair) else judge.takes(before, after)
    fits = fits or same_but_arguments(before, after)
    fits = fits and (is_only_taken(pair) or judge.is_called_alike(before, after))
    verdict.add("the type is another", breaks=not fits)


def _judge_rest(
    verdict: Verdict, kind: str, old_rest: str, new_rest: str, rules: Contract, *, virtual: bool, is_taken: bool
) -> None:
    """`is_taken`: users only give values of the type."""
    if rules.qualified_methods and kind in CALLABLES:
        had, has = set(old_rest.split()), set(new_rest.split())
        for word in sorted(had ^ has):
            breaks = word != "noexcept" and (word in had or word != "const" or virtual)
            verdict.add(f"{word} now" if word in has else f"no longer {word}", breaks=breaks)
    elif kind == "type" and rules.unions:
        before, after = old_rest.removeprefix("= "), new_rest.removeprefix("= ")
        if is_computed(before, after):
            verdict.add("the type is computed otherwise, which is not judged", breaks=False)
        else:
            verdict.add("the type is another", breaks=not widens(before, after, members=True, is_taken=is_taken))
    elif rules.pointer_receivers and kind == "method":
        verdict.add("of a pointer now" if new_rest == "*" else "of a value now", breaks=new_rest == "*")
    elif kind == "property":
        narrower = old_rest == "set" and new_rest == "init"
        message = (
            "can only be set when it is made" if narrower else "can be set now" if new_rest else "can no longer be set"
        )
        verdict.add(message, breaks=not new_rest or narrower)
    elif old_rest.startswith("throws") or new_rest.startswith("throws"):
        more = set(new_rest.split()) - set(old_rest.split()) - {"throws", ","}
        verdict.add(f"throws {', '.join(sorted(more))}" if more else "throws less", breaks=bool(more))
    elif kind == "enum_member" and rules.enum_constructors:
        verdict.add("made from other values", breaks=False)
    else:
        named = kind == "type" and rules.type_aliases and new_rest == f"= {old_rest}"
        verdict.add(f"{_shorten(new_rest)} now, {_shorten(old_rest)} before", breaks=rules.typed and not named)


def _is_same_by_name(new: Outline, header: Header, kind: str) -> bool:
    """Whether a type is an alias of one of the same kind: of its file, or where aliases are types of their own name."""
    words = header.rest.split()
    if words[:1] != ["="]:
        return False
    if new.rules.type_aliases and kind in ("struct", "interface", "type"):
        # The type went elsewhere, and its old name stays.
        return len(words) == 2 or (len(words) == 4 and words[2] == ".")
    return len(words) == 2 and bool(new.named.get((-1, kind, words[1])))


def _stands_for(pair: Pair) -> bool:
    """Whether an alias of Rust takes the place of a struct that users could neither write out nor take apart."""
    assert pair.old is not None and pair.new is not None
    if not pair.new.rules.crates or not is_closed(pair.old, pair.old_place):
        return False
    counts = [len(type_parameters(side.parts(place).header, side.rules)[0]) for side, place in pair.sides]
    return counts[0] == counts[1]


def _judge_lambda(verdict: Verdict, pair: Pair) -> bool:
    """Judge a lambda that became a function or vice versa; return whether it was one."""
    assert pair.old is not None and pair.new is not None
    before, after = _callable_parameters(pair.old, pair.old_place), _callable_parameters(pair.new, pair.new_place)
    if before is None or after is None:
        return False
    verdict.add("a function all the same", breaks=False, tag="kind_changed")
    judge_calls(verdict, before, after, pair.new.rules)
    return True


def _shorten(text: str) -> str:
    return clip(compact(text), 80) or "nothing"


def _judge_operators(verdict: Verdict, old: Outline, old_place: int, new: Outline, new_place: int) -> None:
    """Judge removed C# operators, which are found in the text of their class."""
    before, after = (set(_OPERATOR.findall(side)) for side in (old.own_bytes(old_place), new.own_bytes(new_place)))
    gone = sorted({sign.decode("utf-8", "replace") for sign, _ in before - after})
    if gone:
        verdict.add(f"operator {', '.join(gone)} is gone", breaks=True)


def _callable_parameters(outline: Outline, place: int) -> tuple[Parameter, ...] | None:
    """The parameters of a function or of `name = lambda …`, or None."""
    given = outline.parts(place).header.parameters
    definition = outline.entities[place].definition
    if given is not None or definition is None or outline.facts is None or not outline.rules.lambda_values:
        return given
    tokens = code_of(outline.facts, outline.text, [(definition.name_at, definition.end)])
    if tokens[1:3] != ["=", "lambda"] or ":" not in tokens:
        return None
    return parameters(tokens[3 : tokens.index(":")], outline.rules.shape)

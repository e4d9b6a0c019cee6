"""The header of a definition, parsed from its tokens."""

from collections.abc import Sequence
from dataclasses import dataclass

from codeplane.code.languages.contract import Contract
from codeplane.query.compare.parameters import Parameter, parameters
from codeplane.query.compare.rules import CALLABLES, VALUES
from codeplane.query.compare.tokens import closing_index, split_at

_LINKS = frozenset({"extends", "implements", "with", "permits", "derives"})
_ENDS = frozenset({"{", ";"})
# What stands where a body would, and what it makes of a function.
_INSTEAD = {"0": "abstract", "delete": "deleted"}
_OWN_SETTERS = frozenset({"private", "protected", "internal", "fileprivate"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """The parts of a header; texts are tokens joined by blanks."""

    modifiers: frozenset[str] = frozenset()
    marks: tuple[str, ...] = ()
    generics: str = ""
    parameters: tuple[Parameter, ...] | None = None
    returns: str = ""
    bases: tuple[str, ...] = ()
    rest: str = ""
    annotation: str = ""
    """The written type of what a function is assigned to; it is what users see of the function."""
    optional: bool = False
    has_body: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class HeaderTokens:
    """A definition's tokens before and after its name, and of its body if the grammar marks it."""

    kind: str
    before: Sequence[str]
    after: Sequence[str]
    body: Sequence[str] | None
    marks: tuple[str, ...] = ()
    # What stands before all of it: `template <typename T>`.
    generics: Sequence[str] = ()


def parse_header(tokens: HeaderTokens, rules: Contract) -> tuple[Header, list[str]]:
    """Parse a definition's header; also return the tokens of its body."""
    marks, before = _split_annotations(tokens.before, rules)
    before = _first_of_list(before)
    modifiers = frozenset(token for token in before if token in rules.modifiers)
    kind = [token for token in before if token not in rules.modifiers]
    marks = (*tokens.marks, *marks)
    if tokens.kind in CALLABLES:
        return _callable(tokens, rules, modifiers, marks, kind)
    if tokens.kind in VALUES:
        return _value(tokens, rules, modifiers, marks, kind)
    return _type(tokens, rules, modifiers, marks, kind)


def _callable(
    tokens: HeaderTokens, rules: Contract, modifiers: frozenset[str], marks: tuple[str, ...], kind: list[str]
) -> tuple[Header, list[str]]:
    after = list(tokens.after)
    optional, more, at, annotation = False, set(modifiers), 0, ""
    if rules.function_values:
        if "*" in tokens.before:
            more.add("*")
        optional = after[:1] == ["?"]
        annotation, after = _split_annotation(after)
        at, words = _function_value(after)
        more |= words
    generics, at = _generics(after, at)
    if kind[:1] == ["<"] and not generics:
        # Java and Kotlin say it first.
        generics, end = _generics(kind, 0)
        kind = kind[end:]
    parsed: tuple[Parameter, ...] | None = None
    if after[at : at + 1] == ["("]:
        end = closing_index(after, at)
        inside = _any(after[at + 1 : end - 1]) if rules.shape == "grouped" else after[at + 1 : end - 1]
        parsed = parameters(inside, rules.shape)
        at = end
        while rules.curried and after[at : at + 1] == ["("]:
            end = closing_index(after, at)
            parsed += parameters(after[at + 1 : end - 1], rules.shape)
            at = end
    elif rules.function_values and after[at + 1 : at + 2] == ["=>"]:
        parsed, at = (Parameter(name=after[at]),), at + 1
    rest, body = after[at:], list(tokens.body or ())
    if rules.shape == "grouped":
        rest = _any(rest)
    has_body = tokens.body is not None
    if tokens.body is None:
        cut = _body_at(rest, rules)
        rest, body = rest[:cut], rest[cut:]
        has_body = bool(body) and body != [";"]
    if rules.c_declarations:
        if body[:1] == ["="] and body[1:2] and body[1] in _INSTEAD:
            more.add(_INSTEAD[body[1]])
            has_body = False
        more |= {"final"} & set(rest)
        rest = [token for token in rest if token not in ("final", "override")]
        if tokens.kind == "macro":
            rest, body, kind = [], [*rest, *body], []
    returns, rest = _split_result(rest, rules, kind)
    if kind and rules.pointer_receivers:
        rest = [*_receiver(kind), *rest]
    if rules.returns == "before" and rest[:1] == [":"]:
        # What a constructor hands to the one above it is its body's affair.
        body, rest = [*rest, *body], []
    return (
        Header(
            modifiers=frozenset(more),
            marks=marks,
            generics=" ".join(tokens.generics) or generics,
            parameters=parsed,
            returns=" ".join(returns),
            rest=" ".join(rest),
            annotation=annotation,
            optional=optional,
            has_body=has_body,
        ),
        body,
    )


def _value(
    tokens: HeaderTokens, rules: Contract, modifiers: frozenset[str], marks: tuple[str, ...], kind: list[str]
) -> tuple[Header, list[str]]:
    after = [*tokens.after, *(tokens.body or ())]
    while after[:1] == [","] and len(after) > 1:
        after = after[2:]
    optional = after[:1] == ["?"]
    if after[:1] in (["?"], ["!"]):
        after = after[1:]
    type_tokens: list[str] = []
    if tokens.kind == "enum_member":
        layout = after[: after.index("=")] if "=" in after else after
        value = after[len(layout) :]
        return Header(modifiers=modifiers, marks=marks, rest=" ".join(layout), has_body=bool(value)), value
    if rules.returns == "before":
        type_tokens = kind
    elif rules.shape == "grouped":
        cut = after.index("=") if "=" in after else len(after)
        if tokens.kind == "field" and after[-1:] and after[-1][:1] in ("`", '"'):
            # What others read out of a field is not what it is.
            cut = len(after) - 1
        type_tokens, after = _any(after[:cut]), after[cut:]
    elif after[:1] == [":"]:
        cut = next((at for at in _plain_places(after) if at and after[at] in ("=", "{")), len(after))
        # A type in braces is a type; braces that hold accessors are what is done.
        if cut < len(after) and after[cut] == "{" and cut == 1:
            cut = closing_index(after, 1)
        type_tokens, after = after[1:cut], after[cut:]
    accessors = _accessors(after) if tokens.kind == "property" else ""
    return (
        Header(
            modifiers=modifiers,
            marks=marks,
            returns=" ".join(type_tokens).rstrip(" ;,"),
            rest=accessors,
            optional=optional,
            has_body=bool(after),
        ),
        after,
    )


def _type(
    tokens: HeaderTokens, rules: Contract, modifiers: frozenset[str], marks: tuple[str, ...], kind: list[str]
) -> tuple[Header, list[str]]:
    after, body = list(tokens.after), list(tokens.body or ())
    generics, at = _generics(after, 0)
    generics = " ".join(tokens.generics) or generics
    if rules.final_types and after[at : at + 1] == ["final"]:
        modifiers, at = modifiers | {"final"}, at + 1
    parsed: tuple[Parameter, ...] | None = None
    bases: list[str] = []
    if after[at : at + 1] == ["("]:
        end = closing_index(after, at)
        inside = after[at + 1 : end - 1]
        at = end
        if rules.type_parentheses == "bases":
            bases = [" ".join(part) for part in split_at(inside, ",", angles=False)]
        elif rules.type_parentheses == "parameters":
            parsed = parameters(inside, rules.shape)
        else:
            body = ["(", *inside, ")"]
    rest = after[at:]
    if tokens.kind == "type" or (tokens.kind not in ("class", "interface", "trait") and rest[:1] == ["="]):
        if "typedef" in modifiers and "{" not in kind:
            rest = [*kind, *rest]
        return Header(modifiers=modifiers, marks=marks, generics=generics, rest=" ".join(rest).rstrip(" ;")), []
    if tokens.body is None:
        cut = next((at for at, token in enumerate(rest) if token in _ENDS), len(rest))
        rest, body = rest[:cut], [*body, *rest[cut:]]
    if rules.bases_follow:
        where = rest.index("where") if "where" in rest else len(rest)
        bases = _bases(rest[:where], rules)
        rest = rest[where:]
    elif rules.type_parentheses == "bases":
        rest = []
    return (
        Header(
            modifiers=modifiers,
            marks=marks,
            generics=generics,
            parameters=parsed,
            bases=tuple(bases),
            rest=" ".join(rest),
            has_body=bool(body),
        ),
        body,
    )


def _accessors(after: Sequence[str]) -> str:
    """How a property can be set: `set`, `init`, or an empty string."""
    for word in ("set", "init"):
        if word in after and (at := list(after).index(word)) >= 0:
            return "" if at and after[at - 1] in _OWN_SETTERS else word
    return ""


def _any(tokens: Sequence[str]) -> list[str]:
    """Write Go's `interface{}` as `any`."""
    tokens_out: list[str] = []
    at = 0
    while at < len(tokens):
        bare = list(tokens[at : at + 3]) == ["interface", "{", "}"]
        tokens_out.append("any" if bare else tokens[at])
        at += 3 if bare else 1
    return tokens_out


def _bases(tokens: Sequence[str], rules: Contract) -> list[str]:
    if rules.structural and "implements" in tokens:
        # Anything with the members is one, declared or not.
        cut = list(tokens).index("implements")
        return [*_bases(tokens[:cut], rules), *(f"implements {base}" for base in _bases(tokens[cut + 1 :], rules))]
    bases: list[str] = []
    for part in split_at([("," if token in _LINKS or token == ":" else token) for token in tokens], ",", angles=True):
        if part and part[-1] == ")" and "(" in part:
            part = part[: part.index("(")]
        bases.append(" ".join(part))
    return bases


def _split_annotations(tokens: Sequence[str], rules: Contract) -> tuple[tuple[str, ...], list[str]]:
    """Split leading annotations or attributes from the rest."""
    marks: list[str] = []
    at = 0
    sign = rules.mark[0]
    while at < len(tokens):
        start = at
        if tokens[at] == "@" and at + 1 < len(tokens) and tokens[at + 1] != "interface":
            at += 2
            while at + 1 < len(tokens) and tokens[at] in (".", ":"):
                at += 2
            at = closing_index(tokens, at) if at < len(tokens) and tokens[at] == "(" else at
        elif sign == "[" and tokens[at] == "[":
            at = closing_index(tokens, at)
        elif tokens[at] == "#" and tokens[at + 1 : at + 2] == ["["]:
            at = closing_index(tokens, at + 1)
        else:
            break
        marks.append(" ".join(tokens[start:at]))
    return tuple(marks), list(tokens[at:])


def _first_of_list(before: list[str]) -> list[str]:
    """The tokens before the first of several declared names: `int x, y`."""
    for at in _plain_places(before):
        if before[at] == ",":
            return before[: max(at - 1, 0)]
    return before


def _split_annotation(after: list[str]) -> tuple[str, list[str]]:
    """The type in `name: Type = (…) => …`, and what follows it."""
    if after[:1] != [":"]:
        return "", after
    cut = next((at for at in _plain_places(after) if after[at] == "="), 0)
    return (" ".join(after[1:cut]), after[cut:]) if cut else ("", after)


def _function_value(after: Sequence[str]) -> tuple[int, set[str]]:
    """The start of a function value (`= async function* name(`), and its modifiers."""
    at, words = 0, set()
    while at < len(after) and after[at] in ("=", ":", "?", "!", "async", "function", "*"):
        if after[at] in ("async", "*"):
            words.add(after[at])
        at += 1
    named = (
        at + 1 < len(after) and after[at].isidentifier() and after[at + 1] in ("(", "<") and "function" in after[:at]
    )
    return at + named, words


def _generics(tokens: Sequence[str], at: int) -> tuple[str, int]:
    if tokens[at : at + 1] == ["<"]:
        end = closing_index(tokens, at, "<", ">")
    elif tokens[at : at + 1] == ["["]:
        end = closing_index(tokens, at)
    else:
        return "", at
    return " ".join(tokens[at:end]), end


def _split_result(rest: list[str], rules: Contract, kind: list[str]) -> tuple[list[str], list[str]]:
    if rules.returns == "before":
        return kind, rest
    if rules.returns == "after":
        return _result_types(_any(rest)), []
    if rest[-1:] in ([":"], ["=>"], [";"]):
        rest = rest[:-1]
    if rules.returns and rest[:1] == [rules.returns]:
        cut = rest.index("where") if "where" in rest else len(rest)
        return rest[1:cut], rest[cut:]
    return [], rest


def _result_types(results: list[str]) -> list[str]:
    """Go's results without their names."""
    if results[:1] != ["("] or closing_index(results, 0) != len(results):
        return results
    kinds = [parameter.type for parameter in parameters(results[1:-1], "grouped")]
    return kinds if len(kinds) == 1 else ["(", *" , ".join(kinds).split(" "), ")"]


def _receiver(kind: Sequence[str]) -> list[str]:
    """Whether a Go receiver is a pointer: `*` or nothing."""
    return ["*"] if "*" in kind else []


def _body_at(rest: Sequence[str], rules: Contract) -> int:
    """The start of a body that the grammar does not mark."""
    signs = {"{"} if rules.function_values else {"{", "=>", "="}
    for at in _plain_places(rest):
        if rest[at] in signs or (rest[at] == ";" and at == len(rest) - 1):
            return at
    return len(rest)


def _plain_places(tokens: Sequence[str]) -> list[int]:
    """Indexes outside all brackets; an opening bracket itself counts as outside."""
    places: list[int] = []
    depth = 0
    for at, token in enumerate(tokens):
        if token in (")", "]", "}", ">"):
            depth = max(depth - 1, 0)
        if not depth:
            places.append(at)
        if token in ("(", "[", "{", "<"):
            depth += 1
    return places

"""What a definition says before its body, taken apart."""

from collections.abc import Sequence
from dataclasses import dataclass

from codeplane.code.languages.contract import Contract
from codeplane.query.compare.parameters import Parameter, parameters
from codeplane.query.compare.rules import CALLABLES, VALUES
from codeplane.query.compare.tokens import balanced, split_at

_LINKS = frozenset({"extends", "implements", "with", "permits", "derives"})
_ENDS = frozenset({"{", ";"})
# What stands where a body would, and what it makes of a function.
_INSTEAD = {"0": "abstract", "delete": "deleted"}
_OWN_SETTERS = frozenset({"private", "protected", "internal", "fileprivate"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """The parts of a definition's head; texts are tokens with blanks between them."""

    modifiers: frozenset[str] = frozenset()
    marks: tuple[str, ...] = ()
    generics: str = ""
    parameters: tuple[Parameter, ...] | None = None
    returns: str = ""
    bases: tuple[str, ...] = ()
    rest: str = ""
    optional: bool = False
    has_body: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A definition's tokens: before its name, after it, and where the body is marked off, the body's."""

    kind: str
    before: Sequence[str]
    after: Sequence[str]
    body: Sequence[str] | None
    marks: tuple[str, ...] = ()
    # What stands before all of it: `template <typename T>`.
    generics: Sequence[str] = ()


def taken_apart(said: Said, rules: Contract) -> tuple[Header, list[str]]:
    """A definition's head, and the tokens of its body."""
    marks, before = _marked(said.before, rules)
    before = _first_of_list(before)
    modifiers = frozenset(token for token in before if token in rules.modifiers)
    kind = [token for token in before if token not in rules.modifiers]
    marks = (*said.marks, *marks)
    if said.kind in CALLABLES:
        return _callable(said, rules, modifiers, marks, kind)
    if said.kind in VALUES:
        return _value(said, rules, modifiers, marks, kind)
    return _type(said, rules, modifiers, marks, kind)


def _callable(
    said: Said, rules: Contract, modifiers: frozenset[str], marks: tuple[str, ...], kind: list[str]
) -> tuple[Header, list[str]]:
    after = list(said.after)
    optional, more, at = False, set(modifiers), 0
    if rules.function_values:
        if "*" in said.before:
            more.add("*")
        optional = after[:1] == ["?"]
        at, words = _assigned(after)
        more |= words
    generics, at = _generics(after, at)
    if kind[:1] == ["<"] and not generics:
        # Java and Kotlin say it first.
        generics, end = _generics(kind, 0)
        kind = kind[end:]
    found: tuple[Parameter, ...] | None = None
    if after[at : at + 1] == ["("]:
        end = balanced(after, at)
        inside = _any(after[at + 1 : end - 1]) if rules.shape == "grouped" else after[at + 1 : end - 1]
        found = parameters(inside, rules.shape)
        at = end
        while rules.curried and after[at : at + 1] == ["("]:
            end = balanced(after, at)
            found += parameters(after[at + 1 : end - 1], rules.shape)
            at = end
    elif rules.function_values and after[at + 1 : at + 2] == ["=>"]:
        found, at = (Parameter(name=after[at]),), at + 1
    rest, body = after[at:], list(said.body or ())
    has_body = said.body is not None
    if said.body is None:
        cut = _body_at(rest, rules)
        rest, body = rest[:cut], rest[cut:]
        has_body = bool(body) and body != [";"]
    if rules.c_declarations:
        if body[:1] == ["="] and body[1:2] and body[1] in _INSTEAD:
            more.add(_INSTEAD[body[1]])
            has_body = False
        more |= {"final"} & set(rest)
        rest = [token for token in rest if token not in ("final", "override")]
        if said.kind == "macro":
            rest, body, kind = [], [*rest, *body], []
    returns, rest = _returned(rest, rules, kind)
    if kind and rules.pointer_receivers:
        rest = [*_receiver(kind), *rest]
    if rules.returns == "before" and rest[:1] == [":"]:
        # What a constructor hands to the one above it is its body's affair.
        body, rest = [*rest, *body], []
    return (
        Header(
            modifiers=frozenset(more),
            marks=marks,
            generics=" ".join(said.generics) or generics,
            parameters=found,
            returns=" ".join(returns),
            rest=" ".join(rest),
            optional=optional,
            has_body=has_body,
        ),
        body,
    )


def _value(
    said: Said, rules: Contract, modifiers: frozenset[str], marks: tuple[str, ...], kind: list[str]
) -> tuple[Header, list[str]]:
    after = [*said.after, *(said.body or ())]
    while after[:1] == [","] and len(after) > 1:
        after = after[2:]
    optional = after[:1] == ["?"]
    if after[:1] in (["?"], ["!"]):
        after = after[1:]
    found: list[str] = []
    if said.kind == "enum_member":
        layout = after[: after.index("=")] if "=" in after else after
        value = after[len(layout) :]
        return Header(modifiers=modifiers, marks=marks, rest=" ".join(layout), has_body=bool(value)), value
    if rules.returns == "before":
        found = kind
    elif rules.shape == "grouped":
        cut = after.index("=") if "=" in after else len(after)
        if said.kind == "field" and after[-1:] and after[-1][:1] in ("`", '"'):
            # What others read out of a field is not what it is.
            cut = len(after) - 1
        found, after = _any(after[:cut]), after[cut:]
    elif after[:1] == [":"]:
        cut = next((at for at in _plain_places(after) if at and after[at] in ("=", "{")), len(after))
        # A type in braces is a type; braces that hold accessors are what is done.
        if cut < len(after) and after[cut] == "{" and cut == 1:
            cut = balanced(after, 1)
        found, after = after[1:cut], after[cut:]
    accessors = _accessors(after) if said.kind == "property" else ""
    return (
        Header(
            modifiers=modifiers,
            marks=marks,
            returns=" ".join(found).rstrip(" ;,"),
            rest=accessors,
            optional=optional,
            has_body=bool(after),
        ),
        after,
    )


def _type(
    said: Said, rules: Contract, modifiers: frozenset[str], marks: tuple[str, ...], kind: list[str]
) -> tuple[Header, list[str]]:
    after, body = list(said.after), list(said.body or ())
    generics, at = _generics(after, 0)
    generics = " ".join(said.generics) or generics
    if rules.final_types and after[at : at + 1] == ["final"]:
        modifiers, at = modifiers | {"final"}, at + 1
    found: tuple[Parameter, ...] | None = None
    bases: list[str] = []
    if after[at : at + 1] == ["("]:
        end = balanced(after, at)
        inside = after[at + 1 : end - 1]
        at = end
        if rules.type_parentheses == "bases":
            bases = [" ".join(part) for part in split_at(inside, ",", angles=False)]
        elif rules.type_parentheses == "parameters":
            found = parameters(inside, rules.shape)
        else:
            body = ["(", *inside, ")"]
    rest = after[at:]
    if said.kind == "type" or (said.kind not in ("class", "interface", "trait") and rest[:1] == ["="]):
        if "typedef" in modifiers and "{" not in kind:
            rest = [*kind, *rest]
        return Header(modifiers=modifiers, marks=marks, generics=generics, rest=" ".join(rest).rstrip(" ;")), []
    if said.body is None:
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
            parameters=found,
            bases=tuple(bases),
            rest=" ".join(rest),
            has_body=bool(body),
        ),
        body,
    )


def _accessors(after: Sequence[str]) -> str:
    """How others may set a property: at any time, when its object is made, or not at all."""
    for word in ("set", "init"):
        if word in after and (at := list(after).index(word)) >= 0:
            return "" if at and after[at - 1] in _OWN_SETTERS else word
    return ""


def _any(tokens: Sequence[str]) -> list[str]:
    """Go's two ways to write that any type will do, as one."""
    found: list[str] = []
    at = 0
    while at < len(tokens):
        bare = list(tokens[at : at + 3]) == ["interface", "{", "}"]
        found.append("any" if bare else tokens[at])
        at += 3 if bare else 1
    return found


def _bases(tokens: Sequence[str], rules: Contract) -> list[str]:
    if rules.structural and "implements" in tokens:
        # Whoever has the members is one, whatever is said.
        cut = list(tokens).index("implements")
        return [*_bases(tokens[:cut], rules), *(f"implements {one}" for one in _bases(tokens[cut + 1 :], rules))]
    found: list[str] = []
    for part in split_at([("," if token in _LINKS or token == ":" else token) for token in tokens], ",", angles=True):
        if part and part[-1] == ")" and "(" in part:
            part = part[: part.index("(")]
        found.append(" ".join(part))
    return found


def _marked(tokens: Sequence[str], rules: Contract) -> tuple[tuple[str, ...], list[str]]:
    """The annotations or attributes at the beginning, and what follows them."""
    found: list[str] = []
    at = 0
    sign = rules.mark[0]
    while at < len(tokens):
        start = at
        if tokens[at] == "@" and at + 1 < len(tokens) and tokens[at + 1] != "interface":
            at += 2
            while at + 1 < len(tokens) and tokens[at] in (".", ":"):
                at += 2
            at = balanced(tokens, at) if at < len(tokens) and tokens[at] == "(" else at
        elif sign == "[" and tokens[at] == "[":
            at = balanced(tokens, at)
        elif tokens[at] == "#" and tokens[at + 1 : at + 2] == ["["]:
            at = balanced(tokens, at + 1)
        else:
            break
        found.append(" ".join(tokens[start:at]))
    return tuple(found), list(tokens[at:])


def _first_of_list(before: list[str]) -> list[str]:
    """What stands before the first of several names that share what was said: `int x, y`."""
    for at in _plain_places(before):
        if before[at] == ",":
            return before[: max(at - 1, 0)]
    return before


def _assigned(after: Sequence[str]) -> tuple[int, set[str]]:
    """Where a function that is a value begins: `= async function* name(`; and what is said of it on the way."""
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
        end = balanced(tokens, at, "<", ">")
    elif tokens[at : at + 1] == ["["]:
        end = balanced(tokens, at)
    else:
        return "", at
    return " ".join(tokens[at:end]), end


def _returned(rest: list[str], rules: Contract, kind: list[str]) -> tuple[list[str], list[str]]:
    if rules.returns == "before":
        return kind, rest
    if rules.returns == "after":
        return _unnamed(_any(rest)), []
    if rest[-1:] in ([":"], ["=>"], [";"]):
        rest = rest[:-1]
    if rules.returns and rest[:1] == [rules.returns]:
        cut = rest.index("where") if "where" in rest else len(rest)
        return rest[1:cut], rest[cut:]
    return [], rest


def _unnamed(results: list[str]) -> list[str]:
    """Go's results without what they are called inside."""
    if results[:1] != ["("] or balanced(results, 0) != len(results):
        return results
    kinds = [one.type for one in parameters(results[1:-1], "grouped")]
    return kinds if len(kinds) == 1 else ["(", *" , ".join(kinds).split(" "), ")"]


def _receiver(kind: Sequence[str]) -> list[str]:
    """Whether a method is of the value or of a pointer to it; what the receiver is called is nobody's affair."""
    return ["*"] if "*" in kind else []


def _body_at(rest: Sequence[str], rules: Contract) -> int:
    """Where a body that the grammar does not mark off begins."""
    signs = {"{"} if rules.function_values else {"{", "=>", "="}
    for at in _plain_places(rest):
        if rest[at] in signs or (rest[at] == ";" and at == len(rest) - 1):
            return at
    return len(rest)


def _plain_places(tokens: Sequence[str]) -> list[int]:
    """The places that are in no bracket; an opening brace itself is one."""
    found: list[int] = []
    depth = 0
    for at, token in enumerate(tokens):
        if token in (")", "]", "}", ">"):
            depth = max(depth - 1, 0)
        if not depth:
            found.append(at)
        if token in ("(", "[", "{", "<"):
            depth += 1
    return found

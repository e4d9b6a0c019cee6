"""Macros by example: which rule of a `macro_rules!` takes the tokens of a call, and what it makes of them."""

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from codeplane.code.languages.rust.token_trees import Group, Leaf, Tree, leaves_of

_FRAGMENTS_OF_ONE = {"ident": ("name",), "lifetime": ("lifetime",), "literal": ("text", "number")}
# What may follow a fragment, by the rules of the language.
_ENDS: Mapping[str, frozenset[str]] = {
    "expr": frozenset({"=>", ",", ";"}),
    "expr_2021": frozenset({"=>", ",", ";"}),
    "stmt": frozenset({"=>", ",", ";"}),
    "ty": frozenset({"{", "[", "=", "=>", ",", ">", ":", ";", "|", "as", "where"}),
    "path": frozenset({"{", "[", "=", "=>", ",", ">", ":", ";", "|", "as", "where"}),
    "pat": frozenset({"=>", ",", "=", "if", "in"}),
    "pat_param": frozenset({"=>", ",", "=", "|", "if", "in"}),
    "meta": frozenset({",", ";", "=>"}),
}
_TYPES = frozenset({"ty", "path"})
_MAX_DEPTH = 12


class Rule(Struct, frozen=True):
    """A pattern and what is written for it."""

    pattern: tuple[Tree, ...]
    body: tuple[Tree, ...]


class Repeated(Struct, frozen=True):
    """What a repetition of a pattern was matched with, one mapping a turn."""

    turns: tuple["Bindings", ...]


class Fragment(Struct, frozen=True):
    """What a variable of a pattern was matched with."""

    trees: tuple[Tree, ...]
    is_expression: bool = False


Bindings = dict[str, "Fragment | Repeated"]


def rules_of(body: Sequence[Tree]) -> list[Rule]:
    """Return the rules of a macro, from what stands between its outer brackets."""
    found, position = [], 0
    while position + 3 < len(body):
        pattern, right = body[position], body[position + 3]
        if not isinstance(pattern, Group) or not isinstance(right, Group) or not _is_sign(body, position + 1, "=>"):
            return []
        found.append(Rule(pattern.inner, right.inner))
        position += 5 if _is_sign(body, position + 4, ";") else 4
    return found


def match_pattern(pattern: Sequence[Tree], given: Sequence[Tree], words: set[tuple[str, int]]) -> Bindings | None:
    """Return what the variables of a pattern stand for; `words` gets the places of names that it asks for literally."""
    bindings: Bindings = {}
    literal: list[Leaf] = []
    end = _match(pattern, given, 0, bindings, literal)
    if end != len(given):
        return None
    words |= {(leaf.path, leaf.at) for leaf in literal}
    return bindings


def _match(
    pattern: Sequence[Tree], given: Sequence[Tree], at: int, bindings: Bindings, literal: list[Leaf]
) -> int | None:
    """Return where a pattern ends in what is given from a place on; None if it does not fit."""
    position = 0
    while position < len(pattern):
        part = pattern[position]
        after = pattern[position + 1] if position + 1 < len(pattern) else None
        found: int | None
        if part.text == "$" and isinstance(after, Group):
            sign, separator, used = repetition(pattern, position + 2)
            found = _match_repeated(after.inner, separator, sign, given, at, bindings, literal)
            position += 2 + used
        elif part.text == "$" and isinstance(after, Leaf) and _is_sign(pattern, position + 2, ":"):
            kind = pattern[position + 3].text if position + 3 < len(pattern) else ""
            found = _fragment_end(kind, given, at)
            if found is not None:
                bindings[after.text] = Fragment(tuple(given[at:found]), kind.startswith("expr"))
            position += 4
        else:
            found = _match_tree(part, given, at, bindings, literal)
            position += 1
        if found is None:
            return None
        at = found
    return at


def _match_tree(part: Tree, given: Sequence[Tree], at: int, bindings: Bindings, literal: list[Leaf]) -> int | None:
    other = given[at] if at < len(given) else None
    if other is None or part.kind != other.kind or part.text != other.text:
        return None
    if isinstance(part, Group) and isinstance(other, Group):
        return at + 1 if _match(part.inner, other.inner, 0, bindings, literal) == len(other.inner) else None
    if isinstance(other, Leaf) and other.kind == "name":
        literal.append(other)
    return at + 1


def _match_repeated(
    inner: Sequence[Tree],
    separator: Sequence[Tree],
    sign: str,
    given: Sequence[Tree],
    at: int,
    bindings: Bindings,
    literal: list[Leaf],
) -> int | None:
    turns: list[Bindings] = []
    while sign != "?" or not turns:
        start = at
        if turns and separator:
            passed = _match(separator, given, at, {}, [])
            if passed is None:
                break
            start = passed
        turn: Bindings = {}
        end = _match(inner, given, start, turn, literal) if start < len(given) else None
        if end is None or end == start:
            break
        turns.append(turn)
        at = end
    if sign == "+" and not turns:
        return None
    for name in variables(inner):
        bindings[name] = Repeated(tuple(turns))
    return at


def variables(trees: Sequence[Tree]) -> Iterator[str]:
    """Yield the names behind `$`."""
    leaves = list(leaves_of(trees))
    for position, leaf in enumerate(leaves[:-1]):
        if leaf.text == "$" and leaves[position + 1].kind == "name":
            yield leaves[position + 1].text


def repetition(trees: Sequence[Tree], at: int) -> tuple[str, Sequence[Tree], int]:
    """Return the sign of a repetition, its separator, and how many tokens both take."""
    for length in range(3):
        tree = trees[at + length] if at + length < len(trees) else None
        if tree is not None and tree.kind == "sign" and tree.text in "*+?":
            return tree.text, trees[at : at + length], length + 1
    return "*", (), 0


def _fragment_end(kind: str, given: Sequence[Tree], at: int) -> int | None:
    """Return where a fragment ends that begins at a place; None if there is none."""
    if kind == "vis":
        return _visibility_end(given, at)
    if at >= len(given):
        return None
    first = given[at]
    if kind in _FRAGMENTS_OF_ONE:
        if kind == "literal" and first.text == "-":
            at, first = at + 1, given[at + 1] if at + 1 < len(given) else first
        return at + 1 if first.kind in _FRAGMENTS_OF_ONE[kind] or first.text in ("true", "false") else None
    if kind == "tt":
        return at + 1
    if kind == "block":
        return at + 1 if isinstance(first, Group) and first.text == "{" else None
    if kind == "item":
        return _item_end(given, at)
    ends = _ENDS.get(kind)
    return _until(ends, given, at, angles=kind in _TYPES) if ends is not None else None


def _visibility_end(given: Sequence[Tree], at: int) -> int:
    if at < len(given) and given[at].text == "pub":
        after = given[at + 1] if at + 1 < len(given) else None
        return at + 2 if isinstance(after, Group) and after.text == "(" else at + 1
    return at


def _item_end(given: Sequence[Tree], at: int) -> int | None:
    for position in range(at, len(given)):
        tree = given[position]
        if tree.text == ";" or (isinstance(tree, Group) and tree.text == "{"):
            return position + 1
    return None


def _until(ends: frozenset[str], given: Sequence[Tree], at: int, *, angles: bool) -> int | None:
    depth, position = 0, at
    while position < len(given):
        text = given[position].text
        arrow = text in "=-" and _is_sign(given, position + 1, ">")
        if arrow and text == "=" and "=>" in ends:
            break
        if arrow:
            position += 2
            continue
        double = text == ":" and _is_sign(given, position + 1, ":")
        if double:
            position += 2
            if not angles and position < len(given) and given[position].text == "<":
                position = _behind_angles(given, position)
            continue
        if text == "|" and not angles and position == at:
            # The parameters of a closure.
            position = next((n + 1 for n in range(at + 1, len(given)) if given[n].text == "|"), len(given))
            continue
        if depth == 0 and text in ends and (position > at or given[position].kind != "group"):
            equal = text == "=" and "if" in ends and _is_sign(given, position + 1, "=")
            if not equal:
                break
        if angles:
            depth += (text == "<") - (text == ">")
        position += 1
    return position if position > at else None


def _behind_angles(given: Sequence[Tree], at: int) -> int:
    depth = 0
    for position in range(at, len(given)):
        depth += (given[position].text == "<") - (given[position].text == ">")
        if depth == 0:
            return position + 1
    return len(given)


def _is_sign(trees: Sequence[Tree], at: int, sign: str) -> bool:
    """Whether the characters of a sign stand at a place, one token each."""
    return at + len(sign) <= len(trees) and all(
        trees[at + number].kind == "sign" and trees[at + number].text == character
        for number, character in enumerate(sign)
    )


def transcribe(body: Sequence[Tree], bindings: Bindings, mark: str) -> list[Tree]:
    """Return what a rule writes; variables that its body itself binds by `let` get a mark behind their names."""
    return _write(body, bindings, mark, bound_names(body), 0)


def _write(body: Sequence[Tree], bindings: Bindings, mark: str, own: frozenset[str], depth: int) -> list[Tree]:
    found: list[Tree] = []
    position = 0
    while position < len(body):
        part = body[position]
        after = body[position + 1] if position + 1 < len(body) else None
        if part.text == "$" and isinstance(after, Group):
            _, separator, used = repetition(body, position + 2)
            found += _repeat(after.inner, separator, bindings, mark, own, depth + 1)
            position += 2 + used
            continue
        if part.text == "$" and isinstance(after, Leaf) and after.kind == "name":
            value = bindings.get(after.text)
            if after.text == "crate":
                found.append(after)
            elif isinstance(value, Fragment):
                found += _fragment_tokens(value)
            position += 2
            continue
        if isinstance(part, Group):
            part = Group(part.opening, part.closing, tuple(_write(part.inner, bindings, mark, own, depth)))
        elif part.text in own and _is_variable(body, position):
            part = Leaf(part.kind, part.text + mark, part.path, part.at)
        found.append(part)
        position += 1
    return found


def _is_variable(body: Sequence[Tree], at: int) -> bool:
    """Whether a name can be that of a variable: not a member, a part of a path or the label of a field."""
    before = body[at - 1].text if at else ""
    behind = body[at + 1].text if at + 1 < len(body) else ""
    return before not in (".", ":") and (behind != ":" or before in ("let", "mut"))


def _fragment_tokens(value: Fragment) -> list[Tree]:
    """Return the tokens of a fragment; an expression of several is put into brackets."""
    if not value.is_expression or len(value.trees) < 2:
        return list(value.trees)
    return [Group(Leaf("sign", "(", "", -1), Leaf("sign", ")", "", -1), value.trees)]


def _repeat(
    inner: Sequence[Tree],
    separator: Sequence[Tree],
    bindings: Bindings,
    mark: str,
    own: frozenset[str],
    depth: int,
) -> list[Tree]:
    names = set(variables(inner))
    repeated = [value for name, value in bindings.items() if name in names and isinstance(value, Repeated)]
    found: list[Tree] = []
    if depth > _MAX_DEPTH:
        return found
    for number in range(max((len(value.turns) for value in repeated), default=0)):
        turn = dict(bindings)
        for value in repeated:
            turn |= value.turns[number] if number < len(value.turns) else {}
        found += separator if number else ()
        found += _write(inner, turn, mark, own, depth)
    return found


def bound_names(body: Sequence[Tree]) -> frozenset[str]:
    """Return the names that stand behind `let` or `let mut` in a body."""
    leaves = list(leaves_of(body))
    found = set()
    for position, leaf in enumerate(leaves):
        if leaf.text == "let":
            at = position + 1
            at += at < len(leaves) and leaves[at].text == "mut"
            if at < len(leaves) and leaves[at].kind == "name":
                found.add(leaves[at].text)
    return frozenset(found)

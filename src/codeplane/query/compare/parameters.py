"""Parameter lists of many languages, parsed from tokens."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from codeplane.code.languages.contract import Shape
from codeplane.query.compare.tokens import closing_index, split_at, words

How = Literal["positional", "positional_only", "keyword_only", "rest", "keyword_rest"]
_MODIFIERS = words(
    "final val var const mut ref out in params this readonly public private protected internal override lateinit"
    " vararg crossinline noinline required covariant implicit using inline inout borrowing consuming"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A parameter; `type` and `default` are token texts or empty."""

    name: str
    how: How = "positional"
    type: str = ""
    default: str = ""
    optional: bool = False
    # What an extension is called on: `this string text`.
    receiver: bool = False

    @property
    def is_required(self) -> bool:
        """Whether a call must pass it."""
        return not self.optional and not self.default and self.how not in ("rest", "keyword_rest")


def parameters(tokens: Sequence[str], shape: Shape) -> tuple[Parameter, ...]:
    """Parse the tokens between parentheses."""
    parts = [_strip_annotations(part) for part in split_at(tokens, ",", angles=shape not in ("bare", "marked"))]
    parts = [part for part in parts if part]
    if shape == "marked":
        return _read_marked_list(parts)
    if shape == "grouped":
        return _read_grouped_list(parts)
    if shape == "name_first":
        # What a function of TypeScript says about its receiver is no argument.
        parts = [part for part in parts if list(part[:2]) != ["this", ":"]]
    read = {"name_first": _name_first, "type_first": _type_first, "bare": _read_bare_parameter}[shape]
    return tuple(read(part) for part in parts)


def _read_marked_list(parts: Sequence[Sequence[str]]) -> tuple[Parameter, ...]:
    found: list[Parameter] = []
    how: How = "positional"
    for part in parts:
        if part[0] == "/":
            found = [
                Parameter(name=parameter.name, how="positional_only", type=parameter.type, default=parameter.default)
                for parameter in found
            ]
        elif part[0] == "*" and len(part) == 1:
            how = "keyword_only"
        elif part[0] in ("*", "**"):
            parameter = _name_first(part[1:])
            found.append(
                Parameter(name=parameter.name, how="rest" if part[0] == "*" else "keyword_rest", type=parameter.type)
            )
            how = "keyword_only"
        else:
            parameter = _name_first(part)
            # Before there was a syntax for it, such a name marked a parameter as positional only.
            is_placed = how == "positional" and parameter.name.startswith("__") and not parameter.name.endswith("__")
            own: How = "positional_only" if is_placed else how
            found.append(Parameter(name=parameter.name, how=own, type=parameter.type, default=parameter.default))
    return tuple(found)


def _name_first(part: Sequence[str]) -> Parameter:
    """`name?: type = default`, also with labels before the name, and patterns in its place."""
    head, default = _cut(part, "=")
    name, kind = _cut(head, ":")
    how: How = "positional"
    if name and name[0] == "...":
        how, name = "rest", name[1:]
    optional = bool(name) and name[-1] == "?"
    named = [token for token in name if token != "?"]
    # A parameter may be called by such a word, too.
    name_tokens = [token for token in named if token not in _MODIFIERS] or named[-1:]
    if len(name_tokens) == 2 and all(token.isidentifier() for token in name_tokens):
        # Swift: what callers say, and what it is called inside.
        name_tokens = name_tokens[:1]
    if name_tokens[:1] == ["&"] or (name_tokens and name_tokens[0].startswith("'")):
        kind = kind or list(name)
    if "vararg" in part[:1] or kind[-1:] == ["..."]:
        how = "rest"
    return Parameter(
        name=" ".join(name_tokens), how=how, type=" ".join(kind), default=" ".join(default), optional=optional
    )


def _type_first(part: Sequence[str]) -> Parameter:
    """`modifiers Type name = default`; a prototype may leave the name out."""
    head, default = _cut(part, "=")
    how: How = "rest" if "params" in head[:1] or "..." in head else "positional"
    kept = [token for token in head if token not in ("final", "params", "this")]
    suffix: list[str] = []
    while len(kept) > 1 and kept[-1] in ("]", "["):
        suffix.insert(0, kept.pop())
    dollar = next((token for token in kept if token.startswith("$")), None)
    if dollar is None and len(kept) > 1 and (kept[-1].isidentifier()):
        name, kind = kept[-1], kept[:-1] + suffix
    elif dollar is not None:
        name, kind = dollar, [token for token in kept if token != dollar]
    else:
        name, kind = "", kept + suffix
    return Parameter(name=name, how=how, type=" ".join(kind), default=" ".join(default), receiver=head[:1] == ["this"])


def _read_grouped_list(parts: Sequence[Sequence[str]]) -> tuple[Parameter, ...]:
    """`a, b int`: a name alone has the type of the next that has one, unless none has a name."""
    named = any(len(part) > 1 and part[0].isidentifier() and part[1] not in (".", "[", "(") for part in parts)
    named = named or any(
        len(part) > 2 and part[0].isidentifier() and part[1] in ("[", "(") and _is_named(part) for part in parts
    )
    found: list[Parameter] = []
    kind = ""
    for part in reversed(parts):
        if not named:
            words, name = list(part), ""
        else:
            words, name = list(part[1:]), part[0]
        kind = " ".join(words) or kind
        found.append(Parameter(name=name, type=kind, how="rest" if words[:1] == ["..."] else "positional"))
    return tuple(reversed(found))


def _is_named(part: Sequence[str]) -> bool:
    """Whether `x []T` or `f (…)`: a name before a type that begins with a bracket, not a generic type."""
    return part[0][:1].islower() and part[0] not in ("func", "map", "chan", "interface", "struct")


def _read_bare_parameter(part: Sequence[str]) -> Parameter:
    """Names alone: `a`, `a = 1`, `a:`, `a: 1`, `*rest`, `**named`, `&block`."""
    head, default = _cut(part, "=")
    how: How = "positional"
    if head and head[0] in ("*", "**", "...", "&"):
        how = "keyword_rest" if head[0] == "**" else "rest"
        head = head[1:] or [head[0]]
    elif ":" in head:
        at = list(head).index(":")
        head, default, how = head[:at], list(head[at + 1 :]), "keyword_only"
    return Parameter(name=" ".join(head), how=how, default=" ".join(default))


def _cut(tokens: Sequence[str], sign: str) -> tuple[list[str], list[str]]:
    """Split tokens at a sign outside brackets."""
    depth = 0
    for at, token in enumerate(tokens):
        depth += (token in "([{<") - (token in ")]}>")
        if token == sign and depth <= 0:
            return list(tokens[:at]), list(tokens[at + 1 :])
    return list(tokens), []


def _strip_annotations(part: Sequence[str]) -> list[str]:
    """Strip leading annotations and attributes: `@Named("x")`, `[FromBody]`, `#[…]`."""
    at = 0
    while at < len(part):
        if part[at] == "@" and at + 1 < len(part):
            at += 2
            while at + 1 < len(part) and part[at] == ".":
                at += 2
            at = closing_index(part, at) if at < len(part) and part[at] == "(" else at
        elif part[at] == "#" and part[at + 1 : at + 2] == ["["]:
            at = closing_index(part, at + 1)
        elif (
            part[at] == "["
            and at == 0
            and len(part) > (end := closing_index(part, 0))
            and part[end] not in ("=", ":", "?")
        ):
            at = end
        else:
            break
    return list(part[at:])

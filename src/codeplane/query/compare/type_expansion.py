"""Types written out: a name that stands for another type is replaced by it, in both states."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from codeplane.query.compare.generics import type_parameters
from codeplane.query.compare.header import Header
from codeplane.query.compare.outline import Outline
from codeplane.query.compare.public_surface import PublicSurface
from codeplane.query.compare.tokens import closing_index, code_of, split_at
from codeplane.query.compare.type_compatibility import is_computed

_MAX_TOKENS = 2000
# The type aliases of a name in a file: its outline and place there.
FindType = Callable[[Outline, str], tuple[Outline, int] | None]


def type_here(outline: Outline, name: str) -> tuple[Outline, int] | None:
    """The type or interface of a name in the same file."""
    places = [*outline.named.get((-1, "type", name), ()), *outline.named.get((-1, "interface", name), ())]
    return (outline, places[0]) if len(places) == 1 else None


class TypeFinder:
    """Finds the definitions of types in one state, in the same file or through imports."""

    def __init__(self, changed: Sequence[Outline | None], surface: PublicSurface | None) -> None:
        self._outlines = {outline.path: outline for outline in changed if outline is not None}
        self._surface = surface

    def find(self, outline: Outline, name: str) -> tuple[Outline, int] | None:
        """The outline that defines the type a file calls by a name, and its place there."""
        found = type_here(outline, name)
        if found is not None or self._surface is None:
            return found
        named = self._surface.type_named(outline.path, name)
        home = self._outline(named[0]) if named is not None else None
        return type_here(home, named[1]) if named is not None and home is not None else None

    def _outline(self, path: str) -> Outline | None:
        if path not in self._outlines and self._surface is not None:
            facts, text = self._surface.facts(path), self._surface.text(path)
            if facts is None or text is None:
                return None
            self._outlines[path] = Outline(path, text, facts)
        return self._outlines.get(path)


def expand_types(header: Header, outline: Outline, find: FindType) -> Header:
    """A header with every alias replaced by what it stands for."""
    skipped = frozenset(parameter.name for parameter in type_parameters(header, outline.rules)[0])

    def expand(text: str) -> str:
        return " ".join(_expand_tokens(text.split(" "), outline, find, skipped)) if text else text

    parameters = header.parameters
    if parameters is not None:
        parameters = tuple(replace(parameter, type=expand(parameter.type)) for parameter in parameters)
    return replace(
        header,
        parameters=parameters,
        returns=expand(header.returns),
        rest=expand(header.rest),
        annotation=expand(header.annotation),
    )


def _expand_tokens(tokens: Sequence[str], outline: Outline, find: FindType, skipped: frozenset[str]) -> list[str]:
    """Tokens with aliases replaced; a name in `skipped` stays, since it is being replaced or means something else."""
    found: list[str] = []
    at = 0
    while at < len(tokens) and len(found) < _MAX_TOKENS:
        token, following = tokens[at], tokens[at + 1 : at + 3]
        at += 1
        is_member = following[:1] == [":"] or following == ["?", ":"]
        alias = None
        if token.isidentifier() and token not in skipped and not is_member and tokens[max(at - 2, 0)] != ".":
            alias = _alias(token, outline, find)
        if alias is None:
            found.append(token)
            continue
        names, body, home = alias
        given: list[list[str]] = []
        if tokens[at : at + 1] == ["<"]:
            end = closing_index(tokens, at, "<", ">")
            given = split_at(tokens[at + 1 : end - 1], ",", angles=True)
            at = end
        if len(given) > len(names):
            found.append(token)
            continue
        arguments = {
            name: _expand_tokens(part, outline, find, skipped) for name, part in zip(names, given, strict=False)
        }
        inner = _expand_tokens(body, home, find, skipped | {token, *names}) if home is not None else list(body)
        found += ["(", *(word for each in inner for word in arguments.get(each, [each])), ")"]
    return [*found, *tokens[at:]]


def _alias(name: str, outline: Outline, find: FindType) -> tuple[Sequence[str], Sequence[str], Outline | None] | None:
    """The type parameters of an alias, what it stands for, and the file that says so."""
    located = find(outline, name)
    if located is None:
        known: Mapping[str, str] = outline.rules.library_types
        return ((), known[name].split(" "), None) if name in known else None
    home, place = located
    header = home.parts(place).header
    names = [parameter.name for parameter in type_parameters(header, home.rules)[0]]
    if home.entities[place].kind == "interface":
        body = _members(home, place) if not header.bases else []
        return (names, body, home) if body and not is_computed(" ".join(body)) else None
    if not header.rest.startswith("= ") or is_computed(header.rest):
        return None
    return names, header.rest.removeprefix("= ").split(" "), home


def _members(outline: Outline, place: int) -> list[str]:
    """What stands between the braces of an interface, with them."""
    definition = outline.entities[place].definition
    if definition is None or outline.facts is None:
        return []
    body = code_of(outline.facts, outline.text, [(definition.body, definition.end)])
    return body if body[:1] == ["{"] and closing_index(body, 0) == len(body) else []

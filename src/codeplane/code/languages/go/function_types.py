"""Function types of Go without the names of their parameters and results, which are no part of the type."""

from collections.abc import Sequence

_KEYWORDS = frozenset({"func", "map", "chan", "struct", "interface"})
_CLOSING = {"(": ")", "[": "]", "{": "}"}


def unnamed_function_types(text: str) -> str:
    """Return a type, its tokens separated by blanks, with `any` and with nothing but types in its function types."""
    text = text.replace("interface { }", "any")
    return " ".join(_drop_names(text.split(" "))) if "func" in text else text


def _drop_names(words: Sequence[str]) -> list[str]:
    found: list[str] = []
    at = 0
    while at < len(words):
        found.append(words[at])
        at += 1
        if words[at - 1] != "func":
            continue
        # The parameters, then the results if they stand in brackets.
        for _ in range(2):
            end = _end(words, at)
            if end is None:
                break
            found += ["(", *_types(words[at + 1 : end]), ")"]
            at = end + 1
    return found


def _types(words: Sequence[str]) -> list[str]:
    items = _items(words)
    if any(_is_named(item) for item in items):
        types: list[Sequence[str]] = []
        for item in reversed(items):
            # Of `a, b int` each has the type that follows.
            types.append(item[1:] if _is_named(item) else types[-1])
        items = types[::-1]
    found: list[str] = []
    for item in items:
        found += [*([","] if found else []), *_drop_names(item)]
    return found


def _items(words: Sequence[str]) -> list[Sequence[str]]:
    items: list[Sequence[str]] = []
    start = depth = 0
    for at, word in enumerate(words):
        depth += (word in _CLOSING) - (word in _CLOSING.values())
        if word == "," and depth == 0:
            items.append(words[start:at])
            start = at + 1
    return [*items, words[start:]] if words[start:] else items


def _is_named(item: Sequence[str]) -> bool:
    """Whether a parameter is a name with its type, and not a type alone."""
    if len(item) < 2 or not item[0].isidentifier() or item[0] in _KEYWORDS or item[1] == ".":
        return False
    # `List[int]` is a type, `list []int` and `list [4]int` are names with one.
    return item[1] != "[" or _end(item, 1) != len(item) - 1


def _end(words: Sequence[str], at: int) -> int | None:
    """Return where the bracket at a place is closed."""
    if at >= len(words) or words[at] not in ("(", "["):
        return None
    depth = 0
    for place in range(at, len(words)):
        depth += (words[place] in _CLOSING) - (words[place] in _CLOSING.values())
        if depth == 0:
            return place
    return None

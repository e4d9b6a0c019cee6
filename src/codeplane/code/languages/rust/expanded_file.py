"""A file of Rust with the calls of the repository's own macros replaced by what they write."""

from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from codeplane.code.languages.rust.macro_rules import Rule, match_pattern, transcribe
from codeplane.code.languages.rust.token_trees import Group, Leaf, Tree, end_of, leaves_of, start_of

_MAX_DEPTH = 16
_MAX_TOKENS = 200_000


class MacroCall(Struct, frozen=True):
    """A call of a macro among tokens: the positions before and behind it, its name, and what it is given."""

    start: int
    end: int
    name: Leaf
    given: Group


class ExpandedFile:
    """The text of a file after its macros, and which of its places come from which tokens."""

    def __init__(self, text: bytes, trees: Sequence[Tree], rules: Callable[[Leaf], Sequence[Rule]]) -> None:
        self._rules = rules
        self._calls = 0
        self._tokens = 0
        self._parts: list[bytes] = []
        self._length = 0
        self._copied: list[tuple[int, int, int]] = []
        self.words: set[tuple[str, int]] = set()
        """The names that patterns of macros ask for literally."""
        self.taken: set[tuple[str, int]] = set()
        """The names that calls of macros were given, as far as they were understood."""
        self.places: dict[tuple[str, int], list[int]] = {}
        """Where the tokens of calls and of the bodies of macros stand in the text, by where they come from."""
        self.sources: dict[int, tuple[str, int]] = {}
        self._texts: set[int] = set()
        at = 0
        for start, end, written in self._top_calls(trees):
            self._copy(text, at, start)
            self._write(written)
            at = end
        self._copy(text, at, len(text))
        self.text = b"".join(self._parts)

    @property
    def is_changed(self) -> bool:
        """Whether any macro was expanded."""
        return self._calls > 0

    def source(self, path: str, at: int) -> tuple[str, int] | None:
        """Return where the token at a place of the text comes from."""
        found = self.sources.get(at)
        if found is not None:
            return found
        for start, original, length in self._copied:
            if start <= at < start + length:
                return path, original + at - start
        return None

    def is_text(self, at: int) -> bool:
        """Whether a token that a macro writes at a place is only made a text of, by `stringify!`."""
        return at in self._texts

    def copy_offset(self, at: int) -> int | None:
        """Return where a place of the file outside of calls stands in the text."""
        for start, original, length in self._copied:
            if original <= at < original + length:
                return start + at - original
        return None

    def _top_calls(self, trees: Sequence[Tree]) -> Iterator[tuple[int, int, list[Tree]]]:
        position = 0
        while position < len(trees):
            call = call_at(trees, position)
            if call is not None and call.name.text == "macro_rules":
                position = call.end
                continue
            written = self._expand(call, 0) if call is not None else None
            if call is not None and written is not None:
                dotted = call.end < len(trees) and trees[call.end].text in (".", "?")
                yield (
                    start_of(trees[call.start]),
                    end_of(trees[call.end - 1]),
                    [_bracket_trees(written)] if dotted else written,
                )
                position = call.end
                continue
            tree = trees[position]
            if isinstance(tree, Group):
                yield from self._top_calls(tree.inner)
            position += 1

    def _expand(self, call: MacroCall, depth: int) -> list[Tree] | None:
        """Return what a call writes, with the calls in it expanded too; None if it is not understood."""
        if depth > _MAX_DEPTH or self._tokens > _MAX_TOKENS:
            return None
        for rule in self._rules(call.name):
            bindings = match_pattern(rule.pattern, call.given.inner, self.words)
            if bindings is not None:
                self._calls += 1
                written = transcribe(rule.body, bindings, f"_{self._calls}")
                leaves = list(leaves_of(call.given.inner))
                self._tokens += len(leaves) + sum(1 for _ in leaves_of(written))
                self.taken |= {(leaf.path, leaf.at) for leaf in leaves}
                return self._expand_trees(written, depth + 1)
        return None

    def _expand_trees(self, trees: Sequence[Tree], depth: int) -> list[Tree]:
        found: list[Tree] = []
        position = 0
        while position < len(trees):
            call = call_at(trees, position)
            written = self._expand(call, depth) if call is not None else None
            if call is not None and written is not None:
                dotted = call.end < len(trees) and trees[call.end].text in (".", "?")
                found += [_bracket_trees(written)] if dotted else written
                position = call.end
                continue
            tree = trees[position]
            if isinstance(tree, Group):
                tree = Group(tree.opening, tree.closing, tuple(self._expand_trees(tree.inner, depth)))
            found.append(tree)
            position += 1
        return found

    def _copy(self, text: bytes, start: int, end: int) -> None:
        if end > start:
            self._copied.append((self._length, start, end - start))
            self._add(text[start:end])

    def _write(self, trees: Sequence[Tree]) -> None:
        before: Leaf | None = None
        self._add(b" ")
        for leaf, is_text in _leaves_in_order(trees):
            adjacent = (
                before is not None and leaf.path == before.path and leaf.at == before.at + len(before.text.encode())
            )
            if before is not None and not adjacent:
                self._add(b" ")
            if is_text:
                self._texts.add(self._length)
            if leaf.path:
                self.places.setdefault((leaf.path, leaf.at), []).append(self._length)
                self.sources[self._length] = (leaf.path, leaf.at)
            self._add(leaf.text.encode())
            before = leaf
        self._add(b" ")

    def _add(self, text: bytes) -> None:
        self._parts.append(text)
        self._length += len(text)


def call_at(trees: Sequence[Tree], at: int) -> MacroCall | None:
    """Return the call of a macro that begins at a position, `$crate::` and other paths before its name included."""
    start = at
    while (
        at + 3 < len(trees)
        and trees[at].kind == "name"
        and trees[at + 1].text == trees[at + 2].text == ":"
        and trees[at + 3].kind == "name"
    ):
        at += 3
    name = trees[at]
    if not isinstance(name, Leaf) or name.kind != "name" or at + 2 >= len(trees) or trees[at + 1].text != "!":
        return None
    given = trees[at + 2]
    if isinstance(given, Group):
        return MacroCall(start, at + 3, name, given)
    behind = trees[at + 3] if at + 3 < len(trees) else None
    if name.text == "macro_rules" and given.kind == "name" and isinstance(behind, Group):
        return MacroCall(start, at + 4, name, behind)
    return None


def _leaves_in_order(trees: Sequence[Tree], *, is_text: bool = False) -> Iterator[tuple[Leaf, bool]]:
    """Yield all tokens of trees, and whether `stringify!` is given them."""
    end = 0
    for position, tree in enumerate(trees):
        call = call_at(trees, position)
        if call is not None and call.name.text == "stringify":
            end = call.end
        inside = is_text or position < end
        if isinstance(tree, Group):
            yield tree.opening, inside
            yield from _leaves_in_order(tree.inner, is_text=inside)
            yield tree.closing, inside
        else:
            yield tree, inside


def _bracket_trees(trees: Sequence[Tree]) -> Tree:
    return Group(Leaf("sign", "(", "", -1), Leaf("sign", ")", "", -1), tuple(trees))

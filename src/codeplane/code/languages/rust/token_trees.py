"""Tokens of Rust with the places they come from, as macros take and give them."""

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

_TOKEN = re.compile(
    rb"""(?P<space>\s+|//[^\n]*)
    |(?P<raw>(?:br|r)(?P<hash>\#*)"(?s:.*?)"(?P=hash))
    |(?P<text>b?"(?:[^"\\]|\\.)*"|b?'(?:[^'\\\n]|\\(?:.|u\{[^}]*\}|x..))')
    |(?P<lifetime>'[A-Za-z_]\w*)
    |(?P<name>(?:r\#)?[A-Za-z_\x80-\xff][\w\x80-\xff]*)
    |(?P<number>\d[\w]*(?:\.\d[\w]*)?)
    |(?P<sign>.)""",
    re.VERBOSE | re.DOTALL,
)
_COMMENT = re.compile(rb"/\*|\*/")
_CLOSING = {"(": ")", "[": "]", "{": "}"}


class Leaf(Struct, frozen=True):
    """A token and where it comes from."""

    kind: str
    text: str
    path: str
    at: int


class Group(Struct, frozen=True):
    """What stands between two brackets."""

    opening: Leaf
    closing: Leaf
    inner: tuple["Leaf | Group", ...]

    @property
    def text(self) -> str:
        """Its opening bracket, to compare with."""
        return self.opening.text

    @property
    def kind(self) -> str:
        """What it is."""
        return "group"


Tree = Leaf | Group


def token_trees(path: str, text: bytes) -> tuple[Tree, ...] | None:
    """Return the tokens of a text by their brackets; None if these do not match."""
    stack: list[tuple[Leaf | None, list[Tree]]] = [(None, [])]
    for leaf in _leaves(path, text):
        if leaf.kind == "sign" and leaf.text in _CLOSING:
            stack.append((leaf, []))
        elif leaf.kind == "sign" and leaf.text in ")]}":
            opening, inner = stack.pop()
            if opening is None or _CLOSING[opening.text] != leaf.text:
                return None
            stack[-1][1].append(Group(opening, leaf, tuple(inner)))
        else:
            stack[-1][1].append(leaf)
    return tuple(stack[0][1]) if len(stack) == 1 else None


def _leaves(path: str, text: bytes) -> Iterator[Leaf]:
    at = 0
    while at < len(text):
        if text.startswith(b"/*", at):
            at = _comment_end(text, at)
            continue
        match = _TOKEN.match(text, at)
        assert match is not None and match.lastgroup is not None
        kind = "text" if match["raw"] is not None else match.lastgroup
        if kind != "space":
            yield Leaf(kind, match[0].decode("utf-8", "replace"), path, at)
        at = match.end()


def _comment_end(text: bytes, at: int) -> int:
    depth = 0
    for mark in _COMMENT.finditer(text, at):
        depth += 1 if mark[0] == b"/*" else -1
        if depth == 0:
            return mark.end()
    return len(text)


def start_of(tree: Tree) -> int:
    """Return where a tree begins in the file it comes from."""
    return tree.opening.at if isinstance(tree, Group) else tree.at


def end_of(tree: Tree) -> int:
    """Return where a tree ends in the file it comes from."""
    leaf = tree.closing if isinstance(tree, Group) else tree
    return leaf.at + len(leaf.text.encode())


def leaves_of(trees: Sequence[Tree]) -> Iterator[Leaf]:
    """Yield all tokens of trees in their order."""
    for tree in trees:
        if isinstance(tree, Group):
            yield tree.opening
            yield from leaves_of(tree.inner)
            yield tree.closing
        else:
            yield tree

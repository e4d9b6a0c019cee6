"""How comments are written."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class CommentSyntax:
    """What begins a comment that ends with its line, and what encloses one that does not."""

    lines: tuple[bytes, ...] = ()
    blocks: tuple[tuple[bytes, bytes], ...] = ()

    @property
    def openings(self) -> tuple[bytes, ...]:
        """Everything that begins a comment."""
        return (*self.lines, *(opening for opening, _ in self.blocks))


SLASHES = CommentSyntax(lines=(b"//",), blocks=((b"/*", b"*/"),))
HASH = CommentSyntax(lines=(b"#",))
MARKUP = CommentSyntax(blocks=((b"<!--", b"-->"),))

"""Syntax highlighting of source files."""

from functools import cache, lru_cache

from markupsafe import Markup, escape

_MOST = 200_000
# The classes of our style sheet by the beginnings of Pygments' token types.
_CLASSES = (
    ("Token.Keyword", "k"),
    ("Token.Literal.String", "s"),
    ("Token.Comment", "c"),
    ("Token.Literal.Number", "m"),
    ("Token.Name.Function", "f"),
    ("Token.Name.Class", "f"),
    ("Token.Name.Decorator", "d"),
    ("Token.Name.Tag", "k"),
    ("Token.Operator.Word", "k"),
)


# A page that is looked at again, or followed further down, is of a file that was highlighted a moment ago.
@lru_cache(maxsize=16)
def highlight_lines(path: str, content: str) -> tuple[Markup, ...]:
    """Return the highlighted lines of a file; slow, so call it in a thread."""
    # Slow to import, and only the file view needs it.
    from pygments.lexers import get_lexer_for_filename  # type: ignore[import-untyped]  # it comes without types
    from pygments.util import ClassNotFound  # type: ignore[import-untyped]  # it comes without types

    plain = tuple(map(escape, content.split("\n")))
    if len(content) > _MOST:
        return plain
    try:
        lexer = get_lexer_for_filename(path.rpartition("/")[2], stripnl=False, ensurenl=False)
    except ClassNotFound:
        return plain
    lines: list[list[Markup]] = [[]]
    for kind, value in lexer.get_tokens(content):
        opening, closing = _token_tags(str(kind))
        for number, part in enumerate(value.split("\n")):
            if number:
                lines.append([])
            if part:
                lines[-1] += (opening, escape(part), closing)
    done = tuple(map(Markup().join, lines))
    # A lexer that changes the number of lines would put every number beside the wrong one.
    return done if len(done) == len(plain) else plain


@cache
def _token_tags(kind: str) -> tuple[Markup, Markup]:
    """Return the opening and closing tags of a token type."""
    style = next((style for begin, style in _CLASSES if kind.startswith(begin)), "")
    return (Markup('<span class="{}">').format(style), Markup("</span>")) if style else (Markup(), Markup())

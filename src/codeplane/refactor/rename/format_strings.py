"""Names inside the format strings of Rust: `println!("{count}")` uses the variable `count`."""

import re
from collections.abc import Iterator, Sequence

from codeplane.code.entity import Bound
from codeplane.refactor.draft import Edit
from codeplane.refactor.rename.rename_context import RenameContext

_FORMATTING = re.compile(
    rb"\b(?:format|format_args|print|println|eprint|eprintln|write|writeln|panic|assert|assert_eq|assert_ne|"
    rb"debug_assert|debug_assert_eq|debug_assert_ne|todo|unimplemented|unreachable)!\s*[(\[{][^;]*\Z"
)
_FAR = 400


def format_edits(context: RenameContext, bounds: Sequence[Bound]) -> Iterator[Edit]:
    """Yield an edit for every place in a format string that names one of these bindings."""
    if not context.subject.language.names.format_strings or context.subject.sort == "member":
        return
    for path, facts in context.files(context.name):
        text = context.world.text(path)
        for at in context.places(path, context.name):
            end = at + context.length
            named = text[at - 1 : at] == b"{" and text[at - 2 : at - 1] != b"{" and text[end : end + 1] in (b"}", b":")
            if (
                not named
                or not facts.in_text(at)
                or context.resolver.lexical(path, facts, at, context.name) not in bounds
            ):
                continue
            start, _ = facts.text_span(at)
            formatting = _FORMATTING.search(text[max(0, start - _FAR) : start]) is not None
            yield Edit(
                path=path,
                start=at,
                end=end,
                new=context.new,
                tier="STRONG" if formatting else "UNKNOWN",
                role="STRING",
                why="named in a format string" if formatting else "named in a string that may be a format",
            )

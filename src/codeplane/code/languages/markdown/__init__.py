"""Markdown."""

from codeplane.code.languages.comment_syntax import MARKUP
from codeplane.code.languages.language import Language

MARKDOWN = Language(
    name="markdown",
    package="markdown",
    title="Markdown",
    family="markdown",
    kind="prose",
    extensions=("md", "mdx", "markdown"),
    members=(),
    members_in=frozenset({"file", "section"}),
    comments=MARKUP,
)
LANGUAGES = (MARKDOWN,)

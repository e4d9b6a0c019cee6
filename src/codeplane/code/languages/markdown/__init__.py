"""Markdown."""

from codeplane.code.languages.comment_syntax import MARKUP
from codeplane.code.languages.language import Language
from codeplane.code.languages.project_family import project_family

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
PROJECT = project_family(
    "markdown",
    languages="markdown",
    include="*.md *.markdown *.mdx",
    code=False,
    ambient=True,
)

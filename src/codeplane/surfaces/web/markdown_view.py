"""Renders untrusted Markdown as safe HTML."""

from markdown_it import MarkdownIt
from markupsafe import Markup

# Raw HTML in the source is shown as text, addresses of scripts are no links, and nothing is loaded from elsewhere.
_MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")


def render_markdown(text: str) -> Markup:
    """Render Markdown; what it says in HTML is escaped."""
    return Markup(_MARKDOWN.render(text))  # nosec B704  # the renderer escapes HTML

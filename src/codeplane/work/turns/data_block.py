"""Untrusted text in a model's prompt, between marks that it cannot end."""

import re

_END = re.compile(r"<(?=\s*/\s*data\b)", re.IGNORECASE)


def data_block(text: str) -> str:
    """The text between `<data>` and `</data>`; an end that it holds itself is written as `&lt;/data`."""
    return f"<data>\n{_END.sub('&lt;', text)}\n</data>"

"""A text with the edits of a plan made, as the engine makes them."""

from collections.abc import Iterable

from codeplane.refactor.draft import Edit


def edited(text: bytes, edits: Iterable[Edit]) -> bytes:
    """The text after the edits, whose new lines end as its own do; ValueError where two of them overlap."""
    ending = "\r\n" if b"\r\n" in text else "\n"
    parts, at = [], 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        if edit.start < at:
            raise ValueError(f"edits of {edit.path} overlap at {edit.start}")
        parts += [text[at : edit.start], edit.new.replace("\n", ending).encode()]
        at = edit.end
    return b"".join([*parts, text[at:]])

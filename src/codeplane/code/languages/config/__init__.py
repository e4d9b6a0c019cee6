"""Nix."""

from codeplane.code.languages.comment_syntax import CommentSyntax
from codeplane.code.languages.language import Language

NIX = Language(
    name="nix",
    package="config",
    title="Nix",
    family="config",
    extensions=("nix",),
    members_in=frozenset({"object"}),
    identifier=r"[^\W\d][\w'-]*",
    import_binds="none",
    comments=CommentSyntax(lines=(b"#",), blocks=((b"/*", b"*/"),)),
)
LANGUAGES = (NIX,)

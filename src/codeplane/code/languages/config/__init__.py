"""Nix."""

from codeplane.code.languages.comment_syntax import CommentSyntax
from codeplane.code.languages.language import Language
from codeplane.code.languages.project_family import project_family

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
PROJECT = project_family(
    "config",
    languages="nix",
    include="*.nix",
    code=False,
    fences="flake.lock",
    packages="flake.nix",
)

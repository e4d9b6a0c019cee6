"""Haskell."""

from codeplane.code.languages.comment_syntax import CommentSyntax
from codeplane.code.languages.haskell.keywords import HASKELL_RESERVED, HASKELL_SOFT
from codeplane.code.languages.language import Language

HASKELL = Language(
    name="haskell",
    package="haskell",
    title="Haskell",
    family="haskell",
    extensions=("hs",),
    shebangs=("runhaskell",),
    methods_in=frozenset({"class", "instance"}),
    identifier=r"[^\W\d][\w']*",
    import_binds="none",
    comments=CommentSyntax(lines=(b"--",), blocks=((b"{-", b"-}"),)),
    soft_keywords=HASKELL_SOFT,
    reserved=HASKELL_RESERVED,
    patterns=("haskell",),
)
LANGUAGES = (HASKELL,)

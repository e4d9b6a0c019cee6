"""Haskell."""

from codeplane.code.languages.comment_syntax import CommentSyntax
from codeplane.code.languages.haskell.keywords import HASKELL_RESERVED, HASKELL_SOFT
from codeplane.code.languages.language import Language
from codeplane.code.languages.project_family import project_family

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
PROJECT = project_family(
    "haskell",
    languages="haskell",
    include="*.hs *.lhs",
    fences="cabal.project stack.yaml",
    packages="*.cabal",
)

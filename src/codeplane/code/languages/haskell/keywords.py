"""The words of Haskell that are no names, and those that are names at some places only."""

from codeplane.code.languages.reserved_words import reserved_words, words

HASKELL_RESERVED = reserved_words(
    hard="""case class data default deriving do else foreign if import in infix infixl infixr instance let
        module newtype of then type where _""",
    soft="as family forall hiding qualified",
    shadowed="map filter head tail show print return pure id const length",
)
HASKELL_SOFT = words("anyclass as family forall hiding pattern qualified role stock via")

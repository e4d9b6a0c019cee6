"""The words of Go that are no names, and those that are names at some places only."""

from codeplane.code.languages.reserved_words import reserved_words

GO_RESERVED = reserved_words(
    hard="""break case chan const continue default defer else fallthrough for func go goto if import interface
        map package range return select struct switch type var _""",
    shadowed="""any append bool byte cap clear close complex complex128 complex64 copy delete error false float32
        float64 imag int int16 int32 int64 int8 iota len make max min new nil panic print println real
        recover rune string true uint uint16 uint32 uint64 uint8 uintptr init main""",
)

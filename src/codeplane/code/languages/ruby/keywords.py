"""The words of Ruby that are no names, and those that are names at some places only."""

from codeplane.code.languages.reserved_words import reserved_words, words

RUBY_RESERVED = reserved_words(
    hard="""BEGIN END alias and begin break case class def defined? do else elsif end ensure false for if in
        module next nil not or redo rescue retry return self super then true undef unless until when while
        yield __FILE__ __LINE__ __ENCODING__""",
    shadowed="puts print p require raise loop lambda proc format Object String Array Hash Integer",
)
RUBY_SOFT = words(
    """alias and begin class def do else end ensure if in next not or redo rescue retry return self super
        then"""
)

"""The words of the shell that are no names, and those that are names at some places only."""

from codeplane.code.languages.reserved_words import reserved_words

BASH_RESERVED = reserved_words(
    hard="if then else elif fi case esac for select while until do done in function time coproc",
    shadowed="""cd echo eval exec exit export printf read set shift source test trap type ulimit umask unset wait
        PATH HOME IFS PWD""",
)

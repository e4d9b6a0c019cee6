"""The words of PHP that are no names, and those that are names at some places only."""

from codeplane.code.languages.reserved_words import reserved_words, words

PHP_RESERVED = reserved_words(
    hard="""abstract and array as break callable case catch class clone const continue declare default die do
        echo else elseif empty enddeclare endfor endforeach endif endswitch endwhile eval exit extends final
        finally fn for foreach function global goto if implements include include_once instanceof insteadof
        interface isset list match namespace new or print private protected public readonly require
        require_once return static switch throw trait try unset use var while xor yield $this self parent
        true false null int float bool string void iterable object mixed never""",
    soft="enum from numeric resource",
    shadowed="count strlen printf sprintf array_map in_array",
)
PHP_SOFT = words("array enum fn from list match mixed never readonly self parent static")

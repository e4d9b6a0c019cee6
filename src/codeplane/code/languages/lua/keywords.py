"""The words of Lua that are no names, and those that are names at some places only."""

from codeplane.code.languages.reserved_words import reserved_words, words

LUA_RESERVED = reserved_words(
    hard="""and break do else elseif end false for function goto if in local nil not or repeat return then true
        until while""",
    shadowed="print pairs ipairs type tostring tonumber require pcall error table string math os io",
)
LUA_SOFT = words("goto")

"""The words of JavaScript and TypeScript that are no names, and those that are names at some places only."""

from codeplane.code.languages.reserved_words import reserved_words, words

JAVASCRIPT_RESERVED = reserved_words(
    hard="""await break case catch class const continue debugger default delete do else enum export extends
        false finally for function if import in instanceof new null return super switch this throw true try
        typeof var void while with yield let static implements interface package private protected public
        arguments eval""",
    soft="""async get set of undefined NaN Infinity type declare namespace abstract as any never unknown string
        number""",
    shadowed="""Array ArrayBuffer Boolean Date Error Function JSON Map Math Number Object Promise Proxy RangeError
        Reflect RegExp Set String Symbol TypeError URL WeakMap WeakSet console document fetch globalThis
        isNaN parseFloat parseInt process require module exports setInterval setTimeout clearTimeout
        clearInterval window Buffer structuredClone""",
)
JAVASCRIPT_SOFT = words("as async from get of set static")
TYPESCRIPT_SOFT = words(
    """as async from get of set static abstract accessor any asserts bigint boolean declare global infer is
        keyof module namespace never number object out override private protected public readonly satisfies
        string symbol type undefined unique unknown"""
)

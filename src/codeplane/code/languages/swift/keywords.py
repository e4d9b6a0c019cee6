"""The words of Swift that are no names, and those that are names at some places only."""

from codeplane.code.languages.reserved_words import reserved_words, words

SWIFT_RESERVED = reserved_words(
    hard="""Any Self as associatedtype break case catch class continue default defer deinit do else enum
        extension fallthrough false fileprivate for func guard if import in init inout internal is let nil
        open operator precedencegroup private protocol public repeat rethrows return self static struct
        subscript super switch throw throws true try typealias var where while _""",
    soft="async await get set some left right lazy mutating none optional override weak willSet didSet",
    shadowed="String Int Double Bool Array Dictionary Set Optional print",
)
SWIFT_SOFT = words(
    """any associativity async convenience didSet dynamic final get indirect infix lazy left mutating none
        nonmutating optional override package postfix precedence prefix required right set some unowned weak
        willSet"""
)

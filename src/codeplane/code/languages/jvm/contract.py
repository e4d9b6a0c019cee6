"""What users of a definition in Java, Kotlin or Scala depend on."""

import re

from codeplane.code.languages.contract import Contract
from codeplane.code.languages.reserved_words import words

_ANNOTATION = re.compile(r"@ \w+(?: \. \w+)* (?!\()")


def without_annotations(text: str) -> str:
    """Return a type, its tokens separated by blanks, without annotations that have no arguments."""
    return _ANNOTATION.sub("", text)


_MODIFIERS = words(
    "public protected private internal static final abstract synchronized native strictfp default transient volatile"
    " sealed open override inline suspend operator infix tailrec external data inner companion lateinit const val var"
    " fun class interface enum object record annotation fun typealias non expect actual value"
)

JAVA_CONTRACT = Contract(
    visible="modifier",
    top="internal",
    member="internal",
    module="folder",
    modifiers=_MODIFIERS,
    added=words("final abstract static sealed"),
    removed=words("static default"),
    shape="type_first",
    calls="exact",
    typed=True,
    returns="before",
    default_methods=True,
    constructors="own",
    enum_constructors=True,
    array_varargs=True,
    bound_sign="&",
    canonical_type=without_annotations,
    nameless_classes=True,
)
KOTLIN_CONTRACT = Contract(
    visible="modifier",
    module="folder",
    modifiers=_MODIFIERS,
    added=words("abstract sealed suspend val"),
    removed=words("open suspend data companion var infix operator const"),
    names_count=True,
    typed=True,
    returns=":",
    nullable_types=True,
    nullable_results=True,
    bare_values=True,
)
SCALA_CONTRACT = Contract(
    visible="modifier",
    module="folder",
    modifiers=_MODIFIERS | words("def trait case lazy implicit given"),
    added=words("abstract sealed final"),
    names_count=True,
    typed=True,
    returns=":",
    curried=True,
)

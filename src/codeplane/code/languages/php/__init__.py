"""PHP."""

from codeplane.code.languages.class_rules import ClassRules
from codeplane.code.languages.comment_syntax import CommentSyntax
from codeplane.code.languages.contract import Contract
from codeplane.code.languages.language import Language
from codeplane.code.languages.name_rules import NameRules
from codeplane.code.languages.php.keywords import PHP_RESERVED, PHP_SOFT
from codeplane.code.languages.project_family import project_family
from codeplane.code.languages.reserved_words import words

PHP = Language(
    name="php",
    package="php",
    title="PHP",
    family="php",
    extensions=("php", "phtml", "php5", "php7", "php8", "inc"),
    shebangs=("php",),
    variables_in=frozenset({"file"}),
    methods_in=frozenset({"class"}),
    members_in=frozenset({"class"}),
    members=("->", "?->", "::"),
    identifier=r"[$]?[^\W\d]\w*",
    joint="\\",
    import_binds="none",
    explicit_members=True,
    comments=CommentSyntax(lines=(b"#", b"//"), blocks=((b"/*", b"*/"),)),
    soft_keywords=PHP_SOFT,
    reserved=PHP_RESERVED,
    names=NameRules(
        argument_mark=":",
        named_in_texts=True,
        unfollowed_operators=(b"->", b"::"),
        special_members=words(
            """__call __callStatic __clone __construct __debugInfo __destruct __get __invoke __isset __serialize __set
            __set_state __sleep __toString __unserialize __unset __wakeup"""
        ),
    ),
    classes=ClassRules(unmarked_overrides=True, mixin_words=("use",)),
    contract=Contract(
        visible="modifier",
        modifiers=words(
            "public protected private static final abstract readonly function class interface trait const enum var"
        ),
        added=words("final abstract static readonly"),
        removed=words("static"),
        shape="type_first",
        names_count=True,
        returns=":",
        constructors="inherited",
    ),
    patterns=("php",),
    pattern_contexts=(("<?php ", ";"), ("<?php ", " ")),
)
LANGUAGES = (PHP,)
PROJECT = project_family(
    "php",
    languages="php",
    include="*.php",
    fences="composer.lock",
    packages="composer.json",
    fronts="src/{name}.php src/*/{name}.php lib/{name}.php",
    in_types=True,
)

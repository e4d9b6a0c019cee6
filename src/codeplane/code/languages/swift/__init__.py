"""Swift."""

from codeplane.code.languages.class_rules import ClassRules
from codeplane.code.languages.contract import Contract
from codeplane.code.languages.language import Language
from codeplane.code.languages.name_rules import NameRules
from codeplane.code.languages.project_family import project_family
from codeplane.code.languages.reserved_words import words
from codeplane.code.languages.swift.keywords import SWIFT_RESERVED, SWIFT_SOFT

SWIFT = Language(
    name="swift",
    package="swift",
    title="Swift",
    family="swift",
    extensions=("swift",),
    shebangs=("swift",),
    variables_in=frozenset({"file"}),
    methods_in=frozenset({"class"}),
    members=(".", "?."),
    bare_members=True,
    soft_keywords=SWIFT_SOFT,
    reserved=SWIFT_RESERVED,
    names=NameRules(
        argument_mark=":",
        named_in_texts=True,
        sign_before="$",
        special_members=words(
            """appendInterpolation appendLiteral buildArray buildBlock buildEither buildExpression buildFinalResult
            buildOptional buildPartialBlock callAsFunction dynamicallyCall main projectedValue wrappedValue"""
        ),
    ),
    classes=ClassRules(unmarked_overrides=True),
    contract=Contract(
        visible="modifier",
        top="internal",
        member="internal",
        open_is_public=True,
        modifiers=words(
            "public open internal fileprivate private static class func init var let struct enum protocol extension"
            " final override mutating nonmutating lazy weak required convenience async throws indirect case actor"
        ),
        added=words("final static mutating async required"),
        removed=words("static open async var"),
        names_count=True,
        typed=True,
        returns="->",
        nullable_types=True,
        nullable_results=True,
    ),
    patterns=("swift",),
)
LANGUAGES = (SWIFT,)
PROJECT = project_family(
    "swift",
    languages="swift",
    include="*.swift",
    fences="Package.resolved",
    packages="Package.swift",
    fronts="Sources/{name}/{name}.swift Sources/{name}.swift Source/{name}.swift",
)

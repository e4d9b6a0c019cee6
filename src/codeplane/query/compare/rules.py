"""What breaks a caller, language by language: a table."""

from dataclasses import dataclass, field
from typing import Literal

from codeplane.query.compare.parameters import Shape
from codeplane.query.compare.tokens import words

Visible = Literal["underscore", "exported", "capital", "pub", "modifier", "static", "sections", "all"]
Calls = Literal["keywords", "optional", "exact"]
Visibility = Literal["public", "protected", "internal", "private"]
ORDER: dict[str, int] = {"public": 0, "protected": 1, "internal": 2, "private": 3}

CALLABLES = frozenset({"function", "prototype", "method", "constructor", "delegate", "macro"})
VALUES = frozenset({"variable", "constant", "field", "property", "enum_member", "event"})
PROMISES = frozenset({"interface", "trait", "protocol", "annotation"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What holds in one language."""

    visible: Visible = "all"
    # What has no word for it is so visible: outside of types, and in them.
    top: Visibility = "public"
    member: Visibility = "public"
    shape: Shape = "name_first"
    # How calls give parameters: also by name, some left out, or all as they are declared.
    calls: Calls = "optional"
    names_count: bool = False
    typed: bool = False
    returns: Literal["->", ":", "before", "after", ""] = ""
    # Words whose coming, or going, breaks users.
    added: frozenset[str] = frozenset()
    removed: frozenset[str] = frozenset()
    # An alternative of a type more, where users are made to handle all of them.
    closed_enums: bool = False
    # A field more, where a value is written with all of them.
    closed_structs: bool = False
    modifiers: frozenset[str] = field(default_factory=frozenset)
    mark: str = "@"
    # What has to be said to reach a definition: its file, the folder of it, or neither.
    module: Literal["file", "folder", "none"] = "none"


_JVM = words(
    "public protected private internal static final abstract synchronized native strictfp default transient volatile"
    " sealed open override inline suspend operator infix tailrec external data inner companion lateinit const val var"
    " fun class interface enum object record annotation fun typealias non expect actual value"
)
_CSHARP = words(
    "public protected private internal static sealed abstract virtual override async extern unsafe readonly const new"
    " partial volatile ref event class interface struct enum record delegate namespace required implicit explicit"
    " operator fixed file"
)
_SCRIPT = Rules(
    module="file",
    visible="exported",
    top="internal",
    calls="optional",
    modifiers=words(
        "export default declare abstract async static readonly public private protected override get set const let var"
        " function class interface type enum namespace module accessor"
    ),
    added=words("abstract async static readonly get set"),
    removed=words("async static get set"),
)

PYTHON = Rules(
    module="file",
    visible="underscore",
    calls="keywords",
    names_count=True,
    returns="->",
    modifiers=words("async def class type"),
    added=words("async"),
    removed=words("async"),
)
TYPESCRIPT = Rules(
    module="file",
    visible="exported",
    top="internal",
    calls="optional",
    typed=True,
    returns=":",
    modifiers=_SCRIPT.modifiers,
    added=_SCRIPT.added,
    removed=_SCRIPT.removed,
)

RULES: dict[str, Rules] = {
    "python": PYTHON,
    "javascript": _SCRIPT,
    **dict.fromkeys(("typescript", "tsx", "vue", "svelte", "astro"), TYPESCRIPT),
    "go": Rules(
        module="folder",
        visible="capital",
        shape="go",
        calls="exact",
        typed=True,
        returns="after",
        modifiers=words("func type var const"),
    ),
    "rust": Rules(
        module="file",
        visible="pub",
        top="private",
        member="private",
        calls="exact",
        typed=True,
        returns="->",
        modifiers=words(
            "pub fn const async unsafe extern struct enum trait mod type static union default crate macro_rules"
        ),
        added=words("async unsafe"),
        removed=words("const async"),
        closed_enums=True,
        closed_structs=True,
        mark="#[",
    ),
    "java": Rules(
        module="folder",
        visible="modifier",
        top="internal",
        member="internal",
        shape="type_first",
        calls="exact",
        typed=True,
        returns="before",
        modifiers=_JVM,
        added=words("final abstract static sealed"),
        removed=words("static default"),
    ),
    "kotlin": Rules(
        module="folder",
        visible="modifier",
        calls="optional",
        names_count=True,
        typed=True,
        returns=":",
        modifiers=_JVM,
        added=words("abstract sealed suspend val"),
        removed=words("open suspend data companion var infix operator const"),
    ),
    "csharp": Rules(
        visible="modifier",
        top="internal",
        member="private",
        shape="type_first",
        calls="optional",
        names_count=True,
        typed=True,
        returns="before",
        modifiers=_CSHARP,
        added=words("abstract sealed static readonly required"),
        removed=words("static virtual"),
        mark="[",
    ),
    "scala": Rules(
        module="folder",
        visible="modifier",
        calls="optional",
        names_count=True,
        typed=True,
        returns=":",
        modifiers=_JVM | words("def trait case lazy implicit given"),
        added=words("abstract sealed final"),
    ),
    "swift": Rules(
        visible="modifier",
        top="internal",
        member="internal",
        calls="optional",
        names_count=True,
        typed=True,
        returns="->",
        modifiers=words(
            "public open internal fileprivate private static class func init var let struct enum protocol extension"
            " final override mutating nonmutating lazy weak required convenience async throws indirect case actor"
        ),
        added=words("final static mutating async required"),
        removed=words("static open async var"),
    ),
    "php": Rules(
        visible="modifier",
        shape="type_first",
        calls="optional",
        names_count=True,
        returns=":",
        modifiers=words(
            "public protected private static final abstract readonly function class interface trait const enum var"
        ),
        added=words("final abstract static readonly"),
        removed=words("static"),
    ),
    "c": Rules(
        visible="static",
        shape="type_first",
        calls="exact",
        typed=True,
        returns="before",
        modifiers=words("static inline extern const struct enum union typedef"),
    ),
    "cpp": Rules(
        visible="sections",
        shape="type_first",
        calls="optional",
        typed=True,
        returns="before",
        modifiers=words(
            "static inline extern virtual explicit constexpr consteval friend class struct enum union typedef"
        ),
        added=words("explicit static abstract deleted final"),
        removed=words("static virtual constexpr"),
    ),
    "ruby": Rules(visible="underscore", shape="bare", modifiers=words("def class module self")),
    "lua": Rules(module="file", visible="static", shape="bare", modifiers=words("local function")),
    "elixir": Rules(visible="all", shape="bare", calls="exact", modifiers=words("def defp defmacro defmodule")),
}
_PLAIN = Rules()


def rules_of(language: str) -> Rules:
    """What holds in a language; of one without rules little is called breaking but what is gone."""
    return RULES.get(language, _PLAIN)

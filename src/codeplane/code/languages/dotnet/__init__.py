"""C#."""

from codeplane.code.languages.contract import Contract
from codeplane.code.languages.dotnet.keywords import CSHARP_RESERVED, CSHARP_SOFT
from codeplane.code.languages.language import Language
from codeplane.code.languages.name_rules import NameRules
from codeplane.code.languages.project_family import project_family
from codeplane.code.languages.reserved_words import words

CSHARP = Language(
    name="csharp",
    package="dotnet",
    title="C#",
    family="dotnet",
    extensions=("cs", "csx"),
    aliases=("c#",),
    methods_in=frozenset({"class"}),
    members_in=frozenset({"enum"}),
    members=(".", "?."),
    bare_members=True,
    import_binds="none",
    linked="dotnet",
    soft_keywords=CSHARP_SOFT,
    reserved=CSHARP_RESERVED,
    names=NameRules(folder_packages=True, argument_mark=":", types_behind="dots"),
    contract=Contract(
        visible="modifier",
        top="internal",
        member="private",
        modifiers=words(
            "public protected private internal static sealed abstract virtual override async extern unsafe readonly"
            " const new partial volatile ref event class interface struct enum record delegate namespace required"
            " implicit explicit operator fixed file"
        ),
        mark="[",
        added=words("abstract sealed static readonly required"),
        removed=words("static virtual"),
        shape="type_first",
        names_count=True,
        typed=True,
        returns="before",
        constructors="own",
        structs_need_nothing=True,
        operators=True,
        nullable_types=True,
        where_clauses=True,
    ),
    patterns=("csharp",),
    pattern_contexts=(("class C { void M() { ", "; } }"), ("class C { void M() { ", " } }"), ("class C { ", " }")),
)
LANGUAGES = (CSHARP,)
PROJECT = project_family(
    "dotnet",
    languages="csharp fsharp vb",
    include="*.cs *.fs *.fsx *.vb",
    fences="*.sln",
    packages="*.csproj *.fsproj *.vbproj",
    fronts="**/{name}.cs",
    in_types=True,
    brings="System",
)

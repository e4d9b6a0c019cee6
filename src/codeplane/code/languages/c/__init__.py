"""C and C++."""

from codeplane.code.languages.c.keywords import C_RESERVED, CPP_RESERVED, CPP_SOFT
from codeplane.code.languages.c.source_repair import blank_macros
from codeplane.code.languages.contract import Contract
from codeplane.code.languages.language import Language, SourceRepair
from codeplane.code.languages.name_rules import NameRules
from codeplane.code.languages.reserved_words import words

# What yacc and lex make C of, what is included under any name, and what other compilers read with headers of C.
_UNREAD = (
    *("y", "yy", "ypp", "yxx", "l", "ll", "lpp", "lxx", "lex"),
    *("inc", "def", "cu", "cuh", "m", "mm", "cl", "in"),
)
_REPAIR = SourceRepair(before_parsing=blank_macros, version=5)
# What stands at the beginning of a line in C++ alone.
_CPP_LINE = (
    r"^[ \t]*(?:namespace\b[ \t\w:]*\{?|template[ \t]*<|(?:public|private|protected)[ \t]*:|"
    r"using[ \t]+[\w:]+[ \t]*[=;]|using[ \t]+namespace\b|class[ \t]+\w+(?:[ \t]+\w+)*[ \t]*[:;{]|virtual\b)|"
    r"^(?:[\w*&<>:]+[ \t]+){0,4}(?:\w+::)+~?\w+[ \t]*\("
)
_STATEMENT = (("void f() { ", "; }"), ("void f() { ", " }"))

C = Language(
    name="c",
    package="c",
    title="C",
    extensions=("c", "h"),
    unread_extensions=_UNREAD,
    query="c+c_family",
    variables_in=frozenset({"file"}),
    methods_in=frozenset({"class"}),
    members_in=frozenset({"class"}),
    members=(".", "->"),
    import_binds="none",
    linked="c",
    source_repair=_REPAIR,
    preprocessed=True,
    read_as=("cpp", _CPP_LINE),
    reserved=C_RESERVED,
    names=NameRules(unfollowed_operators=(b"->",), types_behind="signs"),
    contract=Contract(
        visible="static",
        modifiers=words("static inline extern const struct enum union typedef"),
        shape="type_first",
        calls="exact",
        typed=True,
        returns="before",
        c_declarations=True,
    ),
    patterns=("c",),
    pattern_contexts=_STATEMENT,
)
CPP = Language(
    name="cpp",
    package="c",
    title="C++",
    extensions=(
        *("cc", "cpp", "cxx", "c++", "hh", "hpp", "hxx", "h++"),
        *("inl", "ipp", "tpp", "tcc", "txx", "ixx", "cppm"),
    ),
    unread_extensions=_UNREAD,
    aliases=("c++",),
    query="cpp+c_family",
    variables_in=frozenset({"file", "namespace"}),
    methods_in=frozenset({"class"}),
    members=(".", "->", "::"),
    bare_members=True,
    import_binds="none",
    joint="::",
    linked="c",
    receiver_scopes=True,
    source_repair=_REPAIR,
    preprocessed=True,
    soft_keywords=CPP_SOFT,
    reserved=CPP_RESERVED,
    names=NameRules(unfollowed_operators=(b"->", b"::"), types_behind="signs"),
    contract=Contract(
        visible="sections",
        modifiers=words(
            "static inline extern virtual explicit constexpr consteval friend class struct enum union typedef"
        ),
        added=words("explicit static abstract deleted final"),
        removed=words("static virtual constexpr"),
        shape="type_first",
        typed=True,
        returns="before",
        constructors="own",
        templates=True,
        c_declarations=True,
        final_types=True,
        qualified_methods=True,
        unnamed_namespaces=True,
    ),
    patterns=("cpp",),
    pattern_contexts=_STATEMENT,
)
LANGUAGES = (C, CPP)
# The headers by which users of a library include it, the likeliest first; C has no projects, so below the root.
FRONTS = (
    "include/{name}/{name}.h",
    "include/{name}/{name}.hpp",
    "include/{name}.h",
    "include/{name}.hpp",
    "src/{name}/{name}.h",
    "src/*/{name}_all.hpp",
    "{name}.h",
    "{name}.hpp",
    "include/{name}/*.h",
    "include/{name}/*.hpp",
)

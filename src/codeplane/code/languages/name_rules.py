"""How names are bound, imported and reached in a language."""

import re
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class NameRules:
    """What the resolver, searches for references and renames need to know about names."""

    follows_imports: bool = False
    """Imports, exports and bases are followed from file to file."""
    reads_module_early: bool = False
    """A class body reads the module's name until it binds that name itself."""
    declared_first: bool = False
    """A local name is known behind its declaration only; above it, and in its own value, an outer one is meant."""
    unused_imports_fail: bool = False
    """A file with an import that nothing uses does not compile."""
    binds_stars: bool = False
    """`import *` binds names, in the order of the file's own bindings."""
    dotted_modules: bool = False
    """Imports name modules by dotted paths, each part of which is a module."""
    lists_exports: bool = False
    """A list of strings says what a module exports."""
    aliases_exports: bool = False
    """An export can have another name than what it exports."""
    commonjs: bool = False
    """`module.exports` stands for the module itself."""
    type_queries: bool = False
    """`typeof name` asks for a value where a type of that name is nearer."""
    types_and_values: bool = False
    """A type and a value may share a name."""
    shorthand_properties: bool = False
    """`{ name }` is a property and a variable at once."""
    object_literals: bool = False
    """An object without a name has members."""
    parameter_properties: bool = False
    """A parameter of a constructor may declare a field."""
    types_behind: Literal["values", "dots", "signs"] = "values"
    """Behind what a type's name stands: any value, a dot after its namespace or type, or never a dot or an arrow."""
    shorthand_fields: bool = False
    """`Type { name }` is a field and a variable at once."""
    constant_patterns: bool = False
    """A capitalised name in a pattern is compared with, not bound."""
    declares_types: bool = False
    """A type stands behind a name and a colon, or `new` says what is made."""
    follows_values: bool = False
    """What a call, a copy or an annotated result gives is followed."""
    written_results: bool = False
    """Functions write what they give behind their parameters, which calls of them are followed by."""
    open_modules: bool = False
    """Other files and `globals()` may set the variables of a module."""
    declared_by_platform: bool = False
    """A top-level name may be expected in one file and made for platforms in others."""
    named_in_texts: bool = False
    """Texts such as `'Class::method'` may name functions, methods and classes that the language then calls."""
    types_named_in_texts: bool = False
    """Texts such as `"some.package.Type"` may name types that are found as the program runs or is built."""
    sign_before: str = ""
    """A sign that stands before a name without being part of it: `$name` in a text."""
    untyped: bool = False
    """The first value of a variable does not say what it holds later."""
    flow_sensitive: bool = False
    """What a variable holds is decided by the assignment and the checks above its use."""
    outer_assignment: Literal["", "plain", "declared"] = ""
    """How a function assigns to a variable around it: just so, or after declaring the name `global`."""
    named_arguments: bool = False
    """Calls may give arguments by the names of parameters, and these are followed."""
    argument_mark: str = ""
    """The sign behind the name of a parameter in a call that names its arguments, where these are not followed."""
    marked_parameters: bool = False
    """Only a parameter with that sign is named by calls, which need no parentheses."""
    names_in_strings: bool = False
    """Strings may hold names that are resolved: annotations, lists of exports, dotted paths."""
    attribute_paths: frozenset[str] = frozenset()
    """Keys of attributes whose strings are paths: `#[serde(default = "path::name")]`."""
    documentation_link: re.Pattern[bytes] | None = None
    """What stands in a comment right before a name that is resolved as in code: `{@link name}`."""
    format_strings: bool = False
    """Format strings name variables: `"{count}"`."""
    evaluates_text: bool = False
    """Text can be run as code, and the names of a scope can be had as a mapping."""
    fixtures: bool = False
    """Tests ask for functions by the names of their parameters."""
    stubs: tuple[str, str] | None = None
    """How the paths of a module and of the stub beside it end."""
    folder_packages: bool = False
    """The files of a folder share their top-level names."""
    files_named_by_types: bool = False
    """A file has the name of the type in it that others use."""
    follows_packages: bool = False
    """Imports name packages of several files, and are followed to them."""
    system_twins: bool = False
    """Files for several systems may each define a name of their package, which is one symbol."""
    called_by_language: frozenset[str] = frozenset()
    """Top-level functions that the language itself calls by their names."""
    symbols: bool = False
    """`:name` may call the method of that name, and `name=` is called by an assignment to a member."""
    members_may_be_keywords: bool = False
    special_names: bool = False
    """The language itself looks for names such as `__name__`."""
    special_members: frozenset[str] = frozenset()
    """Members that the language itself looks for."""
    operator_word: str = ""
    """The word before a function that the language itself calls for an operator."""
    property_accessors: bool = False
    """Other languages of the family call the accessors of a property: `getName`, `setName`."""
    builtin_types: frozenset[str] = frozenset()
    """Types that are written like names and are none."""
    sigils: str = "#@$"
    """Signs that are part of a name's kind, so that a new name has to begin with them, too."""
    private_sign: str = ""
    """A sign that makes the name behind it another one: `#name`."""
    unfollowed_operators: tuple[bytes, ...] = ()
    """Operators before a member whose receiver is not followed."""
    is_identifier: bool = False
    """Names are what Python's `str.isidentifier` says."""

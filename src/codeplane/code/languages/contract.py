"""What users of a definition depend on in a language: what is visible, how calls are written, what breaks them."""

from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

Shape = Literal["name_first", "type_first", "grouped", "marked", "bare"]
Visible = Literal["underscore", "exported", "capital", "pub", "modifier", "static", "sections", "all"]
Calls = Literal["keywords", "optional", "exact"]
Visibility = Literal["public", "protected", "internal", "private"]


class Builtins(Protocol):
    """The classes that a language has without an import."""

    def can_be_hidden(self, name: str) -> bool:
        """Whether a class of the file that has this name stands before the built-in one."""
        ...

    def extends(self, name: str, base: str) -> bool:
        """Whether a built-in class builds on another."""
        ...

    def has_member(self, name: str, member: str) -> bool:
        """Whether users of a class that builds on a built-in one have a member that it does not define itself."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Contract:
    """What semantic comparison needs to know about a language; little is called breaking where nothing is known."""

    visible: Visible = "all"
    """What says who can see a definition."""
    is_program: Callable[[str, Container[str], Callable[[str], bytes | None]], bool] | None = None
    """Whether a file, of all files and their contents, belongs to a program, whose names nothing outside can use."""
    run_only: Callable[[bytes, Callable[[int], bool]], tuple[tuple[int, int], ...]] | None = None
    """The stretches of a text that run only where it is the program; told whether a place is in a string."""
    is_unpromised: Callable[[str], bool] | None = None
    """Whether the marks of a definition say that users cannot rely on it, though they can see it."""
    top: Visibility = "public"
    """How visible a definition outside of types is that says nothing about it."""
    member: Visibility = "public"
    """The same for one in a type."""
    private_modules: bool = False
    """A name with an underscore makes a module private, and a list says what a module exports."""
    uncalled: frozenset[str] = frozenset()
    """Methods that the language calls, and users do not."""
    underscore_members: bool = False
    """A member whose name begins with an underscore is private."""
    visibility_sections: bool = False
    """A word such as `private` on a line of its own holds for all that follows."""
    open_is_public: bool = False
    module: Literal["file", "folder", "none"] = "none"
    """What has to be named to reach a definition: its file, its folder, or neither."""
    package_marker: str = ""
    """The file that makes a package of a folder; a module is imported by the names of the packages around it."""
    package_entries: bool = False
    """A manifest lists the files by which a package is used; what they do not pass on is not public."""
    crates: bool = False
    """A package is used by what its root file reaches: public modules, and what is passed on."""
    manifest: str = ""
    """The name of the files that say which file the root of a package is."""
    re_exports: Literal["", "exports", "package", "use"] = ""
    """How a file exports names that it does not define."""

    modifiers: frozenset[str] = frozenset()
    mark: str = "@"
    """What begins a decorator or an attribute."""
    decorators: bool = False
    """Decorators say how a function is called, and what it becomes."""
    added: frozenset[str] = frozenset()
    """Modifiers that break users when they are added."""
    removed: frozenset[str] = frozenset()
    """Modifiers that break users when they are removed."""

    shape: Shape = "name_first"
    """How a parameter is written; `grouped` names may share a type, `marked` lists hold `/` and `*`."""
    calls: Calls = "optional"
    """How calls give parameters: also by name, some left out, or all as they are declared."""
    names_count: bool = False
    """Calls may depend on the names of parameters."""
    typed: bool = False
    returns: Literal["->", ":", "before", "after", ""] = ""
    """Where the type of a result is written."""
    curried: bool = False
    """A function may have several lists of parameters."""
    function_values: bool = False
    """A function may be a value: `name = async function* (`, `name = argument => …`."""
    lambda_values: bool = False
    """`name = lambda …` defines a function, too."""
    generators_by_body: bool = False
    """Only the body of a function says that it is a generator."""
    line_ends_statement: bool = False
    """The end of a line after a word such as `return` ends the statement."""
    overloads: Literal["", "without_body", "decorated"] = ""
    """How the declarations of an overloaded function differ from what implements them."""
    one_name: bool = False
    """A name stands for one thing, however often it is declared."""

    type_parentheses: Literal["parameters", "bases", "fields"] = "parameters"
    """What stands in parentheses behind the name of a type."""
    bases_follow: bool = True
    """What a type builds on stands behind its name."""
    structural: bool = False
    """Whatever has the members of an interface implements it, whether it says so or not."""
    builtins: Builtins | None = None
    """The built-in classes, where it is followed what a class builds on."""
    implied_base: str = ""
    """The class that every class builds on."""
    generic_base: str = ""
    """The base that type parameters stand for as well."""
    protocols: bool = False
    """A class that builds on `Protocol` promises its members."""
    default_methods: bool = False
    """Methods of an interface may have bodies, and its fields are constants."""
    closed_enums: bool = False
    """Users have to handle every alternative of a type."""
    closed_structs: bool = False
    """A value is written with all of its fields."""
    non_exhaustive: bool = False
    """A mark opens closed types."""
    field_classes: bool = False
    """Decorators and bases make a class from its fields."""
    object_types: bool = False
    """The members of a type are compared as the type, whole."""
    whole_interfaces: bool = False
    """Another body of an interface breaks whatever implements it."""
    nameless_classes: bool = False
    """An expression may make a class without a name, whose members are nobody else's."""
    constructors: Literal["", "own", "inherited"] = ""
    """Whether constructors are inherited, where it is known."""
    structs_need_nothing: bool = False
    """A struct can always be made with nothing."""
    enum_constructors: bool = False
    """Members of an enum are made from values."""
    operators: bool = False
    """A type may define operators and conversions."""

    library_types: Mapping[str, str] = field(default_factory=dict)
    """Names that the standard library gives to other types."""
    unions: bool = False
    """A type is a union of alternatives, and is compared by them."""
    nullable_types: bool = False
    """`T ?` takes whatever `T` takes."""
    nullable_results: bool = False
    """A result of `T` satisfies callers that expect `T ?`."""
    self_modes: tuple[str, ...] = ()
    """What a method does to what it is called on, from least to most."""
    array_varargs: bool = False
    """A variable number of arguments may be given as an array."""
    pointer_receivers: bool = False
    """A method belongs to a value or to a pointer to it."""
    embedding: bool = False
    """The body of a struct names types whose members are its own."""
    type_aliases: bool = False
    """`type A = B` is another name of the same type."""
    canonical_type: Callable[[str], str] | None = None
    """Writes a type, its tokens separated by blanks, without what is no part of it."""
    infers_type_arguments: bool = False
    """Calls do not write type arguments."""
    bound_sign: str = "+"
    """What joins the bounds of a type parameter."""
    where_clauses: bool = False
    """Each type parameter has a `where` of its own."""
    templates: bool = False
    """`template <…>` stands before a definition, and types stand before the names of type parameters."""

    c_declarations: bool = False
    """Declarations are those of C: `= delete`, `override`, macros, types that are copied."""
    final_types: bool = False
    """`final` may stand behind the name of a type."""
    qualified_methods: bool = False
    """Words such as `const` and `noexcept` may stand behind the parameters of a function."""
    unnamed_namespaces: bool = False
    """Namespaces without a name hide what is in them from other files."""
    bare_values: bool = False
    """The grammar knows a value outside of classes by its name alone."""

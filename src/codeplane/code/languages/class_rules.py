"""What classes and their members are in a language."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassRules:
    """What the resolver and renames need to know about classes."""

    receiver_parameter: bool = False
    """The first parameter of a method is the instance or the class."""
    has_this: bool = True
    """`this` is the instance."""
    function_this: bool = False
    """A function inside a method has a `this` of its own."""
    calls_super: bool = False
    """`super` is called to reach what a class builds on."""
    static_members: bool = False
    """A class and its instances may have two members of one name."""
    members_by_kind: bool = False
    """A method, a field and a type of one name are three members of a class."""
    components: bool = False
    """A parameter of a constructor may have to keep the name of a member."""
    heritage_clauses: bool = False
    """`extends` and `implements` say what a class builds on."""
    rebindable: bool = False
    """Classes, functions and members are values that may be replaced, decorated or made by something else."""
    mangles_private: bool = False
    """A name such as `__name` is made its class's own."""
    mixins: bool = False
    """Several bases of a class may share a member."""
    mixin_words: tuple[str, ...] = ()
    """What stands before the names of modules or traits in the body of a class that takes over their members."""
    declares_interfaces: bool = False
    """A class names the interfaces it implements, and these are followed."""
    unmarked_overrides: bool = False
    """A member may implement one of a base without saying so, and bases are not followed."""
    implicit_interfaces: bool = False
    """Whatever has the methods of an interface implements it."""
    protocol_base: str = ""
    """The base of classes that others implement by having their methods."""
    traits: bool = False
    """Blocks beside a type implement traits for it."""

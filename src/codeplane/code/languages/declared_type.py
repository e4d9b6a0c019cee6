"""A type as Java, Kotlin and C# declare it."""

from collections.abc import Sequence

from msgspec import Struct

from codeplane.code.entity import Bound, Entity, Outside


class Type(Struct, frozen=True):
    """A type: a class or type parameter of the repository (or something from outside), its arguments and dimensions.

    A class without a name, such as that of Java's `new Base() { … }`, is bound by its body's scope under an empty name.
    """

    of: Entity
    args: tuple["Type | None", ...] = ()
    dims: int = 0


def substitute(of: Type | None, given: dict[Bound, Type | None]) -> Type | None:
    """Return a type with its parameters replaced by what they are given."""
    if of is None or not given:
        return of
    if isinstance(of.of, Bound) and of.of in given:
        value = given[of.of]
        return Type(value.of, value.args, value.dims + of.dims) if value is not None else None
    return Type(of.of, tuple(substitute(argument, given) for argument in of.args), of.dims)


def is_foreign(of: Type | None) -> bool:
    """Whether a type is known, and nothing of the repository is in it."""
    return of is not None and isinstance(of.of, Outside) and all(is_foreign(argument) for argument in of.args)


def common_type(types: Sequence[Type | None]) -> Type | None:
    """Return the type that some types are, without arguments in which they differ."""
    first = types[0] if types else None
    if first is None or any(type_ is None or type_.of != first.of for type_ in types):
        return None
    return first if all(type_ == first for type_ in types) else Type(first.of)

"""The classes that share a member through inheritance."""

from collections.abc import Callable, Iterable, Sequence

from codeplane.code.entity import Bound
from codeplane.code.languages.declared_type import Type

_MAX_CLASSES = 3_000


def class_family(
    first: Bound,
    *,
    ancestors: Callable[[Type], Sequence[Type]],
    below: Callable[[Bound], Iterable[Bound]],
    has_member: Callable[[Bound], bool],
    parts: Callable[[Bound], Iterable[Bound]] = lambda of: (of,),
) -> list[Bound]:
    """Return the classes that share a member: all that have it, and those through which they come together.

    `ancestors` lists a type and what stands above it, `parts` the declarations of one class.
    """
    found: dict[Bound, None] = {}
    waiting = [first]
    while waiting and len(found) < _MAX_CLASSES:
        of = waiting.pop()
        if of in found:
            continue
        found[of] = None
        waiting += (part for part in parts(of) if part not in found)
        for above in ancestors(Type(of))[1:]:
            if isinstance(above.of, Bound) and above.of not in found and has_member(above.of):
                waiting.append(above.of)
        waiting += (heir for heir in below(of) if heir not in found)
    return list(found)

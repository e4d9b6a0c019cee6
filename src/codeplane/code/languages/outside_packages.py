"""Whether what a third-party package returns is its own, or may be an object of this repository that it was given."""

import sys

# Parts of Python's own library that give back what they were given, or what they are asked to find.
_HANDING = frozenset(
    {
        "asyncio",
        "collections",
        "concurrent",
        "contextlib",
        "contextvars",
        "copy",
        "dataclasses",
        "functools",
        "heapq",
        "importlib",
        "inspect",
        "itertools",
        "multiprocessing",
        "operator",
        "pickle",
        "queue",
        "random",
        "shelve",
        "types",
        "typing",
        "unittest",
        "weakref",
    }
)
# Their types say what a value can do, not whose it is.
_ABSTRACT = ("abc", "collections.abc", "types", "typing", "typing_extensions")


def gives_its_own(source: str, name: str) -> bool:
    """Whether calling a name of a third-party module gives something of theirs: a class does, a function need not."""
    if name.lstrip("_")[:1].isupper():
        return True
    package = package_of(source)
    own = source.startswith("node:") or package in sys.stdlib_module_names
    return own and package not in _HANDING


def tells_nothing(source: str) -> bool:
    """Whether a type of a module leaves open what a value is: `Any`, `Iterable`."""
    return source in _ABSTRACT


def package_of(source: str) -> str:
    """What a module belongs to: `django` of `django.views`, `@scope/name` of `@scope/name/deep`."""
    if source.startswith("@"):
        return "/".join(source.split("/")[:2])
    return source.partition("/")[0].partition(".")[0]

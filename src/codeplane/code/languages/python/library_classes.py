"""The classes of Python and its standard library that code inherits from."""

import builtins
from importlib import import_module

# Modules that are imported without any effect, and whose classes others build on.
_MODULES = frozenset(
    {
        *(
            "abc",
            "argparse",
            "ast",
            "asyncio",
            "codecs",
            "collections",
            "collections.abc",
            "configparser",
            "contextlib",
        ),
        *(
            "contextvars",
            "csv",
            "datetime",
            "decimal",
            "email.message",
            "enum",
            "fractions",
            "html.parser",
            "io",
            "json",
        ),
        *("logging", "numbers", "pathlib", "queue", "random", "socket", "socketserver", "ssl", "string", "tempfile"),
        *("threading", "types", "typing", "unittest", "urllib.request", "uuid", "warnings", "zipfile"),
    }
)
# What a class has all the same when it no longer writes these; others of `object` mean something else without them.
_OF_EVERY_CLASS = frozenset(
    {
        *(
            "__init_subclass__",
            "__subclasshook__",
            "__repr__",
            "__str__",
            "__format__",
            "__sizeof__",
            "__dir__",
            "__ne__",
        ),
        *("__getattribute__", "__setattr__", "__delattr__", "__reduce__", "__reduce_ex__", "__getstate__"),
    }
)


class PythonBuiltins:
    """The classes of `builtins`, and by dotted names those of the standard library."""

    def can_be_hidden(self, name: str) -> bool:
        """Whether there is a built-in class of this name."""
        return "." not in name and _find(name) is not None

    def extends(self, name: str, base: str) -> bool:
        """Whether a class builds on another."""
        below, above = _find(name), _find(base)
        return below is not None and above is not None and issubclass(below, above)

    def has_member(self, name: str, member: str) -> bool:
        """Whether users of a class that builds on this one have a member that it does not define itself."""
        found = _find(name)
        if found is None or member in ("__init__", "__new__"):
            return False
        owner = next((above for above in found.__mro__ if member in vars(above)), None)
        return owner is not None and (owner is not object or member in _OF_EVERY_CLASS)


def _find(name: str) -> type | None:
    module, _, own = name.rpartition(".")
    if not own.isidentifier() or (module and module not in _MODULES):
        return None
    try:
        value = getattr(import_module(module) if module else builtins, own, None)
    except ImportError:
        return None
    # What `typing` gives of `collections.abc` is an alias.
    value = getattr(value, "__origin__", value) if module == "typing" else value
    return value if isinstance(value, type) else None

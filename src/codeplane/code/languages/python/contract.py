"""What users of a Python definition depend on."""

import builtins

from codeplane.code.languages.contract import Contract
from codeplane.code.languages.python.programs import is_program
from codeplane.code.languages.reserved_words import words


class PythonBuiltins:
    """The classes of the module `builtins`."""

    def can_be_hidden(self, name: str) -> bool:
        """Whether there is a built-in class of this name."""
        return _builtin(name) is not None

    def extends(self, name: str, base: str) -> bool:
        """Whether a built-in class builds on another."""
        below, above = _builtin(name), _builtin(base)
        return below is not None and above is not None and issubclass(below, above)


def _builtin(name: str) -> type | None:
    value = getattr(builtins, name, None) if name.isidentifier() else None
    return value if isinstance(value, type) else None


PYTHON_CONTRACT = Contract(
    visible="underscore",
    is_program=is_program,
    uncalled=words("__del__"),
    private_modules=True,
    module="file",
    package_marker="__init__.py",
    re_exports="package",
    modifiers=words("async def class type"),
    decorators=True,
    added=words("async"),
    removed=words("async"),
    shape="marked",
    calls="keywords",
    names_count=True,
    returns="->",
    lambda_values=True,
    generators_by_body=True,
    overloads="decorated",
    one_name=True,
    type_parentheses="bases",
    bases_follow=False,
    builtins=PythonBuiltins(),
    implied_base="object",
    generic_base="Generic",
    protocols=True,
    field_classes=True,
    constructors="inherited",
)

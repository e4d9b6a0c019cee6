"""Stubs of Python beside the modules that they describe: where a module defines a name itself, it is judged there."""

from collections.abc import Callable

from codeplane.code.model import Facts
from codeplane.query.compare.outline import Outline, outermost

# The facts of a file and its text, in the state before.
FactsOf = Callable[[str], Facts | None]
_DEEPEST = 5


class RuntimeModules:
    """Tells which definitions of stubs are judged in the modules that run."""

    def __init__(self, facts: FactsOf) -> None:
        self._facts = facts

    def has(self, stub: Outline, place: int) -> bool:
        """Whether what a stub describes is defined by its module, or by none, so that the stub decides nothing."""
        if not stub.path.endswith(".pyi"):
            return False
        module = stub.path[:-1]
        facts = self._facts(module)
        if facts is None:
            return False
        name, path = outermost(stub, place), stub.entities[place].path
        if not _is_bound(facts, name):
            return not _may_have_more(facts)
        return self._defines(module, name, path, 0)

    def _defines(self, module: str, name: str, path: str, depth: int) -> bool:
        """Whether a module, or another of its package that it takes the name from, has the definition."""
        facts = self._facts(module)
        if facts is None or depth > _DEEPEST:
            return False
        if any(definition.path == path for definition in facts.definitions):
            return True
        for item in facts.imports:
            if item.scope == 0 and item.local == name and item.imported and item.source.startswith("."):
                inner = path if item.imported == name else item.imported + path[len(name) :]
                folder = module.rpartition("/")[0]
                for _ in range(len(item.source) - len(item.source.lstrip(".")) - 1):
                    folder = folder.rpartition("/")[0]
                home = "/".join(part for part in (folder, item.source.lstrip(".").replace(".", "/")) if part)
                return any(
                    self._defines(found, item.imported, inner, depth + 1)
                    for found in (f"{home}.py", f"{home}/__init__.py")
                )
        return False


def _is_bound(facts: Facts, name: str) -> bool:
    return any(definition.name == name and definition.container < 0 for definition in facts.definitions) or any(
        item.local == name and item.scope == 0 for item in facts.imports
    )


def _may_have_more(facts: Facts) -> bool:
    """Whether a module gives names that its text does not show."""
    return any(item.imported == "*" for item in facts.imports) or any(
        definition.name == "__getattr__" and definition.container < 0 for definition in facts.definitions
    )

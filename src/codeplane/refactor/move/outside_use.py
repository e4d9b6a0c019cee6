"""Uses of a Python module's name in other files."""

import re

from codeplane.code.entity import Module
from codeplane.code.resolve.occurrences import occurrences
from codeplane.code.resolve.resolver import Resolver
from codeplane.code.resolve.world import World
from codeplane.refactor.move.module_names import module_parts, modules_of


def outside_use(world: World, resolver: Resolver, module: str, name: str) -> str:
    """Say which other file uses a name of a module, or may; empty if certainly none does."""
    steps = module_parts(module)
    stem = steps[-1] if steps else ""
    through = re.compile(rb"\b%s\s*\.\s*%s\b" % (re.escape(stem.encode()), re.escape(name.encode())))
    holding = set(world.files_with(name))
    for path in sorted(holding & set(world.files_with(stem)) - {module}):
        facts = world.facts(path)
        for import_ in facts.imports if facts is not None and world.language(facts).names.dotted_modules else ():
            if import_.imported in (name, "*") and module in modules_of(world, import_.source, path):
                return f"{path} takes it from here"
        if facts is not None and through.search(world.text(path)):
            return f"{path} may reach it through this module"
    for path in sorted(holding - {module}):
        facts = world.facts(path)
        if facts is None or not world.language(facts).names.dotted_modules:
            continue
        text = world.text(path)
        for at in occurrences(text, name):
            read = text[max(0, at - 20) : at].rstrip().endswith(b".") and not facts.in_text(at)
            if read and resolver.owner_at(path, facts, at) == Module(module):
                return f"{path} reaches it through this module"
    return ""

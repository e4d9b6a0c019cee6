"""Aliases of imports: renaming at an alias renames the alias, not the imported symbol."""

import re

from codeplane.code.entity import Bound
from codeplane.code.languages.expression import receiver
from codeplane.code.languages.javascript.exports import exported_places
from codeplane.code.languages.registry import LANGUAGES
from codeplane.code.model import REASONS, Export, Facts
from codeplane.code.resolve.resolver import Resolver
from codeplane.code.resolve.world import World
from codeplane.index.files.paths import path_text
from codeplane.kernel.errors import NotRefactorable
from codeplane.query.search.symbols import Target

_IMPORT = REASONS.index("IMPORT_ALIAS")
_LOCATION = re.compile(r"^(?P<path>.+?):(?P<line>\d{1,9}):(?P<column>\d{1,9})$")
_IDENTIFIER = re.compile(rb"[A-Za-z_$\x80-\xff][\w$\x80-\xff]*")


def alias_at(world: World, symbol: str) -> Target | None:
    """Return the alias at a place, also in its import; None if the place is something else."""
    location = _LOCATION.match(symbol.strip().removeprefix("./"))
    facts = world.facts(location["path"]) if location and location["path"] in world.snapshot.files else None
    if location is None or facts is None:
        return None
    path, text = location["path"], world.text(location["path"])
    start = 0
    for _ in range(int(location["line"]) - 1):
        start = text.find(b"\n", start) + 1
        if not start:
            return None
    end = text.find(b"\n", start)
    line = text[start : end if end >= 0 else len(text)]
    at = start + len(line.decode("utf-8", "replace")[: int(location["column"]) - 1].encode())
    for match in _IDENTIFIER.finditer(text, start, start + len(line)):
        if match.start() <= at <= match.end():
            return _alias(world, path, facts, match.start(), match[0].decode("utf-8", "replace"))
    return None


def _alias(world: World, path: str, facts: Facts, at: int, name: str) -> Target | None:
    resolver = Resolver(world)
    _refuse_given(world, facts, path, at, name)
    index = facts.imported_at.get(at)
    if index is not None:
        import_ = facts.imports[index]
        bound = (
            Bound(path, import_.scope, name)
            if import_.alias == name and import_.local_at == at != import_.imported_at
            else None
        )
    else:
        plain = at not in facts.labels and receiver(world.text(path), at, facts.in_text) == ()
        bound = resolver.lexical(path, facts, at, name) if plain and not facts.in_text(at) else None
    aliases = LANGUAGES[facts.language].names.aliases_exports
    if index is not None and aliases:
        _refuse_renamed(world, facts, path, Bound(path, facts.imports[index].scope, name))
    elif bound is not None and aliases:
        _refuse_renamed(world, facts, path, bound)
    if bound is None or not is_alias(facts, bound):
        return None
    if bound.scope == 0:
        _refuse_known(world, facts, bound)
    definition = next((definition for _, definition in resolver.definitions(bound)), None)
    return Target(bound=bound, symbol=None, definition=definition)


def is_alias(facts: Facts, bound: Bound) -> bool:
    """Whether a name is bound only by imports of things with other names."""
    rows = facts.rows_by_binding.get((bound.scope, bound.name), ())
    brought = [facts.imports[facts.bind_target(row)] for row in rows if facts.bind_reason(row) == _IMPORT]
    return bool(brought) and all(import_.alias == bound.name != import_.imported for import_ in brought)


def _refuse_given(world: World, facts: Facts, path: str, at: int, name: str) -> None:
    """Refuse a name that an export gives to something of another name: its importers would have to change."""
    aliases = LANGUAGES[facts.language].names.aliases_exports
    given = exported_places(facts, world.text(path)).get(at) if aliases else None
    if given is not None and _is_alias_export(given, name):
        raise _alias_error(path, given)


def _refuse_renamed(world: World, facts: Facts, path: str, bound: Bound) -> None:
    """Refuse such a name where it is imported: the definition has another name."""
    rows = facts.rows_by_binding.get((bound.scope, bound.name), ()) if bound.file == path else ()
    brought = [facts.imports[facts.bind_target(row)] for row in rows if facts.bind_reason(row) == _IMPORT]
    modules = world.modules(facts)
    if modules is None:
        return
    for import_ in brought:
        for module in modules.find(import_.source, path) if import_.imported == bound.name else ():
            there = world.facts(module)
            given = (
                next((given for given in there.exports if _is_alias_export(given, bound.name)), None) if there else None
            )
            if given is not None:
                raise _alias_error(module, given)


def _is_alias_export(given: Export, name: str) -> bool:
    return given.evidence == "named" and given.name == name != given.local != "*"


def _alias_error(path: str, given: Export) -> NotRefactorable:
    hint = f"rename {given.local} where it is defined, or change the alias and its imports by text"
    return NotRefactorable(f"{given.name} is what {path_text(path)} calls {given.local} for others", hint=hint)


def _refuse_known(world: World, facts: Facts, bound: Bound) -> None:
    """Refuse an alias that other files import from this one: they would have to change."""
    hint = "name the definition to rename that, or change the alias by text"
    if any(export.local == bound.name or export.name == bound.name for export in facts.exports):
        raise NotRefactorable(f"{bound.name} is passed on by {path_text(bound.file)}", hint=hint)
    for path in world.files_with(bound.name):
        there = world.facts(path) if path != bound.file else None
        if there is None or world.language(there).family != world.language(facts).family:
            continue
        modules = world.modules(there)
        sources = {import_.source for import_ in there.imports} | {
            f"{import_.source}.{import_.imported}" for import_ in there.imports
        }
        if modules is not None and any(bound.file in modules.find(source, path) for source in sources):
            raise NotRefactorable(f"{path_text(path)} may take {bound.name} from {path_text(bound.file)}", hint=hint)

"""Test fixtures: functions that tests request by the name of a parameter."""

from collections.abc import Iterator

from codeplane.code.entity import Bound
from codeplane.code.model import REASONS, Facts
from codeplane.code.resolve.references import references
from codeplane.refactor.draft import Edit
from codeplane.refactor.rename.rename_context import RenameContext
from codeplane.refactor.rename.subject import is_fixture

_PARAM = REASONS.index("PARAM")


def is_fixture_subject(context: RenameContext) -> bool:
    """Whether the subject is a fixture."""
    subject = context.subject
    definition = subject.definition
    if not subject.language.names.fixtures or definition is None or definition.kind not in ("function", "method"):
        return False
    return is_fixture(context.world, subject.bound.file, definition)


def fixture_edits(context: RenameContext) -> Iterator[Edit]:
    """Yield edits of the parameters that request a fixture, and of their uses, in tests that see it."""
    home = context.subject.bound.file
    mine = home.rpartition("/")[0]
    others = [path for path in _other_homes(context) if path != home]
    for path, facts in context.files(context.name):
        if not _sees(path, home):
            continue
        # A fixture of that name in the file itself, or in a folder between, takes precedence.
        if any(_sees(path, other) and len(other.rpartition("/")[0]) >= len(mine) for other in others):
            continue
        for scope in _requesting_scopes(context, path, facts):
            for reference in references(
                context.world,
                context.store,
                [Bound(path, scope, context.name)],
                receivers=False,
                resolver=context.resolver,
            ):
                yield Edit(
                    path=path,
                    start=reference.offset,
                    end=reference.offset + context.length,
                    new=context.new,
                    tier="STRONG",
                    role=reference.role,
                    why="asks for the fixture by its name",
                )


def _sees(path: str, home: str) -> bool:
    """Whether tests of a file see the fixtures of another: their own file, or a `conftest.py` in a folder above."""
    if path == home:
        return True
    folder, _, name = home.rpartition("/")
    return name == "conftest.py" and (not folder or path.startswith(f"{folder}/"))


def _other_homes(context: RenameContext) -> Iterator[str]:
    for symbol in context.store.find_symbols(context.name, limit=1_000):
        facts = context.world.facts(symbol.file)
        if facts is not None and symbol.position < len(facts.definitions):
            definition = facts.definitions[symbol.position]
            if definition.kind in ("function", "method") and is_fixture(context.world, symbol.file, definition):
                yield symbol.file


def _requesting_scopes(context: RenameContext, path: str, facts: Facts) -> Iterator[int]:
    """Yield the scopes of tests and fixtures that have a parameter of the name."""
    for row, name in enumerate(facts.bind_names):
        if name != context.name or facts.bind_reason(row) != _PARAM:
            continue
        scope = facts.bind_scope(row)
        of = facts.scopes[scope].definition
        if of >= 0 and facts.scopes[scope].kind == "function":
            function = facts.definitions[of]
            if function.name.startswith("test") or is_fixture(context.world, path, function):
                yield scope

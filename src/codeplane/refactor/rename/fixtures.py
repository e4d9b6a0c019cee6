"""Fixtures of tests: functions that others ask for by the name of a parameter."""

from collections.abc import Iterator

from codeplane.code.facts.model import REASONS, Facts
from codeplane.code.resolve.entity import Bound
from codeplane.code.resolve.references import references
from codeplane.refactor.draft import Edit
from codeplane.refactor.rename.ground import Ground
from codeplane.refactor.rename.subject import is_fixture

_PARAM = REASONS.index("PARAM")


def is_asked_by_name(ground: Ground) -> bool:
    """Whether the subject is a fixture."""
    subject = ground.subject
    one = subject.definition
    if not subject.language.names.fixtures or one is None or one.kind not in ("function", "method"):
        return False
    return is_fixture(ground.world, subject.bound.file, one)


def asking_edits(ground: Ground) -> Iterator[Edit]:
    """The parameters that ask for a fixture, and their uses, in tests and fixtures that see it and no nearer one."""
    home = ground.subject.bound.file
    mine = home.rpartition("/")[0]
    others = [path for path in _other_homes(ground) if path != home]
    for path, facts in ground.files(ground.name):
        if not _sees(path, home):
            continue
        # A fixture of that name in the file itself, or in a folder between, comes first.
        if any(_sees(path, other) and len(other.rpartition("/")[0]) >= len(mine) for other in others):
            continue
        for scope in _asking(ground, path, facts):
            for one in references(
                ground.world, ground.store, [Bound(path, scope, ground.name)], receivers=False, resolver=ground.resolver
            ):
                yield Edit(
                    path=path,
                    start=one.offset,
                    end=one.offset + ground.length,
                    new=ground.new,
                    tier="STRONG",
                    role=one.role,
                    why="asks for the fixture by its name",
                )


def _sees(path: str, home: str) -> bool:
    """Whether tests of a file see the fixtures of another: its own, and those of `conftest.py` in a folder above."""
    if path == home:
        return True
    folder, _, name = home.rpartition("/")
    return name == "conftest.py" and (not folder or path.startswith(f"{folder}/"))


def _other_homes(ground: Ground) -> Iterator[str]:
    for one in ground.store.named(ground.name, limit=1_000):
        facts = ground.world.facts(one.file)
        if facts is not None and one.position < len(facts.definitions):
            definition = facts.definitions[one.position]
            if definition.kind in ("function", "method") and is_fixture(ground.world, one.file, definition):
                yield one.file


def _asking(ground: Ground, path: str, facts: Facts) -> Iterator[int]:
    """The scopes of tests and fixtures that have a parameter of the name."""
    for row, name in enumerate(facts.bind_names):
        if name != ground.name or facts.bind_reason(row) != _PARAM:
            continue
        scope = facts.bind_scope(row)
        of = facts.scopes[scope].definition
        if of >= 0 and facts.scopes[scope].kind == "function":
            function = facts.definitions[of]
            if function.name.startswith("test") or is_fixture(ground.world, path, function):
                yield scope

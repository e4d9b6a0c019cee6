"""The context of one rename: the world, what is renamed to what, and the deadline."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from codeplane.code.entity import Side
from codeplane.code.languages.member_resolver import Relatives
from codeplane.code.languages.member_side import side_of
from codeplane.code.languages.name_rules import NameRules
from codeplane.code.model import Facts
from codeplane.code.resolve.occurrences import name_places
from codeplane.code.resolve.resolver import Resolver
from codeplane.code.resolve.syntax_trees import SyntaxTrees
from codeplane.code.resolve.world import World
from codeplane.index.fact_store import FactStore
from codeplane.index.files.paths import path_text
from codeplane.index.path_kinds import is_copy
from codeplane.refactor.rename.subject import Subject, is_generated


@dataclass(slots=True, kw_only=True)
class RenameContext:
    """Shared by the parts of the planner; `cut` collects what could not be searched."""

    world: World
    store: FactStore
    resolver: Resolver
    subject: Subject
    new: str
    deadline: float
    most: int
    cut: list[str] = field(default_factory=list)
    looked_at: set[str] = field(default_factory=set)
    _made: dict[str, bool] = field(default_factory=dict)
    _files: dict[str, tuple[tuple[str, Facts], ...]] = field(default_factory=dict)
    _aliases: dict[str, frozenset[str]] = field(default_factory=dict)
    _places: dict[tuple[str, str], list[int]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The present name."""
        return self.subject.name

    @property
    def relatives(self) -> Relatives | None:
        """The members that keep one name with the subject; None if its language does not say by types."""
        subject = self.subject
        rules = subject.language
        in_several_files = bool(rules.linked) or rules.names.declared_by_platform
        shared = subject.sort == "member" or (subject.sort == "top" and in_several_files)
        shared = shared or (subject.sort == "parameter" and subject.language.classes.components)
        return self.resolver.relatives(self.subject.bounds[0]) if shared else None

    @property
    def syntax(self) -> SyntaxTrees:
        """The syntax trees of files."""
        return self.resolver.syntax

    @property
    def length(self) -> int:
        """The length of the name in bytes."""
        return len(self.name.encode())

    @property
    def side(self) -> Side:
        """Whether the subject is static or of instances, in languages that keep these apart."""
        definition, path = self.subject.definition, self.subject.bound.file
        return side_of(self.subject.facts, self.world.text(path), definition) if definition is not None else ""

    def is_late(self, during: str) -> bool:
        """Whether time is up; records what was under way then."""
        if time.monotonic() < self.deadline:
            return False
        note = f"time was up while {during}"
        if note not in self.cut:
            self.cut.append(note)
        return True

    @property
    def is_module_as_well(self) -> bool:
        """Whether the subject's package has a module of the same name, whose import hides the subject."""
        path = self.subject.bound.file
        if self.subject.sort != "top" or not path.endswith(("__init__.py", "__init__.pyi")):
            return False
        return self.world.python().submodule(path, self.name) is not None

    def is_made(self, path: str) -> bool:
        """Whether a file is built, generated or vendored."""
        found = self._made.get(path)
        if found is None:
            found = self._made[path] = is_copy(path) or is_generated(self.world.text(path))
        return found

    def files(self, name: str) -> tuple[tuple[str, Facts], ...]:
        """Return the parsed files of the subject's language family that contain a name."""
        found = self._files.get(name)
        if found is None:
            found = self._files[name] = tuple(self._files_with(name))
        return found

    def aliases(self, name: str) -> frozenset[str]:
        """Return all aliases that imports give to a name, and to those aliases."""
        cached = self._aliases.get(name)
        if cached is None:
            found, waiting = set[str](), [name]
            while waiting:
                alias = waiting.pop()
                imports = (
                    taken for _, facts in self.files(alias) for taken in facts.imports if taken.imported == alias
                )
                more = {taken.alias for taken in imports if taken.alias and taken.alias not in found}
                found |= more
                waiting += sorted(more)
            cached = self._aliases[name] = frozenset(found)
        return cached

    def places(self, path: str, name: str) -> list[int]:
        """Return where a file contains a name as a whole word."""
        found = self._places.get((path, name))
        if found is None:
            facts, text = self.world.facts(path), self.world.text(path)
            rules = self.world.language(facts).names if facts is not None else NameRules()
            found = self._places[path, name] = name_places(rules, text, name)
        return found

    def place_details(self, path: str, offset: int) -> dict[str, str | int]:
        """Return a place for the details of an error; lines and columns from 1."""
        text = self.world.text(path)
        start = text.rfind(b"\n", 0, offset) + 1
        return {
            "path": path_text(path),
            "line": text.count(b"\n", 0, offset) + 1,
            "column": len(text[start:offset].decode("utf-8", "replace")) + 1,
        }

    def _files_with(self, name: str) -> Iterator[tuple[str, Facts]]:
        family, own = self.subject.language.family, self.subject.language.name
        # Sigils are not part of the words in the index.
        for path, _ in self.store.files_with(name.strip("#@?!") or name):
            known = self.world.snapshot.files.get(path)
            if known is None or known.skipped is not None or self.is_late(f"files with {name} were read"):
                continue
            facts = self.world.facts(path)
            if facts is None:
                continue
            language = self.world.language(facts)
            if language.name == own or (family is not None and language.family == family):
                yield path, facts

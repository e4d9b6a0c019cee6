"""The answer of `semantic_diff`: fields for programs, and few words for agents."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from pydantic import Field

from codeplane.index.path_kinds import is_test
from codeplane.kernel.operation import Result
from codeplane.kernel.page import Pagination
from codeplane.kernel.plural import plural
from codeplane.query.compare.file_category import Category
from codeplane.query.compare.summary import common_folder

_MARKS = {"added": "+", "removed": "-", "renamed": ">", "moved": ">", "signature_changed": "~", "body_changed": "."}
_WORDS = {"signature_changed": "signature", "body_changed": "body"}
_NAMED = 12
# So many of a file's decorators or annotations are shown as they are; of more, the names that have them.
_MARKS_SHOWN = 3
_SIGNS = {"added": "+", "removed": "-", "renamed": ">", "moved": ">", "signature_changed": "~"}
# Modules of tests inside the files that they test.
_TEST_MODULES = ("tests", "test")


class RefTiers(Result):
    """References by how sure they are."""

    proven: int = 0
    strong: int = 0
    anchored: int = 0
    unknown: int = 0


class ImpactInfo(Result):
    """Who a change reaches, as far as the present index knows; lists name at most 20 files."""

    reference_count: int | None = None
    ref_tiers: RefTiers | None = None
    reference_basis: Literal["ref_facts_resolved", "ref_facts_partial", "unknown"] = "unknown"
    referencing_files: tuple[str, ...] | None = None
    importing_files: tuple[str, ...] | None = None
    affected_test_files: tuple[str, ...] | None = None
    confidence: Literal["high", "low"] = "low"
    visibility: str | None = None
    is_static: bool | None = None


class StructuralChange(Result):
    """A definition that changed; `why` gives the reasons for its severity."""

    path: str
    kind: str
    name: str
    qualified_name: str | None = None
    change: Literal["added", "removed", "signature_changed", "body_changed", "renamed", "moved"]
    structural_severity: Literal["breaking", "non_breaking"]
    behavior_change_risk: Literal["low", "medium", "high", "unknown"]
    why: tuple[str, ...] | None = None
    entity_id: str | None = None
    old_signature: str | None = None
    new_signature: str | None = None
    old_name: str | None = None
    old_path: str | None = None
    start_line: int | None = None
    start_col: int | None = None
    end_line: int | None = None
    end_col: int | None = None
    lines_changed: int | None = None
    delta_tags: tuple[str, ...] | None = None
    change_preview: str | None = None
    impact: ImpactInfo | None = None
    nested_changes: "tuple[StructuralChange, ...] | None" = None

    def lines(self, depth: int = 0) -> Iterator[str]:
        """The change and its nested changes, one line each."""
        broken = self.structural_severity == "breaking"
        mark = "!" if broken and not self._only_inside else _MARKS[self.change]
        if self._only_inside:
            mark = " "
        where = f"{self.path}:{self.start_line or 1} " if not depth else f":{self.start_line or 1} "
        word = "" if self._only_inside else f"{_WORDS.get(self.change, self.change)} "
        if self.is_of_marks:
            mark, word = _MARKS["body_changed"], "decorators "
        name = (self.qualified_name or self.name) if not depth else self.name
        if self.old_name and self.old_name != self.name:
            name = f"{self.old_name} → {name}"
        if self.old_path:
            name += f" (from {self.old_path})"
        yield f"{'  ' * depth}{mark} {where}{word}{self.kind} {name}{self._notes}"
        yield from _inner_lines(self.nested_changes or (), depth + 1)

    @property
    def only_body(self) -> bool:
        """Whether nothing changed but what it does, without a sign of risk: its name says all there is to say."""
        return self.change == "body_changed" and not self.nested_changes and self.behavior_change_risk != "high"

    @property
    def is_inward(self) -> bool:
        """Whether nobody outside can see it, nothing is broken, and its name says all that has to be looked at."""
        hidden = self.impact is not None and self.impact.visibility in ("private", "internal")
        return hidden and self.change in _SIGNS and not self._has_more and self.structural_severity != "breaking"

    @property
    def is_of_marks(self) -> bool:
        """Whether only decorators, annotations or attributes changed, and nothing is broken by it."""
        is_only = self.delta_tags == ("decorators_changed",) and not self.lines_changed
        return is_only and not self._has_more and self.structural_severity != "breaking"

    @property
    def is_plain_addition(self) -> bool:
        """Whether its kind and name say all there is to say of what came."""
        return self.change == "added" and not (self.nested_changes or self.why or self.lines_changed or self.old_path)

    @property
    def _has_more(self) -> bool:
        """Whether what is inside it, or how risky it is, has to be said too."""
        return bool(self.nested_changes) or self.behavior_change_risk == "high"

    @property
    def is_minor(self) -> bool:
        """Whether only bodies changed, its own or those inside it, without a sign of risk."""
        return self.only_body or (self._only_inside and all(change.is_minor for change in self.nested_changes or ()))

    @property
    def is_of_tests(self) -> bool:
        """Whether it is in a file of tests, or a module of tests inside another file."""
        return is_test(self.path) or (self.kind == "module" and self.name in _TEST_MODULES)

    def innermost(self) -> "StructuralChange":
        """The one change inside it, if nothing else changed."""
        nested = self.nested_changes or ()
        return nested[0].innermost() if self._only_inside and len(nested) == 1 else self

    def count(self) -> int:
        """How many definitions changed in it, or one."""
        return sum(change.count() for change in self.nested_changes or ()) if self._only_inside else 1

    @property
    def _only_inside(self) -> bool:
        return self.delta_tags == ("members_changed",)

    @property
    def _notes(self) -> str:
        reasons = f": {'; '.join(self.why)}" if self.why else ""
        details = []
        if self.lines_changed:
            details.append(f"{self.lines_changed} line{'s' * (self.lines_changed != 1)}")
        if self.change == "body_changed" and self.behavior_change_risk == "high":
            details.append("high risk")
        if self.impact is not None and self.impact.reference_count is None and self.change != "added":
            details.append("references not looked at")
        if self.impact is not None and self.impact.reference_count:
            more = "+" * (self.impact.reference_basis == "ref_facts_partial")
            files = len(self.impact.referencing_files or ())
            details.append(
                f"{plural(self.impact.reference_count, 'ref', more)} in {plural(files, 'file', '+' * (files >= 20))}"
            )
        return reasons + (f" ({', '.join(details)})" if details else "")


def _inner_lines(changes: Sequence[StructuralChange], depth: int) -> Iterator[str]:
    """Changes inside a definition: a line each, but one for all those of which the names say enough."""
    groups = _Groups.of(changes)
    for change in groups.alone:
        yield from change.lines(depth)
    for line in groups.lines():
        yield f"{'  ' * depth}{line}"


@dataclass(slots=True, kw_only=True)
class _Groups:
    """The changes of a file or definition: those with a line of their own, and those that share one."""

    alone: list[StructuralChange] = field(default_factory=list)
    added: dict[str, list[StructuralChange]] = field(default_factory=dict)
    marks: list[StructuralChange] = field(default_factory=list)
    inward: list[StructuralChange] = field(default_factory=list)
    bodies: list[StructuralChange] = field(default_factory=list)

    @classmethod
    def of(cls, changes: Sequence[StructuralChange]) -> "_Groups":
        groups = cls()
        for change in changes:
            if change.is_minor:
                groups.bodies.append(change)
            elif change.is_inward:
                groups.inward.append(change)
            elif change.is_of_marks:
                groups.marks.append(change)
            elif change.is_plain_addition:
                groups.added.setdefault(change.kind, []).append(change)
            else:
                groups.alone.append(change)
        # A line of its own says more, and takes no more where there is but one.
        if len(groups.marks) <= _MARKS_SHOWN:
            groups.alone += groups.marks
            groups.marks = []
        for kind in [kind for kind, some in groups.added.items() if len(some) == 1]:
            groups.alone += groups.added.pop(kind)
        return groups

    def lines(self, path: str = "") -> Iterator[str]:
        """The lines that several share; `path` where they are not inside a definition."""
        where = f"{path} " if path else ""
        for kind, some in self.added.items():
            yield f"+ {where}added {kind} {_places(some, path)}"
        if self.marks:
            more = f" and {len(self.marks) - _NAMED} more" if len(self.marks) > _NAMED else ""
            yield f". {where}decorators {_places(self.marks[:_NAMED], path)}{more}"
        if self.inward:
            yield f". {where}not public {_places(self.inward, path, signs=True)}"
        if self.bodies:
            yield f". {where}body {_names(self.bodies)}"


def _places(changes: Sequence[StructuralChange], path: str, *, signs: bool = False) -> str:
    """Names and lines; `path` where they are not inside a definition that is named already."""
    words = []
    for change in changes:
        name = (change.qualified_name if path else None) or change.name
        renamed = f"{change.old_name} → " if change.old_name and change.old_name != change.name else ""
        words.append(f"{_SIGNS[change.change] if signs else ''}{renamed}{name}:{change.start_line or 1}")
    return ", ".join(words)


def _names(changes: Sequence[StructuralChange]) -> str:
    return ", ".join(
        f"{change.name}:{change.start_line or 1}" if change.only_body else _names_inside(change) for change in changes
    )


def _names_inside(change: StructuralChange) -> str:
    """A definition of which only parts changed, with the names of those."""
    inside = change.nested_changes or ()
    if len(inside) == 1 and inside[0].only_body:
        return f"{change.name}.{_names(inside)}"
    return f"{change.name} ({_names(inside)})"


def _change_lines(changes: Sequence[StructuralChange]) -> Iterator[str]:
    """Changes of code a line each, with those of bodies alone a line a file, and tests counted by file."""
    code = [change for change in changes if not change.is_of_tests]
    by_path: dict[str, list[StructuralChange]] = {}
    for change in code or changes:
        by_path.setdefault(change.path, []).append(change if change.is_minor else change.innermost())
    groups = {path: _Groups.of(some) for path, some in by_path.items()}
    # What breaks somebody comes first, whichever file it is in.
    alone = [change for some in groups.values() for change in some.alone]
    for change in sorted(alone, key=lambda change: change.structural_severity != "breaking"):
        yield from change.lines()
    yield from (line for path, some in groups.items() for line in some.lines(path))
    tests = Counter[str]()
    for change in changes if code else ():
        if change.is_of_tests:
            tests[change.path] += change.count()
    if tests:
        folder = common_folder(tests)
        where = f" below {folder}" if folder else ""
        yield f"in tests{where}: {', '.join(f'{path.removeprefix(folder)} {count}' for path, count in tests.items())}"


class FileChangeInfo(Result):
    """A file that changed otherwise than in its definitions."""

    path: str
    status: Literal["added", "modified", "deleted", "renamed"]
    category: Category
    language: str | None = None
    old_path: str | None = None
    note: str | None = None

    def text(self) -> str:
        moved = f"{self.old_path} → " if self.old_path else ""
        return f"{self.status[0].upper()} {moved}{self.path}" + (f" ({self.note})" if self.note else "")


class SemanticDiffResult(Result):
    """What changed by structure; counts and the hint speak of all pages."""

    summary: str
    breaking_summary: str | None = None
    files_analyzed: int
    base: str
    target: str
    structural_changes: tuple[StructuralChange, ...]
    non_structural_changes: tuple[FileChangeInfo, ...] = Field((), description="first page only; at most 200")
    non_structural_count: int = 0
    agentic_hint: str
    impact_truncated: bool = False
    partial: str | None = Field(None, description="what of the references was not looked at")
    notes: tuple[str, ...] = ()
    markdown: str | None = None
    offset: int = 0
    pagination: Pagination

    def text(self) -> str:
        if self.markdown is not None:
            return self.markdown
        lines = [f"{self.base} → {self.target}: {self.summary}"]
        if self.breaking_summary and not self.offset:
            # Those that are marked below need no list of their own.
            whole = self.pagination.next_cursor is None
            lines.append(self.breaking_summary.partition(":")[0] if whole else self.breaking_summary)
        lines += _change_lines(self.structural_changes)
        if self.non_structural_changes:
            by: dict[str, list[str]] = {}
            parts: list[str] = []
            for file in self.non_structural_changes:
                by.setdefault(file.category, []).append(file.text())
            for name, entries in by.items():
                more = f", and {len(entries) - _NAMED} more" if len(entries) > _NAMED else ""
                parts.append(f"{name}: {', '.join(entries[:_NAMED])}{more}")
            shown = len(self.non_structural_changes)
            total = f" ({self.non_structural_count})" if self.non_structural_count > shown else ""
            lines.append(f"other files{total}: {'; '.join(parts)}")
        lines += [f"note: {note}" for note in self.notes]
        if self.partial:
            lines.append(f"partial: {self.partial}")
        # The other steps say again what the lines above say of each change.
        if not self.offset:
            lines += [step.partition(". ")[2] for step in self.agentic_hint.splitlines() if "re-run" in step[:10]]
        return "\n".join(lines) + self.pagination.line()

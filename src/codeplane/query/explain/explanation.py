"""The explanation of a symbol, rendered within a budget."""

from collections.abc import Sequence

from pydantic import Field

from codeplane.kernel.operation import Result
from codeplane.kernel.plural import plural
from codeplane.query.budget import fit_lines
from codeplane.query.search.hit import Hit

_SHOWN_TESTS = 15
_FOR_MEMBERS = 0.4
_FOR_SOURCE = 0.55
_FOR_TESTS = 0.25
_FOR_END = 200
_FOR_REST = 60
_LEAST_OF_FILE = 400


class SymbolEntry(Result):
    """A definition as it is listed: enough to ask for it by its id."""

    id: str | None
    kind: str
    name: str
    qualified_name: str
    path: str
    line: int

    def text(self) -> str:
        return f"{self.id or '-'} {self.kind} {self.qualified_name} {self.path}:{self.line}"


class Member(Result):
    """A definition inside another."""

    id: str | None
    kind: str
    name: str
    line: int
    depth: int = 0
    signature: str

    def text(self) -> str:
        return f"  {self.line} {'  ' * self.depth}{self.signature}"


class OtherPlaces(Result):
    """Lines of a file that refer to a symbol, and whose text is not shown."""

    path: str
    lines: tuple[int, ...]
    unsure: tuple[int, ...] = Field((), description="those of the lines that may mean something else")
    count: int = Field(description="references on these lines")

    def text(self) -> str:
        return f"{self.path}:{','.join(f'{line}?' if line in self.unsure else str(line) for line in self.lines)}"


class ReferenceSummary(Result):
    """How often a symbol is referred to, by how sure that is; the lines that say most, and where the others are."""

    total: int
    total_is_exact: bool
    tiers: dict[str, int]
    files: int
    lines: tuple[Hit, ...] = ()
    others: tuple[OtherPlaces, ...] = ()
    not_shown: int = Field(0, description="how many of the total are neither among the lines nor the others")
    tests: dict[str, int]
    test_count: int

    def texts(self, room: int) -> list[str]:
        """The counts, as many lines as fit under their paths, where the others are, and the tests."""
        if not self.total:
            none = f"references: none{'' if self.total_is_exact else ' found in the time there is'}"
            return [none, self._no_tests]
        more = "" if self.total_is_exact else "+"
        tiers = ", ".join(f"{count} {tier.lower()}" for tier, count in self.tiers.items())
        sections = [f"references: {self.total}{more} in {plural(self.files, 'file', more)}: {tiers}"]
        tests, in_tests = self._tests_line(int(room * _FOR_TESTS))
        room -= len(sections[0]) + len(tests) + _FOR_REST
        path, shown = None, 0
        for hit in self.lines:
            unsure = f"  ({hit.tier.lower()})" if hit.tier in ("ANCHORED", "UNKNOWN") else ""
            lines = [hit.path] * (hit.path != path) + [f"  {hit.line}: {hit.snippet.strip()[:160]}{unsure}"]
            if lines == sections[-1:]:
                # Two places of one line.
                shown += 1
                continue
            room -= sum(len(line) + 1 for line in lines)
            if room < 0:
                break
            sections += lines
            path, shown = hit.path, shown + 1
        also, in_others = _fit_places([places for places in self.others if places.path not in self.tests], room)
        sections += [f"also {also}"] if also else []
        left = self.total - shown - in_tests - in_others
        sections += [f"  {left}{more} more, listed by search mode=references"] if left else []
        return [*sections, tests]

    @property
    def _no_tests(self) -> str:
        return "tests: none mention it" if self.total_is_exact else "tests: none seen in the time there is"

    def _tests_line(self, room: int) -> tuple[str, int]:
        """Which tests mention it and where, and how many references that tells of."""
        if not self.test_count:
            return self._no_tests, 0
        known = {places.path: places for places in self.others}
        named: list[str] = []
        reference_count = 0
        for path, count in self.tests.items():
            entry = known[path].text() if path in known else f"{path} {count}"
            room -= len(entry) + 1
            if room < 0 and named:
                break
            named.append(entry)
            reference_count += known[path].count if path in known else 0
        more = self.test_count - len(named)
        return f"tests: {' '.join(named)}" + (f" and {plural(more, 'more file')}" if more else ""), reference_count


def _fit_places(places: Sequence[OtherPlaces], room: int) -> tuple[str, int]:
    """The places that fit into a line, and how many references they are."""
    entries: list[str] = []
    count = 0
    for each in places:
        room -= len(each.text()) + 1
        if room < 0:
            break
        entries.append(each.text())
        count += each.count
    return " ".join(entries), count


class Explanation(Result):
    """A symbol: what it is, what is in it, and who refers to it; or a file, with what is defined in it alone."""

    id: str | None
    kind: str
    name: str
    qualified_name: str
    path: str
    line: int
    end_line: int
    signature: str
    source: str | None = Field(None, description="its lines; the first of a long function, none of a long class")
    source_left_out: int = Field(0, description="how many of its lines are not in source")
    doc: str | None = None
    container: str | None = None
    bases: tuple[str, ...] = ()
    members: tuple[Member, ...] = ()
    member_count: int = 0
    references: ReferenceSummary | None = None
    tests_unknown: bool = Field(False, description="of a file: which tests reach it was not found out in time")
    test_files: tuple[str, ...] | None = Field(None, description="of a file: the tests that reach it, nearest first")

    def texts(self, budget: int) -> list[str]:
        """The lines that fit, most important first."""
        place = f"{self.path}:{self.line}" + (f"-{self.end_line}" if self.end_line > self.line else "")
        name = f"{self.qualified_name} {place}" if self.kind != "file" else place
        head = f"{self.kind} {name}" + (f" id {self.id}" if self.id else "")
        if self.source is not None and len(self.source) <= budget * _FOR_SOURCE:
            sections = [head, self.source]
            if self.source_left_out:
                first = self.end_line - self.source_left_out + 1
                sections.append(f"… {plural(self.source_left_out, 'more line')}: {self.path}:{first}-{self.end_line}")
        else:
            sections = [head, f"  {self.signature}", *([self.doc] if self.doc else []), *self._member_lines(budget)]
        if self.bases:
            sections.insert(len(sections) if self.source else 2, f"bases: {', '.join(self.bases)}")
        if self.references is None:
            # Before the outline, which may be long.
            return [*sections[:1], *self._test_files(), *sections[1:]]
        room = budget - _FOR_END - sum(len(line) + 1 for line in sections)
        return [*sections, *self.references.texts(max(room, 300))]

    def _test_files(self) -> list[str]:
        """The tests of a file, by name as far as these are few."""
        if self.tests_unknown:
            return [f"tests: not known yet; ask again, or test_run impacted=true paths={self.path}"]
        if self.test_files is None:
            return []
        more = len(self.test_files) - _SHOWN_TESTS
        named = ", ".join(self.test_files[:_SHOWN_TESTS]) or "none reach it"
        return [f"tests: {named}" + (f", and {plural(more, 'more file')}" if more > 0 else "")]

    def _member_lines(self, budget: int) -> list[str]:
        if not self.members:
            return []
        more = self.member_count - len(self.members)
        lines = [member.text() for member in self.members] + ([f"  and {more} more"] if more else [])
        above = len(self.doc or "") + sum(map(len, self._test_files()))
        room = int(budget * _FOR_MEMBERS) if self.references else budget - _FOR_END - above
        return [f"members ({self.member_count}):", *fit_lines(lines, max(room, 300))]


class ExplainResult(Result):
    """The symbol that was asked for; or, when several may be meant, all of them."""

    explanation: Explanation | None = None
    files: tuple[Explanation, ...] = Field((), description="of several files: the outline and tests of each")
    candidates: tuple[SymbolEntry, ...] = ()
    candidate_count: int = 0
    also_in_tests: int = 0
    budget: int
    epoch: int
    commit: str | None
    partial: str | None = None
    stale: tuple[str, ...] = ()

    def text(self) -> str:
        sections: list[str] = []
        if self.explanation is not None:
            sections += self.explanation.texts(self.budget)
            if self.also_in_tests:
                sections.append(f"{self.also_in_tests} more of this name in tests: search mode=definitions lists them")
        elif self.files:
            for file in self.files:
                sections += file.texts(max(self.budget // len(self.files), _LEAST_OF_FILE))
        else:
            sections.append(f"{self.candidate_count} definitions have this name; ask again with an id or paths:")
            more = self.candidate_count - len(self.candidates)
            lines = [candidate.text() for candidate in self.candidates] + (
                [f"and {more} more; name Class.method"] if more else []
            )
            sections += fit_lines(lines, self.budget - _FOR_END)
        end = f"[epoch {self.epoch} at {(self.commit or 'no commit')[:9]}]"
        end += f" {self.partial}" if self.partial else ""
        end += f" STALE: changed meanwhile: {', '.join(self.stale[:5])}" if self.stale else ""
        return "\n".join([*sections, end])

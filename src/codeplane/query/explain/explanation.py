"""The explanation of a symbol, rendered within a budget."""

from pydantic import Field

from codeplane.kernel.counted import counted
from codeplane.kernel.operation import Result
from codeplane.query.budget import fit_lines
from codeplane.query.search.hit import Hit

_SHOWN_TESTS = 5
_FOR_MEMBERS = 0.4
_FOR_END = 200
_FOR_REST = 60


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


class ReferenceSummary(Result):
    """How often a symbol is referred to, by how sure that is, and the lines that say most."""

    total: int
    total_is_exact: bool
    tiers: dict[str, int]
    files: int
    lines: tuple[Hit, ...] = ()
    not_shown: int = Field(0, description="how many of the total are not among the lines")
    tests: dict[str, int]
    test_count: int

    def texts(self, room: int) -> list[str]:
        """The counts, then as many lines as fit under their paths, and how many are left."""
        if not self.total:
            return [f"references: none{'' if self.total_is_exact else ' found in the time there is'}"]
        more = "" if self.total_is_exact else "+"
        tiers = ", ".join(f"{count} {tier.lower()}" for tier, count in self.tiers.items())
        sections = [f"references: {self.total}{more} in {counted(self.files, 'file', more)}: {tiers}"]
        room -= len(sections[0]) + _FOR_REST
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
        left = self.total - shown
        return [*sections, f"  {left}{more} more, listed by search mode=references"] if left else sections

    def tested(self) -> str:
        """Which tests mention it."""
        if not self.test_count:
            return "tests: none mention it" if self.total_is_exact else "tests: none seen in the time there is"
        named = ", ".join(f"{path} {count}" for path, count in list(self.tests.items())[:_SHOWN_TESTS])
        more = self.test_count - min(len(self.tests), _SHOWN_TESTS)
        return f"tests: {named}" + (f" and {more} more files" if more else "")


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
    doc: str | None = None
    container: str | None = None
    bases: tuple[str, ...] = ()
    members: tuple[Member, ...] = ()
    member_count: int = 0
    references: ReferenceSummary | None = None

    def texts(self, budget: int) -> list[str]:
        """The lines that fit, most important first."""
        place = f"{self.path}:{self.line}" + (f"-{self.end_line}" if self.end_line > self.line else "")
        name = f"{self.qualified_name} {place}" if self.kind != "file" else place
        sections = [f"{self.kind} {name}" + (f" id {self.id}" if self.id else ""), f"  {self.signature}"]
        if self.doc:
            sections.append(self.doc)
        if self.bases:
            sections.append(f"bases: {', '.join(self.bases)}")
        if self.members:
            more = self.member_count - len(self.members)
            lines = [member.text() for member in self.members] + ([f"  and {more} more"] if more else [])
            room = int(budget * _FOR_MEMBERS) if self.references else budget - _FOR_END - len(self.doc or "")
            sections += [f"members ({self.member_count}):", *fit_lines(lines, max(room, 300))]
        if self.references is None:
            return sections
        last = self.references.tested()
        room = budget - _FOR_END - len(last) - sum(len(line) + 1 for line in sections)
        return [*sections, *self.references.texts(max(room, 300)), last]


class ExplainResult(Result):
    """The symbol that was asked for; or, when several may be meant, all of them."""

    explanation: Explanation | None = None
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

"""The part of a checkpoint's result about failures that the last commit has too."""

from pydantic import Field

from codeplane.kernel.operation import Result
from codeplane.kernel.plural import plural
from codeplane.testing.baseline import UNLOADED, Comparison
from codeplane.testing.results import RunResult

_MAX_NAMES = 200
_SHOWN = 5


class BaselineResult(Result):
    """Failures by whether the last commit has them too."""

    commit: str = Field(description="what the failures were compared with; empty before the first commit")
    run_ids: tuple[str, ...] = ()
    recorded_at: str = ""
    made: bool = Field(False, description="whether its tests were run for this checkpoint")
    untested: bool = Field(False, description="whether the commit is a checkpoint that ran no tests")
    old: tuple[str, ...] = ()
    old_count: int = 0
    new: tuple[str, ...] = ()
    new_count: int = 0
    unknown: dict[str, str] = Field({}, description="failures of which it is not known, and why")
    unknown_count: int = 0
    why: str = Field("", description="why its tests could not all be run")

    @classmethod
    def of(cls, compared: Comparison, *, untested: bool) -> "BaselineResult":
        """Build the result from a comparison, with only as many names as can be read."""
        verdict = compared.verdict
        return cls(
            commit=compared.commit,
            run_ids=compared.run_ids,
            recorded_at=compared.recorded_at,
            made=compared.made,
            untested=untested,
            old=verdict.old[:_MAX_NAMES],
            old_count=len(verdict.old),
            new=verdict.new[:_MAX_NAMES],
            new_count=len(verdict.new),
            unknown=dict(list(verdict.unknown.items())[:_MAX_NAMES]),
            unknown_count=len(verdict.unknown),
            why=compared.why,
        )

    @property
    def blocking(self) -> tuple[str, ...]:
        """The failures that are new or may be new."""
        return (*self.new, *self.unknown)

    def excuses(self, result: RunResult) -> bool:
        """Whether old failures are all that is wrong with a run."""
        is_whole = result.status == "completed" and not result.not_found and not result.errors
        return is_whole and bool(self.old_count) and not self.new_count and not self.unknown_count

    def lines(self) -> list[str]:
        """Render the lines that an agent reads."""
        if not self.commit:
            return ["all failures are new: there is no earlier commit"]
        at = self.commit[:9] + (" (committed without tests)" if self.untested else "")
        how = " (run there now)" if self.made else f" (recorded {self.recorded_at[:16].replace('T', ' ')})"
        if not self.made and not self.recorded_at:
            # Nothing had to run: the commit has none of their files.
            how = ""
        lines = []
        if self.old_count:
            lines.append(f"old: {plural(self.old_count, 'failure')} that {at} has too{how}: {_list_names(self.old)}")
            lines[0] += f" and {self.old_count - _SHOWN} more" if self.old_count > _SHOWN else ""
        if self.new_count:
            lines.append(f"new: {plural(self.new_count, 'failure')} that {at} does not have{how}")
        for test, why in list(self.unknown.items())[:_SHOWN]:
            lines.append(f"old or new? {test}: {why}")
        if self.unknown_count > _SHOWN:
            lines.append(f"old or new? and {self.unknown_count - _SHOWN} more")
        if any(reason == UNLOADED for reason in self.unknown.values()):
            lines.append("make them load, so that their tests run")
        if any(reason != UNLOADED for reason in self.unknown.values()):
            why = f" ({self.why})" if self.why else ""
            lines.append(f"tests could not all be compared with {at}{why}: test_run baseline=true runs them there")
        return lines


def _list_names(tests: tuple[str, ...]) -> str:
    return ", ".join(tests[:_SHOWN])

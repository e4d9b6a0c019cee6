"""The plan of a test run."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from codeplane.testing.command import Filters
from codeplane.testing.commit_copy import Head
from codeplane.testing.environment_state import EnvironmentState
from codeplane.testing.outcome import Outcome
from codeplane.testing.target import TargetSelection


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPlan:
    """What to run, and how."""

    wanted: tuple[TargetSelection, ...]
    filters: Filters
    workers: int
    seconds: float
    rerun_failed: int = 0
    reasons: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    began_at: str = ""
    state: str = ""
    """The state of the code at the start, as one value."""
    environment: EnvironmentState | None = None
    lineage: str = ""
    head: Head | None = None
    baseline_of: str = ""
    """The commit whose files are run, if not the work tree's."""
    reused: Mapping[str, Outcome] = field(default_factory=dict)
    """Outcomes of an earlier run that still hold, by target."""
    remembered: bool = False
    """Whether the names are those of the tests that failed last time; a test that no longer exists is no error then."""

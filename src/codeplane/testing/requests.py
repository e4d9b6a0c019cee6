"""What the test operations are asked."""

from pydantic import Field, field_validator, model_validator

from codeplane.kernel.page import PageRequest
from codeplane.kernel.workspace_request import WorkspaceRequest


class DiscoverRequest(PageRequest, WorkspaceRequest):
    """Where to look."""

    paths: tuple[str, ...] = Field((), max_length=1000, description="files or folders; everything without")
    limit: int = Field(100, ge=1, le=1000)


class RunRequest(WorkspaceRequest):
    """Which tests, and how."""

    targets: tuple[str, ...] = Field((), max_length=5000, description="files, folders or path::test; all without")
    impacted: bool = Field(False, description="those that reach what changed: since, paths, or uncommitted")
    since: str = Field("", max_length=250, description="a commit or branch, for impacted")
    paths: tuple[str, ...] = Field((), max_length=5000, description="changed files, for impacted")
    pattern: str = Field("", max_length=1000, description="by name, as the runner takes it (pytest -k, jest -t)")
    tags: tuple[str, ...] = Field((), max_length=50)
    failed_only: bool = Field(False, description="what failed last time")
    rerun_failed: int = Field(0, ge=0, le=10, description="times, to tell flaky ones")
    fail_fast: bool = False
    fresh: bool = Field(False, description="run again though nothing changed")
    baseline: bool = Field(False, description="run them as of HEAD, for checkpoint to compare")
    parallelism: int | None = Field(None, ge=1, le=64)
    timeout_sec: float | None = Field(None, gt=0, le=86_400, description="for each target")
    wait: bool = Field(True, description="false: answer at once, see test_status")

    @field_validator("pattern", "tags")
    @classmethod
    def _without_nul(cls, value: str | tuple[str, ...]) -> str | tuple[str, ...]:
        if any("\0" in text for text in ((value,) if isinstance(value, str) else value)):
            raise ValueError("NUL cannot be part of it")
        return value

    @model_validator(mode="before")
    @classmethod
    def _lift_filter(cls, values: object) -> object:
        """What is asked under `filter` is asked beside it."""
        if isinstance(values, dict) and isinstance(values.get("filter"), dict):
            rest = {key: value for key, value in values.items() if key != "filter"}
            return {**values["filter"], **rest}
        return values

    @property
    def is_impacted(self) -> bool:
        """Whether tests are chosen by what changed; naming it says so."""
        return self.impacted or bool(self.since) or bool(self.paths)


class ReachingRequest(WorkspaceRequest):
    """A file, or the definition at one of its lines."""

    path: str = Field(min_length=1, max_length=4096)
    line: int = Field(0, ge=0, le=2**31, description="the first line of a definition; the whole file without")
    end_line: int = Field(0, ge=0, le=2**31, description="its last line")


class StatusRequest(WorkspaceRequest):
    """Which run."""

    run_id: str = Field("", max_length=100, description="the newest without it")


class OutputRequest(WorkspaceRequest):
    """What a process printed."""

    target: str = Field("", max_length=4096, description="the process that printed last without it")
    run_id: str = Field("", max_length=100, description="the newest without it")
    offset: int | None = Field(None, ge=0, description="in bytes as printed; the end without it")
    limit: int = Field(8000, ge=1, le=100_000, description="bytes as printed")


class HistoryRequest(PageRequest, WorkspaceRequest):
    """A page of the runs that are kept."""

"""Requests and results of the operations on explorations."""

from typing import Literal

from pydantic import AliasChoices, Field

from codeplane.kernel.json import JsonObject
from codeplane.kernel.operation import FollowUp, Request, Result
from codeplane.kernel.page import PageRequest, Pagination
from codeplane.work.explore.concurrency import MOST_IN_FLIGHT
from codeplane.work.explore.summary import CamelResult, ExploreSummary

State = Literal["queued", "running", "completed", "stopped"]
MAX_GOALS = 20
_ID = Field(min_length=4, max_length=100, description="its sessionId or work id, or a part that only it has")


class PolicyRequest(Request):
    """What an exploration may do beyond reading this machine's files."""

    allow_external_llms: bool = Field(
        False, validation_alias=AliasChoices("allowExternalLLMs", "allow_external_llms", "allowExternalLlms")
    )
    network: bool = Field(False, description="whether it may clone")


class StartRequest(Request):
    """What to explore, and to what end."""

    root: str = Field("", max_length=4096, description="a folder; the repository that is served without it")
    remote_url: str = Field("", max_length=2048, description="clone this first; needs policy.network")
    branch: str = Field("", max_length=250, description="of remote_url")
    policy: PolicyRequest = PolicyRequest()
    goals: tuple[str, ...] = Field(
        (),
        max_length=MAX_GOALS,
        description="own goals are looked for by meaning; default: structure, readmes, entry points",
    )
    planner: Literal["auto", "rules", "model"] = Field("auto", description="auto asks a model where one may be asked")
    model: str = Field("", max_length=200, description="provider/model instead of the default")
    resume: str = Field("", max_length=100, description="an exploration that was stopped, to go on from")


class ExploreRequest(Request):
    """An exploration."""

    explore_id: str = _ID


class StatusRequest(ExploreRequest):
    """An exploration, on request with its summary as Markdown."""

    markdown: bool = False


class AbortRequest(ExploreRequest):
    """The end of an exploration."""

    reason: str = Field("", max_length=500)


class ConcurrencyRequest(Request):
    """How much runs at once; without explore_id for all explorations until the server ends."""

    max_in_flight_ops: int | None = Field(None, ge=1, le=MOST_IN_FLIGHT)
    op_caps: dict[str, int] = Field({}, max_length=20, description="as in grep.parallel or semantic.topK")
    explore_id: str = Field("", max_length=100)


class WatchRequest(ExploreRequest):
    """The events of an exploration after a cursor, as they happen."""

    after: int = Field(0, ge=0, le=2**53, description="the last cursor that was seen")
    heartbeat_sec: float = Field(15.0, ge=0.1, le=300)


class ListRequest(PageRequest):
    """Which explorations to list: all."""


class StartResult(CamelResult):
    """An exploration that is queued; its first snapshot is recorded already."""

    session_id: str
    work_id: str
    plan_id: str
    snapshot_id: int
    state: State
    cursor: int
    workspace: str = ""

    def text(self) -> str:
        return f"{self.session_id} {self.state}; orchestrate_explore_status says how far it is"

    def follow_up(self) -> FollowUp | None:
        return _follow_up(self.work_id, self.state)


class ConcurrencyResult(CamelResult):
    """How much runs at once now."""

    max_in_flight_ops: int
    op_caps: dict[str, int]


class ExploreView(CamelResult):
    """An exploration: how far it is, and its summary once it is completed."""

    session_id: str
    work_id: str
    state: State
    reason: str | None = None
    repo_name: str
    workspace: str = ""
    goals: tuple[str, ...]
    plan_id: str
    snapshot_id: int
    ops: dict[str, int] = Field(description="how many operations are queued, running, done, failed and canceled")
    created_at: str
    updated_at: str
    cursor: int
    max_in_flight_ops: int
    op_caps: dict[str, int]
    summary: ExploreSummary | None = None
    markdown: str | None = None

    def text(self) -> str:
        counts = ", ".join(f"{count} {name}" for name, count in self.ops.items() if count)
        head = f"{self.session_id} {self.state}{f' ({self.reason})' if self.reason else ''} {self.repo_name}: {counts}"
        if self.markdown is not None:
            return self.markdown
        return head if self.summary is None else f"{head}\n{self.summary.text()}"

    def follow_up(self) -> FollowUp | None:
        return _follow_up(self.work_id, self.state)


class ExploreItem(CamelResult):
    """An exploration in a list."""

    session_id: str
    work_id: str
    state: State
    reason: str | None = None
    repo_name: str
    created_at: str
    updated_at: str
    created_by: str

    def text(self) -> str:
        reason = f" ({self.reason})" if self.reason else ""
        return f"{self.session_id} {self.state}{reason} {self.repo_name} {self.created_at}"


class ExplorePage(Result):
    """Explorations, the newest first."""

    results: tuple[ExploreItem, ...]
    pagination: Pagination

    def text(self) -> str:
        return ("\n".join(item.text() for item in self.results) or "no explorations") + self.pagination.line()


class ExploreEvent(CamelResult):
    """One event in its envelope with the cursor behind it, a heartbeat, or the gap that ends the stream."""

    cursor: int | None = None
    envelope: JsonObject | None = None
    heartbeat: int | None = None
    stream_gap: JsonObject | None = None


def _follow_up(work_id: str, state: State) -> FollowUp | None:
    if state not in ("queued", "running"):
        return None
    arguments: JsonObject = {"explore_id": work_id}
    return FollowUp(show="orchestrate.explore.status", cancel="orchestrate.explore.abort", arguments=arguments)

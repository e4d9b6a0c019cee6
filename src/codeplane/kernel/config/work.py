"""Sessions and the work in them."""

from pydantic import Field

from codeplane.kernel.config.section import AbsolutePath, Section


class TaskLimits(Section):
    """Limits of one task."""

    max_mutations: int = Field(1000, ge=0, description="calls that change the repository")
    max_test_runs: int = Field(200, ge=0, description="test runs")
    max_duration_sec: int = Field(86_400, ge=0, description="seconds from the task's opening")


class SessionConfig(Section):
    """Sessions of clients."""

    idle_timeout_sec: float = Field(1800.0, gt=0, description="a session without calls closes after this long")
    max_open: int = Field(1000, ge=1, description="sessions open at once; the longest idle one closes first")


class WorkConfig(Section):
    """Work in the background."""

    max_running: int = Field(20, ge=1, le=1000, description="work items that run at once; others are queued")
    max_queued: int = Field(1000, ge=1, le=100_000, description="work items that have not ended; more are refused")
    max_steps: int = Field(1000, ge=1, le=100_000, description="steps of one item, unless a person raises it")
    max_seconds: float = Field(
        86_400.0, gt=0, description="seconds that the steps of one item take, unless a person raises it"
    )
    lease_sec: float = Field(60.0, gt=0, description="how long an engine holds an item without renewing")
    take_over: bool = Field(
        False,
        description="finish here, in this folder, lists of calls whose server on the same shared log has gone",
    )
    payload_bytes: int = Field(8 * 1024 * 1024, ge=1024, description="payloads stored for one item")


class ExploreConfig(Section):
    """Explorations of repositories."""

    max_running: int = Field(2, ge=1, le=100, description="explorations that run at once; others are queued")
    max_seconds: float = Field(600.0, gt=0, description="one that takes longer is summed up as it is")


class TurnsConfig(Section):
    """Turns of conversations: a model and its tools."""

    max_tool_steps: int = Field(24, ge=1, le=1000, description="tool calls of one turn; clients may ask for 4 times it")
    max_tool_tokens: int = Field(
        200_000, ge=1000, description="tokens of tool answers in one turn; clients may ask for 4 times it"
    )
    max_context_messages: int = Field(
        200, ge=1, le=10_000, description="messages that the model is shown; clients may ask for 4 times it"
    )
    context_tokens: int = Field(
        100_000, ge=1000, description="tokens that the model is shown; oldest answers are dropped"
    )
    answer_bytes: int = Field(65_536, ge=1024, description="the part of one tool answer that the model is shown")
    max_queued: int = Field(16, ge=0, le=1000, description="turns that wait in one thread; more are refused")
    max_running: int = Field(3, ge=1, le=1000, description="turns that run at once, over all threads")
    raw_reasoning: bool = Field(False, description="clients may ask for a model's reasoning word by word")
    unsaved_files: bool = Field(
        True, description="unsaved files that a prompt links to are read from an ACP editor that offers it"
    )


class JobsConfig(Section):
    """Jobs: turns that go on in the background."""

    max_running: int = Field(5, ge=1, le=1000, description="jobs that run at once; others are queued")
    max_tool_steps: int = Field(20, ge=1, le=1000, description="tool calls of one job; callers may ask for 4 times it")
    max_wall_time_sec: float = Field(
        1800.0, gt=0, le=604_800, description="how long one job runs, without its waits; callers may ask for 4 times it"
    )
    max_depth: int = Field(3, ge=0, le=16, description="how deep jobs may start jobs")
    trees: AbsolutePath = Field(
        "", description="folder of the work trees that jobs change files in; empty: below the user's state folder"
    )
    keep_trees_days: float = Field(14.0, gt=0, description="how long the changes of a job wait to be applied")
    diff_kb: int = Field(512, ge=1, le=65_536, description="the part of a job's diff that is shown")
    max_spawned: int = Field(20, ge=0, le=1000, description="jobs that one job or turn starts, at all depths")


class ArtifactsConfig(Section):
    """Documents that work produces."""

    max_bytes: int = Field(8 * 1024 * 1024, ge=1024, description="the largest artifact")
    thread_bytes: int = Field(64 * 1024 * 1024, ge=1024, description="all artifacts of one thread together")


class SchedulesConfig(Section):
    """Schedules, and keeping the server up for them."""

    max_schedules: int = Field(20, ge=0, le=1_000_000, description="number of schedules; more are refused")
    grace_sec: float = Field(60.0, gt=0, description="a run that starts later than this counts as a catch-up run")
    keep_server_up: bool = Field(
        True, description="a server in the background does not end while a schedule is enabled"
    )
    reach_outs_per_day: int = Field(
        20, ge=0, le=10_000, description="notifications of heartbeats that have something to say, in 24 hours"
    )

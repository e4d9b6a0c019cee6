"""The log and its retention."""

from pydantic import Field

from codeplane.kernel.config.section import AbsolutePath, Section


class LedgerConfig(Section):
    """The log."""

    queue_events: int = Field(20_000, ge=100, description="appends waiting for the writer; more are refused")
    batch_events: int = Field(1000, ge=1, description="events in one group commit at most")
    max_payload_bytes: int = Field(262_144, ge=131_072, description="largest payload of one event")
    blob_bytes: int = Field(64 * 1024 * 1024, ge=1024, description="results kept for idempotency keys")
    export_segment_bytes: int = Field(50 * 1024 * 1024, ge=1024, description="exported traces rotate at this size")
    shared: AbsolutePath = Field(
        "", description="an absolute folder: planes of this machine that name the same one share one log"
    )


class RetentionConfig(Section):
    """How long the log keeps its streams."""

    tasks_days: float = Field(14.0, gt=0, description="streams of tasks and sessions")
    tasks_max: int = Field(500, ge=1, description="at most this many tasks, newest first")
    audit_days: float = Field(90.0, gt=0, description="audit streams")
    idempotency_days: float = Field(90.0, gt=0, description="idempotency keys")
    artifacts_days: float = Field(90.0, gt=0, description="artifact streams")
    messages_days: float = Field(30.0, gt=0, description="threads and their messages")
    every_sec: float = Field(3600.0, gt=0, description="how often retention runs")

"""A row of the activity: a call, or a proposed action with its decision and execution."""

import re

from pydantic import Field

from codeplane.kernel.call_record import CALL_FINISHED, CALL_REFUSED, CALL_REPLAYED, CALL_STARTED
from codeplane.kernel.clock import rfc3339
from codeplane.kernel.event import Event
from codeplane.kernel.event_log import PayloadCondition
from codeplane.kernel.failure import REFUSED, failure_in_words, is_failure
from codeplane.kernel.json import JsonObject, JsonValue, dumps
from codeplane.kernel.operation import Request, Result

_SHOWN = 160
# Words that have to be in an event's payload; a row can say "and 3 more" though its event does not.
_WORD, _MAX_WORDS, _GENERATED_TEXT = re.compile(r"[a-z]{3,}"), 8, "and more"
# Argument values that were not set.
_UNSET: tuple[JsonValue, ...] = (None, "", [], {})
# Calls with these outcomes are shown as the action that they proposed.
OF_ACTIONS = frozenset({"APPROVAL_PENDING", "REJECTED", "EXPIRED"})
CALLS = (CALL_STARTED, CALL_FINISHED, CALL_REPLAYED, CALL_REFUSED)
# Outcomes that stand for several, or are an action's.
_GROUPS = frozenset({"failed", "refused", "waiting", "running", "PENDING", "APPROVED", "REJECTED", "EXECUTED"})
ACTIONS = ("action.created", "action.approved", "action.rejected")
# Temporary outcomes of an action.
_TEMPORARY = frozenset({"waiting", "PENDING"})
_PHASES = {CALL_STARTED: "running", CALL_REFUSED: "refused", CALL_REPLAYED: "replayed"}


class CallFilter(Request):
    """Which calls to list; all by default."""

    operation: str | None = Field(None, max_length=100, description="as in git.push, or git.*")
    actor: str | None = Field(None, max_length=200, description="as in agent:claude-code, or agent:*")
    client: str | None = Field(None, max_length=200, description="letters of the client's name")
    outcome: str | None = Field(
        None, max_length=60, description="ok, failed, refused, running, waiting, or an error's name"
    )
    for_task_id: str | None = Field(None, max_length=100)
    in_session: str | None = Field(None, max_length=100)
    since_ns: int | None = Field(None, ge=0, description="not before this moment, in nanoseconds since 1970")
    text: str | None = Field(None, max_length=200, description="these letters in what was asked")
    dashboard: bool = Field(False, description="also what the dashboard itself reads")

    def outcome_conditions(self) -> tuple[PayloadCondition, ...]:
        """The outcome as conditions on events; actions are decided later."""
        if self.outcome == "failed":
            return (PayloadCondition(field="status", value="ok", other=True, or_has="failure_class"),)
        return (
            (PayloadCondition(field="status", value=self.outcome),)
            if self.outcome and self.outcome not in _GROUPS
            else ()
        )

    def words(self) -> tuple[str, ...]:
        """The words of the text that have to be in the event itself, not in generated text."""
        words = dict.fromkeys(_WORD.findall((self.text or "").lower()))
        return tuple(word for word in words if word not in _GENERATED_TEXT)[:_MAX_WORDS]

    def may_fit(self, event: Event, *, surface: str | None, client: str | None) -> bool:
        """Whether the row of an event could match, without building it: most events of a scan do not."""
        payload = event.payload
        name = str(payload.get("operation"))
        if not _matches_name(self.operation, name) or not _matches_name(self.actor, event.actor):
            return False
        if event.type in ACTIONS:
            return not self.outcome or self.outcome in _GROUPS or payload.get("status") in (None, self.outcome)
        surface, client = surface or _text(payload.get("surface")), client or _text(payload.get("client"))
        if not self.dashboard and is_own(name, surface, mutates=bool(payload.get("mutates"))):
            return False
        return (
            _matches_outcome(self.outcome, _status(event), _failure(event), phase=_PHASES.get(event.type, "done"))
            and (not self.client or self.client.lower() in (client or "").lower())
            and (
                not self.text
                or self.text.lower() in f"{name} {summarise_arguments(payload)} {_reason(payload) or ''}".lower()
            )
        )


class CallRow(Result):
    """A call in the activity; an action is one row from proposal to execution."""

    key: str
    position: int
    updated: int
    at: str
    at_ns: int
    operation: str
    actor: str
    status: str
    phase: str
    said: str
    mutates: bool = False
    duration_us: int | None = None
    client: str | None = None
    surface: str | None = None
    call_id: str | None = None
    task_id: str | None = None
    session_id: str | None = None
    action_id: str | None = None
    risk: str | None = None
    decided_by: str | None = None
    reason: str | None = None
    failure: str | None = Field(None, description="what it found though it was answered, such as red tests")
    files: int | None = None
    insertions: int | None = None
    deletions: int | None = None

    @property
    def failed(self) -> bool:
        """Whether it ended with an error, or did not achieve what was asked."""
        return self.phase != "refused" and is_failure(self.status, self.failure)

    def fits(self, wanted: CallFilter) -> bool:
        """Whether it matches a filter."""
        if not wanted.dashboard and is_own(self.operation, self.surface, mutates=self.mutates):
            return False
        if wanted.since_ns is not None and self.at_ns < wanted.since_ns:
            return False
        return (
            _matches_name(wanted.operation, self.operation)
            and _matches_name(wanted.actor, self.actor)
            and (not wanted.client or wanted.client.lower() in (self.client or "").lower())
            and _matches_outcome(wanted.outcome, self.status, self.failure, phase=self.phase)
            and (not wanted.for_task_id or wanted.for_task_id == self.task_id)
            and (not wanted.in_session or wanted.in_session == self.session_id)
            and (not wanted.text or wanted.text.lower() in f"{self.operation} {self.said} {self.reason or ''}".lower())
        )

    def has_left(self, wanted: CallFilter) -> bool:
        """Whether it is an action that matched the filter until now, so that a shown row has to be updated."""
        if self.key != self.action_id or wanted.outcome not in _TEMPORARY:
            return False
        return self.fits(wanted.model_copy(update={"outcome": None}))


def is_own(operation: str, surface: str | None, *, mutates: bool) -> bool:
    """Whether a call is a read of the dashboard itself."""
    return operation == "dashboard.link" or (surface == "web" and not mutates)


def row_from_event(event: Event, *, surface: str | None, client: str | None) -> CallRow:
    """The row of one event of a call."""
    payload, ids = event.payload, event.correlation
    stats = payload.get("diff_stats")
    changed: JsonObject = stats if isinstance(stats, dict) else {}
    phase = _PHASES.get(event.type, "done")
    return CallRow(
        key=ids.call_id or event.event_id,
        position=event.position,
        updated=event.position,
        at=rfc3339(event.at_ns),
        at_ns=event.at_ns,
        operation=str(payload.get("operation")),
        actor=event.actor,
        status=_status(event),
        phase=phase,
        said=summarise_arguments(payload),
        mutates=bool(payload.get("mutates")),
        duration_us=_number(payload.get("duration_us")),
        client=client or _text(payload.get("client")),
        surface=surface or _text(payload.get("surface")),
        call_id=ids.call_id,
        task_id=ids.task_id,
        session_id=ids.session_id,
        action_id=_text(payload.get("action_id")),
        reason=_reason(payload),
        failure=_failure(event),
        files=_number(changed.get("files_changed")),
        insertions=_number(changed.get("insertions")),
        deletions=_number(changed.get("deletions")),
    )


def summarise_arguments(payload: JsonObject) -> str:
    """Summarise a request: the arguments of a read, the paths of a mutation."""
    arguments, paths = payload.get("arguments"), payload.get("changed_paths")
    if isinstance(arguments, dict):
        set_arguments = {name: value for name, value in arguments.items() if value is not False and value not in _UNSET}
        return " ".join(f"{name}={_shorten(value)}" for name, value in set_arguments.items())[:_SHOWN]
    if isinstance(paths, list) and paths:
        more = f" and {len(paths) - 3} more" if len(paths) > 3 else ""
        return (", ".join(map(str, paths[:3])) + more)[:_SHOWN]
    return ""


def _shorten(value: JsonValue) -> str:
    return value[:80] if isinstance(value, str) else dumps(value)[:80]


def _reason(payload: JsonObject) -> str | None:
    error = payload.get("error")
    if isinstance(error, dict):
        return str(error.get("message") or "")[:300]
    return _text(payload.get("reason"))


def _text(value: JsonValue) -> str | None:
    return value if isinstance(value, str) else None


def _number(value: JsonValue) -> int | None:
    return value if isinstance(value, int) else None


def _matches_name(wanted: str | None, name: str) -> bool:
    if not wanted:
        return True
    return name.startswith(wanted[:-1]) if wanted.endswith("*") else name == wanted


def _status(event: Event) -> str:
    """The status of an event's call, as its row shows it."""
    phase = _PHASES.get(event.type)
    return phase if phase in ("running", "replayed") else str(event.payload.get("status"))


def _failure(event: Event) -> str | None:
    return failure_in_words(_text(event.payload.get("failure_class"))) if event.type == CALL_FINISHED else None


def _matches_outcome(wanted: str | None, status: str, failure: str | None, *, phase: str) -> bool:
    if not wanted:
        return True
    if wanted == "failed":
        return phase != "refused" and is_failure(status, failure)
    if wanted == "refused":
        return phase == "refused" or status in REFUSED
    if wanted == "waiting":
        return status == "PENDING"
    if wanted == "ok":
        return status == "ok" and failure is None
    return status == wanted

"""The one table of errors: every failure a caller can see is a class here."""

from collections.abc import Mapping
from typing import ClassVar

from codeplane.kernel.json import JsonObject, JsonValue

_MAX_MESSAGE = 4000


class CodePlaneError(Exception):
    """A failure with a name, a number, and the next step for its reader."""

    name: ClassVar[str]
    code: ClassVar[int]
    http: ClassVar[int]
    rpc: ClassVar[str]
    retryable: ClassVar[bool]
    default_hint: ClassVar[str]
    # Its code in the specification's own dialect of ACP, which has ten of them.
    acp: ClassVar[str]

    def __init_subclass__(
        cls,
        *,
        name: str,
        code: int,
        http: int,
        rpc: str,
        hint: str,
        retryable: bool = False,
        acp: str = "ERR_INTERNAL",
    ) -> None:
        cls.name, cls.code, cls.http, cls.rpc = name, code, http, rpc
        cls.default_hint, cls.retryable, cls.acp = hint, retryable, acp

    def __init__(
        self,
        message: str,
        *,
        hint: str | None = None,
        details: Mapping[str, JsonValue] | None = None,
        source: str = "codeplane",
    ) -> None:
        self.message = _printable(message, _MAX_MESSAGE)
        super().__init__(self.message)
        self.hint = hint or self.default_hint
        self.details: dict[str, JsonValue] = dict(details or {})
        self.source = source

    def to_wire(self) -> JsonObject:
        """The error as every surface sends it."""
        wire: JsonObject = {
            "code": self.code,
            "error": self.name,
            "message": self.message,
            "retryable": self.retryable,
            "hint": self.hint,
            "source": self.source,
            "details": self.details,
        }
        causes = self._causes()
        if causes:
            wire["causes"] = causes
        return wire

    def _causes(self) -> list[JsonValue]:
        chain: list[JsonValue] = []
        cause = self.__cause__
        while cause is not None and len(chain) < 8:
            kind = cause.name if isinstance(cause, CodePlaneError) else type(cause).__name__
            chain.append({"error": kind, "message": _printable(str(cause), 500)})
            cause = cause.__cause__
        return chain


def _printable(text: str, limit: int) -> str:
    """Text that every surface and the log can carry, whatever an exception had to say."""
    return text[:limit].encode("utf-8", "backslashreplace").decode()


class InvalidArgument(
    CodePlaneError,
    name="INVALID_ARGUMENT",
    code=1001,
    http=400,
    rpc="invalid_argument",
    hint="see the operation's parameters: cpl call operation.list name=OPERATION",
):
    """The arguments do not fit the operation."""


class UnknownOperation(
    CodePlaneError, name="UNKNOWN_OPERATION", code=1002, http=404, rpc="unimplemented", hint="list them: cpl call"
):
    """No operation has that name."""


class OperationGone(
    CodePlaneError,
    name="OPERATION_GONE",
    code=1020,
    http=410,
    rpc="unavailable",
    hint="list what there is now: cpl call; of a call that changes something, look at what it did",
):
    """An operation of another program was removed while, or just before, it ran."""


class SchemaRefused(
    CodePlaneError,
    name="SCHEMA_REFUSED",
    code=1021,
    http=422,
    rpc="invalid_argument",
    hint="declare a JSON Schema of an object, without recursion and remote references",
):
    """The JSON Schema of a declared operation is recursive, remote, too large or none."""


class MalformedRequest(
    CodePlaneError,
    name="MALFORMED_REQUEST",
    code=1003,
    http=400,
    rpc="invalid_argument",
    hint="send one JSON object, encoded as UTF-8",
):
    """The bytes are not a request at all."""


class TooLarge(
    CodePlaneError,
    name="TOO_LARGE",
    acp="ERR_TOO_LARGE",
    code=1004,
    http=413,
    rpc="resource_exhausted",
    hint="send less at once, or raise the limit named in details",
):
    """A body, payload or answer is over its limit."""


class HeadersTooLarge(
    CodePlaneError,
    name="HEADERS_TOO_LARGE",
    code=1011,
    http=431,
    rpc="resource_exhausted",
    hint="send fewer or shorter headers, or raise the limit named in details",
):
    """The head of a request is over its limit."""


class RequestTooSlow(
    CodePlaneError,
    name="REQUEST_TOO_SLOW",
    code=1012,
    http=408,
    rpc="deadline_exceeded",
    hint="send the whole request without a pause, or raise the limit named in details",
    retryable=True,
):
    """The head or the body of a request did not come in time."""


class CursorInvalid(
    CodePlaneError,
    name="CURSOR_INVALID",
    code=1005,
    http=400,
    rpc="invalid_argument",
    hint="start again without a cursor; cursors are opaque and belong to one operation and session",
):
    """A cursor that this server did not hand out, or handed out for something else."""


class CursorExpired(
    CodePlaneError,
    name="CURSOR_EXPIRED",
    code=1006,
    http=400,
    rpc="out_of_range",
    hint="start again without a cursor; cursors live for an hour, or as long as their session",
):
    """A cursor older than its lifetime."""


class DeadlineExceeded(
    CodePlaneError,
    name="DEADLINE_EXCEEDED",
    code=1007,
    http=504,
    rpc="deadline_exceeded",
    hint="ask for less, or give the call more time with timeout_sec",
    retryable=True,
):
    """The call ran longer than it was allowed to."""


class Cancelled(
    CodePlaneError,
    name="CANCELLED",
    acp="ERR_OP_CANCELED",
    code=1008,
    http=499,
    rpc="canceled",
    hint="call again if it is still wanted",
):
    """The caller, or the end of its connection, cancelled the call."""


class NotFound(
    CodePlaneError, name="NOT_FOUND", code=1009, http=404, rpc="not_found", hint="check the name; see: cpl status"
):
    """What was asked for does not exist."""


class OperationDisabled(
    CodePlaneError,
    name="OPERATION_DISABLED",
    code=1010,
    http=501,
    rpc="unimplemented",
    hint="the owner switches it on in .codeplane/config.yaml and starts the server again",
):
    """An operation that a setting switches off; details name the setting."""


class Interrupted(
    CodePlaneError,
    name="INTERRUPTED",
    code=1019,
    http=409,
    rpc="aborted",
    hint="nothing was changed: call again, with the same idempotency_key if there was one",
    retryable=True,
):
    """The server ended while the call ran, and nothing of it was done."""


class Unauthorized(
    CodePlaneError,
    name="UNAUTHORIZED",
    acp="ERR_UNAUTHORIZED",
    code=2001,
    http=401,
    rpc="unauthenticated",
    hint="send the owner's token as `Authorization: Bearer …`; cpl reads it from .codeplane/owner.token",
):
    """The caller is unknown."""


class CapabilityDenied(
    CodePlaneError,
    name="CAPABILITY_DENIED",
    acp="ERR_UNAUTHORIZED",
    code=2002,
    http=403,
    rpc="permission_denied",
    hint="ask for it: capability_request; a person decides with: cpl grants",
):
    """No grant of the caller covers this call."""


class PolicyDenied(
    CodePlaneError,
    name="POLICY_DENIED",
    acp="ERR_UNAUTHORIZED",
    code=2003,
    http=403,
    rpc="permission_denied",
    hint="see what the rules say of it: cpl policy explain OPERATION KEY=VALUE",
):
    """The rules say no, with the reasons in details."""


class PathDenied(
    CodePlaneError,
    name="PATH_DENIED",
    acp="ERR_PATH_DENIED",
    code=2004,
    http=403,
    rpc="permission_denied",
    hint="name a path inside the repository, outside .git and .codeplane",
):
    """A path outside the workspace, or one no operation may write."""


class OriginDenied(
    CodePlaneError,
    name="ORIGIN_DENIED",
    code=2005,
    http=403,
    rpc="permission_denied",
    hint="talk to 127.0.0.1 or localhost; the owner allows others with server.allowed_hosts and allowed_origins",
):
    """The Host or Origin header names somebody else: a page trying to reach a local server."""


class IdempotencyConflict(
    CodePlaneError,
    name="IDEMPOTENCY_CONFLICT",
    code=2006,
    http=409,
    rpc="already_exists",
    hint="use a new idempotency_key for a different request",
):
    """The key was used before with other arguments."""


class OutcomeUnknown(
    CodePlaneError,
    name="OUTCOME_UNKNOWN",
    code=2007,
    http=409,
    rpc="aborted",
    hint="look at the repository and at `cpl log`, then decide; a new idempotency_key runs it again",
):
    """The first call with this key was interrupted; running it again could do it twice."""


class ResultGone(
    CodePlaneError,
    name="RESULT_GONE",
    code=2008,
    http=410,
    rpc="data_loss",
    hint="the call was done; its result is no longer held. Read the present state instead",
):
    """The call with this key succeeded before, but its result was dropped from the bounded store."""


class ApprovalPending(
    CodePlaneError,
    name="APPROVAL_PENDING",
    acp="ERR_UNAUTHORIZED",
    code=2009,
    http=409,
    rpc="failed_precondition",
    hint="a person decides with: cpl approvals; then call again with the same arguments and this idempotency_key",
    retryable=True,
):
    """A person was asked and has not answered yet."""


class ApprovalRejected(
    CodePlaneError,
    name="REJECTED",
    code=2010,
    http=403,
    rpc="permission_denied",
    hint="do something else, or ask the person why; a new idempotency_key asks again",
):
    """A person rejected it."""


class ApprovalExpired(
    CodePlaneError,
    name="EXPIRED",
    code=2011,
    http=403,
    rpc="permission_denied",
    hint="a new idempotency_key asks again",
):
    """No answer came in time, or what was approved is no longer what would be done."""


class ApprovalNotFound(
    CodePlaneError,
    name="APPROVAL_NOT_FOUND",
    code=2012,
    http=404,
    rpc="not_found",
    hint="see those that there are: cpl approvals --all",
):
    """There is no such action."""


class PairingRefused(
    CodePlaneError,
    name="PAIRING_REFUSED",
    code=2013,
    http=403,
    rpc="permission_denied",
    hint="make a new code: cpl devices pair",
):
    """The pairing code is wrong, used or too old."""


class RateLimited(
    CodePlaneError,
    name="RATE_LIMITED",
    acp="ERR_RATE_LIMIT",
    code=2014,
    http=429,
    rpc="resource_exhausted",
    hint="wait as long as details say, then try again",
    retryable=True,
):
    """Too many tries in a short time."""


class DeviceNotFound(
    CodePlaneError,
    name="DEVICE_NOT_FOUND",
    code=2015,
    http=404,
    rpc="not_found",
    hint="see those that there are: cpl devices",
):
    """There is no such device."""


class GrantNotFound(
    CodePlaneError,
    name="GRANT_NOT_FOUND",
    code=2016,
    http=404,
    rpc="not_found",
    hint="see those that there are: cpl grants",
):
    """There is no such grant."""


class PolicyInvalid(
    CodePlaneError,
    name="POLICY_INVALID",
    code=2017,
    http=422,
    rpc="failed_precondition",
    hint="see what is wrong with: cpl policy check",
):
    """A policy cannot be used as it is written."""


class AddressDenied(
    CodePlaneError,
    name="ADDRESS_DENIED",
    code=2018,
    http=403,
    rpc="permission_denied",
    hint="name a public http or https address; the owner's lists are web.allow and web.deny",
):
    """The address is private, local, or on the owner's list of those that are not fetched."""


class FetchFailed(
    CodePlaneError,
    name="FETCH_FAILED",
    code=2019,
    http=502,
    rpc="unavailable",
    hint="look at the reason, then try again or elsewhere",
    retryable=True,
):
    """A page could not be fetched."""


class TokenExpired(
    CodePlaneError,
    name="TOKEN_EXPIRED",
    acp="ERR_UNAUTHORIZED",
    code=2020,
    http=401,
    rpc="unauthenticated",
    hint="get a new one: cpl devices pair, or cpl agents token",
):
    """The token was good once and is no longer."""


class ApprovalSettled(
    CodePlaneError,
    name="APPROVAL_SETTLED",
    code=2021,
    http=409,
    rpc="failed_precondition",
    hint="see how it was decided: cpl approvals show ID",
):
    """Somebody has decided that already."""


class WorkspaceNotFound(
    CodePlaneError,
    name="WORKSPACE_NOT_FOUND",
    code=3001,
    http=404,
    rpc="not_found",
    hint="run it inside a repository, or name one with --repo DIR",
):
    """There is no workspace here."""


class StorageReadOnly(
    CodePlaneError,
    name="STORAGE_READ_ONLY",
    code=3002,
    http=503,
    rpc="unavailable",
    hint="make .codeplane/ writable for this user, then: cpl up",
):
    """The ledger's folder cannot be written."""


class StorageFull(
    CodePlaneError,
    name="STORAGE_FULL",
    code=3003,
    http=507,
    rpc="resource_exhausted",
    hint="free space on the disk that holds .codeplane/, then call again; nothing was half-done",
    retryable=True,
):
    """The disk is full; what was acknowledged is safe, what was not is not there."""


class SchemaTooNew(
    CodePlaneError,
    name="SCHEMA_TOO_NEW",
    code=3004,
    http=503,
    rpc="failed_precondition",
    hint="upgrade CodePlane: pipx upgrade codeplane",
):
    """The files were written by a newer CodePlane; this one leaves them alone."""


class LedgerCorrupt(
    CodePlaneError,
    name="LEDGER_CORRUPT",
    code=3005,
    http=503,
    rpc="data_loss",
    hint="salvage what can be read, keeping the damaged file: cpl doctor --salvage",
):
    """The log on disk cannot be read."""


class StorageFailed(
    CodePlaneError,
    name="STORAGE_FAILED",
    code=3006,
    http=503,
    rpc="unavailable",
    hint="look at the cause; then: cpl doctor",
    retryable=True,
):
    """The log could not be written for a reason of the disk or the system."""


class ServerRunning(
    CodePlaneError,
    name="SERVER_RUNNING",
    code=3007,
    http=409,
    rpc="already_exists",
    hint="use the running one (cpl status), or end it first: cpl down",
):
    """Another process already serves this repository."""


class SharedLogUnavailable(
    CodePlaneError,
    name="SHARED_LOG_UNAVAILABLE",
    code=3011,
    http=503,
    rpc="unavailable",
    hint="see that what ledger.shared names can be reached, then call again with the same idempotency_key",
    retryable=True,
):
    """The log that several nodes share cannot be reached; whether it took what was last sent is not known."""


class SharedLogGap(
    CodePlaneError,
    name="SHARED_LOG_GAP",
    code=3012,
    http=503,
    rpc="out_of_range",
    hint="restart this node, which then starts from the newest snapshot: cpl down && cpl up",
):
    """The shared log no longer holds what this node has to apply next."""


class SharedLogMismatch(
    CodePlaneError,
    name="SHARED_LOG_MISMATCH",
    code=3013,
    http=503,
    rpc="failed_precondition",
    hint="correct ledger.shared, or move .codeplane/ledger.db aside to join with a new ledger",
):
    """This ledger and the shared log are not parts of one history."""


class ConfigInvalid(
    CodePlaneError,
    name="CONFIG_INVALID",
    code=3008,
    http=400,
    rpc="failed_precondition",
    hint="mend the file or variable named above; all settings: docs/reference/settings.md",
):
    """A setting is unknown or has an impossible value."""


class ServerUnreachable(
    CodePlaneError,
    name="SERVER_UNREACHABLE",
    code=3009,
    http=503,
    rpc="unavailable",
    hint="start it: cpl up",
    retryable=True,
):
    """No server answers for this repository."""


class BindRefused(
    CodePlaneError,
    name="BIND_REFUSED",
    code=3010,
    http=400,
    rpc="failed_precondition",
    hint="set server.host to 127.0.0.1 or ::1",
):
    """The address is not loopback, or cannot be bound."""


class IndexNotReady(
    CodePlaneError,
    name="INDEX_NOT_READY",
    code=4002,
    http=503,
    rpc="unavailable",
    hint="call again in a moment; cpl status shows how far it is",
    retryable=True,
):
    """The repository is still being read for the first time."""


class ArchiveRefused(
    CodePlaneError,
    name="ARCHIVE_REFUSED",
    code=4004,
    http=422,
    rpc="failed_precondition",
    hint="make a new one where the index is whole: cpl index export",
):
    """An index archive is damaged, newer than this CodePlane, made by another one, or of another repository."""


class RemoteFailed(
    CodePlaneError,
    name="REMOTE_FAILED",
    code=4010,
    http=502,
    rpc="unavailable",
    hint="try it yourself, since nobody is asked for passwords here: git ls-remote URL",
):
    """A git remote did not answer, refused, or has not what was asked for."""


class EmbedderFailed(
    CodePlaneError,
    name="EMBEDDER_FAILED",
    code=4003,
    http=502,
    rpc="unavailable",
    hint="look at the cause; without vectors, search with mode=literal",
    retryable=True,
):
    """The model that makes vectors is missing, does not answer, or answers with something else."""


class EditMismatch(
    CodePlaneError,
    name="EDIT_MISMATCH",
    code=5001,
    http=422,
    rpc="failed_precondition",
    hint="take the text from the answer as it stands now, with enough of it to be unique; nothing was written",
):
    """The text or lines to be replaced are not there, or are there more than once."""


class FileChanged(
    CodePlaneError,
    name="FILE_CHANGED",
    code=5002,
    http=409,
    rpc="aborted",
    hint="read the file again and decide anew; nothing was written",
):
    """A file is not as the caller, or the plan, expected it."""


class EditOverlap(
    CodePlaneError,
    name="EDIT_OVERLAP",
    code=5003,
    http=409,
    rpc="aborted",
    hint="call again when the other edit has ended; nothing was written",
    retryable=True,
):
    """Another mutation is at work on the same files."""


class CannotUndo(
    CodePlaneError,
    name="CANNOT_UNDO",
    code=5004,
    http=409,
    rpc="failed_precondition",
    hint="things moved on since; look at what is there now (git_diff, read_files) and edit it",
):
    """A mutation cannot be taken back or done again: things are not as it left them, or it is no longer kept."""


class NotText(
    CodePlaneError,
    name="NOT_TEXT",
    acp="ERR_ENCODING",
    code=5005,
    http=422,
    rpc="failed_precondition",
    hint="give the whole content, or delete and create it",
):
    """A file that is not text cannot be edited by lines or by text."""


class PlaceholderWritten(
    CodePlaneError,
    name="PLACEHOLDER_WRITTEN",
    code=5006,
    http=422,
    rpc="failed_precondition",
    hint="leave those lines as they are: replace others by old_text and new_text; code that is to hold this very word "
    "can put it together from two parts",
):
    """Text to be written holds what stands in answers for a secret; nothing was written."""


class NotGit(
    CodePlaneError,
    name="NOT_GIT",
    code=5010,
    http=409,
    rpc="failed_precondition",
    hint="run: git init",
):
    """The workspace is no git repository, or one without a work tree."""


class RefNotFound(
    CodePlaneError,
    name="REF_NOT_FOUND",
    code=5011,
    http=404,
    rpc="not_found",
    hint="see git_branches, git_tags, git_log",
):
    """No commit, branch, tag or stash has that name."""


class GitRefused(
    CodePlaneError,
    name="GIT_REFUSED",
    code=5012,
    http=422,
    rpc="failed_precondition",
    hint="see git's message above; git_status shows how things are",
):
    """Git or one of its hooks refused; the message quotes it."""


class GitBusy(
    CodePlaneError,
    name="GIT_BUSY",
    code=5013,
    http=409,
    rpc="failed_precondition",
    hint="finish or abort it first; git_status shows the state",
):
    """A merge, rebase, cherry-pick, revert or bisect is under way, or another git holds the lock."""


class NameTaken(
    CodePlaneError,
    name="NAME_TAKEN",
    code=5020,
    http=409,
    rpc="failed_precondition",
    hint="choose another name, or rename what has it first",
):
    """The new name means something else where the old one is used; the places are in details."""


class StillUsed(
    CodePlaneError,
    name="STILL_USED",
    code=5021,
    http=409,
    rpc="failed_precondition",
    hint="change these places first (details lists up to 50), or send force: true",
):
    """What should be deleted is still referred to."""


class PlanNotFound(
    CodePlaneError,
    name="PLAN_NOT_FOUND",
    code=5022,
    http=404,
    rpc="not_found",
    hint="plan again: a plan is gone once it is applied or cancelled, and after an hour (refactor.plan_minutes)",
):
    """No plan of a refactoring has that id."""


class NotRefactorable(
    CodePlaneError,
    name="NOT_REFACTORABLE",
    code=5023,
    http=422,
    rpc="failed_precondition",
    hint="name a symbol that this repository defines: path:line:column, or an id of search",
):
    """The symbol is not of this repository, is generated, or cannot be found by the text."""


class ScipRefused(
    CodePlaneError,
    name="SCIP_REFUSED",
    code=5024,
    http=422,
    rpc="failed_precondition",
    hint="make the index again over the present files, to its end",
):
    """A SCIP index does not fit the files it speaks of."""


class TaskBudgetExceeded(
    CodePlaneError,
    name="TASK_BUDGET_EXCEEDED",
    code=6001,
    http=429,
    rpc="resource_exhausted",
    hint="session_configure (limits_delta) asks a person for more; or session_close and start a new session",
):
    """The task used up its mutations, test runs or time."""


class WorkNotFound(
    CodePlaneError,
    name="WORK_NOT_FOUND",
    code=6010,
    http=404,
    rpc="not_found",
    hint="work_list shows which there are",
):
    """There is no such work item, or it is not the caller's."""


class WorkEnded(
    CodePlaneError,
    name="WORK_ENDED",
    code=6011,
    http=409,
    rpc="failed_precondition",
    hint="work_show says how it ended; start it again with work_start",
):
    """The work item has ended, so nothing can be changed about it."""


class ThreadNotFound(
    CodePlaneError,
    name="THREAD_NOT_FOUND",
    code=6020,
    http=404,
    rpc="not_found",
    hint="thread_list shows which there are",
):
    """There is no such thread, or it is not the caller's."""


class TurnNotFound(
    CodePlaneError,
    name="TURN_NOT_FOUND",
    code=6021,
    http=404,
    rpc="not_found",
    hint="thread_show names the turns of its messages",
):
    """There is no such turn, or it is not in a thread of the caller's."""


class ThreadBusy(
    CodePlaneError,
    name="THREAD_BUSY",
    code=6022,
    http=409,
    rpc="failed_precondition",
    hint="wait for the turn to end, or send with queue_mode QUEUE_AFTER_TURN or INTERRUPT_AFTER_CURRENT_TOOL",
    retryable=True,
):
    """A turn of the thread has not ended yet, or too many wait already."""


class FailedModelOutput(
    CodePlaneError,
    name="FAILED_MODEL_OUTPUT",
    code=6023,
    http=502,
    rpc="internal",
    hint="send the message again, or name another model with it",
    retryable=True,
):
    """What the model answered could not be used, also after repair and fallback."""


class TurnBudgetExceeded(
    CodePlaneError,
    name="TURN_BUDGET_EXCEEDED",
    code=6024,
    http=429,
    rpc="resource_exhausted",
    hint="send a further message to go on, or ask with a larger requested_budget",
):
    """A turn has used up its steps or tokens."""


class ProviderUnavailable(
    CodePlaneError,
    name="PROVIDER_UNAVAILABLE",
    acp="ERR_MODEL_UNAVAILABLE",
    code=6030,
    http=503,
    rpc="unavailable",
    hint="call again later; see what is configured and whether it answers: cpl models test",
    retryable=True,
):
    """No provider of models answered to the end, after every retry and fallback."""


class ProviderDenied(
    CodePlaneError,
    name="PROVIDER_DENIED",
    acp="ERR_EXTERNAL_LLM_DISABLED",
    code=6031,
    http=403,
    rpc="permission_denied",
    hint="see which models may be asked: cpl models; the owner's lists are models.providers and models.allow",
):
    """The model is not on the owner's list, or would be asked on another machine, which the owner does not allow."""


class ProviderRejected(
    CodePlaneError,
    name="PROVIDER_REJECTED",
    code=6032,
    http=502,
    rpc="failed_precondition",
    hint="see what is wrong with its key, address or model: cpl models test",
):
    """The provider refused the request for good: its key, its model or the request itself."""


class ModelCeilingReached(
    CodePlaneError,
    name="MODEL_CEILING_REACHED",
    code=6033,
    http=429,
    rpc="resource_exhausted",
    hint="the owner raises the ceiling named in details in their settings; see what was used: cpl models",
):
    """What models may cost in this turn, thread or day is used up."""


class JobNotFound(
    CodePlaneError,
    name="JOB_NOT_FOUND",
    code=6040,
    http=404,
    rpc="not_found",
    hint="job_list shows which there are",
):
    """There is no such job, or it is not the caller's."""


class JobLimitReached(
    CodePlaneError,
    name="JOB_LIMIT_REACHED",
    code=6041,
    http=429,
    rpc="resource_exhausted",
    hint="let the jobs that there are do it; the owner's settings are jobs.max_depth and jobs.max_spawned",
):
    """A job or turn may not start further jobs: they would be too deep or too many."""


class ArtifactNotFound(
    CodePlaneError,
    name="ARTIFACT_NOT_FOUND",
    code=6100,
    http=404,
    rpc="not_found",
    hint="see which there are: artifact_list",
):
    """No artifact that the caller may see has that id, or its body is gone."""


class SkillNotFound(
    CodePlaneError,
    name="SKILL_NOT_FOUND",
    code=6101,
    http=404,
    rpc="not_found",
    hint="see which there are: skill_list",
):
    """No skill has that name, or its folder cannot be used."""


class SkillNotTrusted(
    CodePlaneError,
    name="SKILL_NOT_TRUSTED",
    code=6102,
    http=403,
    rpc="permission_denied",
    hint="the owner reads it, then: cpl skills trust",
):
    """A skill of the repository that the owner has not looked at as it is now."""


class ProposalNotFound(
    CodePlaneError,
    name="PROPOSAL_NOT_FOUND",
    code=6103,
    http=404,
    rpc="not_found",
    hint="see which there are: proposal_list",
):
    """No proposal that the caller may see has that id, or it was decided already."""


class DeferredCallNotFound(
    CodePlaneError,
    name="DEFERRED_CALL_NOT_FOUND",
    code=6104,
    http=404,
    rpc="not_found",
    hint="make the call again; a task is its caller's own, and is kept for a few days",
):
    """No call that goes on after its answer has that id, or it is not the caller's, or it is too old."""


class JobTreeGone(
    CodePlaneError,
    name="JOB_TREE_GONE",
    code=6042,
    http=410,
    rpc="failed_precondition",
    hint="job_show says whether its changes were applied or discarded; create the job again for new ones",
):
    """A job has no work tree (any more): it changes no files, has not started, or the tree was removed."""


class JobUnfinished(
    CodePlaneError,
    name="JOB_UNFINISHED",
    code=6044,
    http=409,
    rpc="failed_precondition",
    hint="wait until it has ended, or end it: job_cancel",
    retryable=True,
):
    """The job has not ended, so what it changed may still change."""


class JobConflict(
    CodePlaneError,
    name="JOB_CONFLICT",
    code=6043,
    http=409,
    rpc="aborted",
    hint="put the files named in details back as they were and apply again, or take the diff over by hand: job_diff",
):
    """The checkout has changed where a job changed it too, so nothing was applied."""


class ScheduleNotFound(
    CodePlaneError,
    name="SCHEDULE_NOT_FOUND",
    code=6060,
    http=404,
    rpc="not_found",
    hint="schedule_list shows which there are",
):
    """There is no such schedule, or it is not the caller's."""


class ScheduleLimitReached(
    CodePlaneError,
    name="SCHEDULE_LIMIT_REACHED",
    code=6061,
    http=429,
    rpc="resource_exhausted",
    hint="delete one with schedule_delete, or raise schedules.max_schedules",
):
    """There are as many schedules as the settings allow."""


class ScheduleBusy(
    CodePlaneError,
    name="SCHEDULE_BUSY",
    code=6062,
    http=409,
    rpc="aborted",
    retryable=True,
    hint="wait until the run before has ended, or cancel it",
):
    """The run before has not ended, and the schedule's runs do not overlap."""


class ServiceManagerMissing(
    CodePlaneError,
    name="SERVICE_MANAGER_MISSING",
    code=6063,
    http=501,
    rpc="unimplemented",
    hint="start the server by other means after a reboot, as with cron: @reboot cpl up --detach --repo PATH",
):
    """No systemd of this account can be reached that would start the server."""


class SessionNotFound(
    CodePlaneError,
    name="SESSION_NOT_FOUND",
    code=6002,
    http=404,
    rpc="not_found",
    hint="leave session_id out to get a session of your own, or make one with session_create",
):
    """No session has that id."""


class SessionClosed(
    CodePlaneError,
    name="SESSION_CLOSED",
    code=6003,
    http=409,
    rpc="failed_precondition",
    hint="make a new one with session_create; closed tasks are never reopened by themselves",
):
    """The session has ended."""


class TestRunnerNotFound(
    CodePlaneError,
    name="TEST_RUNNER_NOT_FOUND",
    code=7001,
    http=422,
    rpc="failed_precondition",
    hint="install the runner where the repository's own tools are, or name another under tests.runners",
):
    """The tests need a program that is not installed."""

    __test__ = False


class TestRunNotFound(
    CodePlaneError, name="TEST_RUN_NOT_FOUND", code=7002, http=404, rpc="not_found", hint="start one with test_run"
):
    """No test run has that id, or it is no longer kept."""

    __test__ = False


class SandboxMissing(
    CodePlaneError,
    name="SANDBOX_MISSING",
    code=7003,
    http=503,
    rpc="failed_precondition",
    hint="install bubblewrap, or let the owner set tests.sandbox: off in .codeplane/config.yaml",
):
    """The repository's code would run without a sandbox, which is not allowed."""


class TestRunnerFailed(
    CodePlaneError,
    name="TEST_RUNNER_FAILED",
    code=7004,
    http=422,
    rpc="failed_precondition",
    hint="see what it printed: test_output",
):
    """The test runner is there, but did not start, so that no test ran."""

    __test__ = False


class ToolServerUnavailable(
    CodePlaneError,
    name="TOOL_SERVER_UNAVAILABLE",
    code=6080,
    http=503,
    rpc="unavailable",
    hint="see what is wrong with the server: cpl tools; then try it: cpl tools test NAME",
    retryable=True,
):
    """The server of an outside tool is not connected, or ended during the call."""


class ToolTimeout(
    CodePlaneError,
    name="TOOL_TIMEOUT",
    code=6081,
    http=504,
    rpc="deadline_exceeded",
    hint="look at what it did before calling again; the owner allows more time with timeout_sec of the server",
):
    """An outside tool did not answer in time; what it did is not known."""


class ToolAnswerRefused(
    CodePlaneError,
    name="TOOL_ANSWER_REFUSED",
    code=6082,
    http=502,
    rpc="internal",
    hint="the tool did not answer as its protocol says; look at what it did before calling again",
):
    """The answer of an outside tool was no answer, too large, or a question that is not taken."""


class ToolSignInNeeded(
    CodePlaneError,
    name="TOOL_SIGN_IN_NEEDED",
    code=6083,
    http=401,
    rpc="failed_precondition",
    hint="the owner signs in: cpl tools login NAME",
):
    """The server of an outside tool wants a token that it has not got, or no longer takes."""


class ExploreNotFound(
    CodePlaneError,
    name="EXPLORE_NOT_FOUND",
    code=6110,
    http=404,
    rpc="not_found",
    hint="see which there are: cpl explore --list",
):
    """No exploration that the caller may see has that id."""


class OpCanceled(
    CodePlaneError,
    name="OP_CANCELED",
    acp="ERR_OP_CANCELED",
    code=6111,
    http=409,
    rpc="aborted",
    hint="start the exploration again, or ask for it directly",
):
    """An operation of an exploration was dropped before it started."""


class ExploreNetworkDenied(
    CodePlaneError,
    name="EXPLORE_NETWORK_DENIED",
    code=6112,
    http=403,
    rpc="permission_denied",
    hint="send policy.network=true to let it clone",
):
    """An exploration is to clone a repository, and its policy keeps it from the network."""


class ExploreInterrupted(
    CodePlaneError,
    name="EXPLORE_INTERRUPTED",
    code=6113,
    http=409,
    rpc="aborted",
    hint="go on from what it found: cpl explore --resume ID",
):
    """The server ended while an exploration ran."""


class OutsideAgentUnknown(
    CodePlaneError,
    name="OUTSIDE_AGENT_UNKNOWN",
    code=6130,
    http=404,
    rpc="not_found",
    hint="cpl agents acp shows which there are; add one: cpl agents add NAME",
):
    """The settings name no such outside agent, or have it disabled."""


class OutsideAgentFailed(
    CodePlaneError,
    name="OUTSIDE_AGENT_FAILED",
    code=6131,
    http=502,
    rpc="unavailable",
    hint="see what is wrong with it: cpl agents test NAME; what it changed waits in its work tree: thread_diff",
):
    """An outside agent did not come up, ended, or answered with an error."""


class OutsideAgentRefused(
    CodePlaneError,
    name="OUTSIDE_AGENT_REFUSED",
    code=6132,
    http=502,
    rpc="internal",
    hint="it did not behave as its protocol says, and was ended; look at what it changed: thread_diff",
):
    """An outside agent sent what cannot be taken: no messages, too large ones, too many, or the same question again."""


class OutsideAgentTimeout(
    CodePlaneError,
    name="OUTSIDE_AGENT_TIMEOUT",
    code=6133,
    http=504,
    rpc="deadline_exceeded",
    hint="look at what it changed: thread_diff; agents.start_sec, silence_sec and turn_minutes bound its time",
):
    """An outside agent was silent, or worked, for longer than the settings allow, and was ended."""


class OutsideAgentSignIn(
    CodePlaneError,
    name="OUTSIDE_AGENT_SIGN_IN",
    code=6134,
    http=401,
    rpc="failed_precondition",
    hint="sign in with the agent's own program, then show it that with `home` or `env` of its settings",
):
    """An outside agent wants its person to sign in first."""


class ThreadTreeGone(
    CodePlaneError,
    name="THREAD_TREE_GONE",
    code=6135,
    http=409,
    rpc="failed_precondition",
    hint="thread_show says who runs it; only threads of outside agents have a work tree",
):
    """The thread has no work tree: no outside agent has worked in it, or what it did was discarded."""


class SequenceConflict(
    CodePlaneError,
    name="SEQUENCE_CONFLICT",
    code=8001,
    http=409,
    rpc="aborted",
    hint="read the stream again and decide anew",
    retryable=True,
):
    """The stream moved on since it was read."""


class StreamGap(
    CodePlaneError,
    name="STREAM_GAP",
    code=8002,
    http=410,
    rpc="out_of_range",
    hint="read the present state, then watch from the first sequence named in details",
):
    """Events asked for were dropped by retention."""


class Overloaded(
    CodePlaneError,
    name="OVERLOADED",
    acp="ERR_RATE_LIMIT",
    code=8003,
    http=503,
    rpc="resource_exhausted",
    hint="call again in a moment",
    retryable=True,
):
    """A queue is full."""


class ShuttingDown(
    CodePlaneError,
    name="SHUTTING_DOWN",
    code=8004,
    http=503,
    rpc="unavailable",
    hint="reconnect when the server is back: cpl up",
    retryable=True,
):
    """The server is ending and takes no new calls."""


class Internal(
    CodePlaneError,
    name="INTERNAL",
    code=9001,
    http=500,
    rpc="internal",
    hint="a bug in CodePlane: please report it with the output of `cpl doctor --logs`",
):
    """Something broke inside CodePlane."""


class ContentRefused(
    CodePlaneError,
    name="CONTENT_REFUSED",
    code=6170,
    http=415,
    rpc="invalid_argument",
    hint="send text, links to files, or files of text: promptCapabilities says what is taken",
):
    """A prompt holds a kind of content that nothing here reads."""


class NotInitialized(
    CodePlaneError,
    name="NOT_INITIALIZED",
    code=6171,
    http=409,
    rpc="failed_precondition",
    hint="send `initialize` first, once on each connection",
):
    """A request came before the protocol's handshake, or the handshake came twice."""


class VersionMismatch(
    CodePlaneError,
    name="VERSION_MISMATCH",
    acp="ERR_VERSION_MISMATCH",
    code=6172,
    http=400,
    rpc="invalid_argument",
    hint="speak 0.2.1, or version 1 of the public protocol (protocolVersion)",
):
    """A client of the specification's dialect of ACP speaks another version of it."""


ERRORS: tuple[type[CodePlaneError], ...] = tuple(sorted(CodePlaneError.__subclasses__(), key=lambda kind: kind.code))

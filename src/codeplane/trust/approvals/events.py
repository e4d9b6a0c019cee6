"""The events of actions and of remembered answers."""

from dataclasses import replace

from codeplane.kernel.actor import Origin
from codeplane.kernel.call import Call
from codeplane.kernel.call_record import action_stream
from codeplane.kernel.clock import SECOND_NS, Clock
from codeplane.kernel.config import ApprovalsConfig
from codeplane.kernel.errors import InvalidArgument, TooLarge
from codeplane.kernel.event import Correlation, Draft, Source
from codeplane.kernel.ids import derived_event_id, new_id
from codeplane.kernel.invisible_text import escape_invisible
from codeplane.kernel.json import JsonObject
from codeplane.kernel.operation import Risk
from codeplane.kernel.plural import ARE, plural
from codeplane.kernel.ports import Question, Verdict
from codeplane.kernel.redaction import Redactor
from codeplane.trust.approvals.action import REMEMBERED_AS, Action, describe_coverage, kind_of, preview_hash
from codeplane.trust.approvals.remembered_answer import FORGOTTEN, REMEMBERED, STREAM, RememberedAnswer
from codeplane.trust.approvals.table import APPROVED, CREATED, EXPIRING
from codeplane.trust.decision_record import decision_draft

_MAX_SUMMARY = 2000
_MAX_BODY = 65_536
_MAX_REASONS = 2000
_MINUTE_NS = 60 * SECOND_NS
_DAY_NS = 86_400 * SECOND_NS


def reasons_of(question: Question) -> str:
    """Why a person is asked, as recorded."""
    return "; ".join(question.decision.reasons)[:_MAX_REASONS]


class ApprovalEvents:
    """Builds the events of actions, redacted for the person who reads them."""

    def __init__(self, *, clock: Clock, config: ApprovalsConfig, redactor: Redactor) -> None:
        self._clock = clock
        self._config = config
        self._redactor = redactor

    def decision_event(self, question: Question) -> Draft:
        """The event that the policy requires approval."""
        return decision_draft(question.call, question.assessment, replace(question.decision, verdict=Verdict.ASK))

    def creation_event(self, action_id: str, question: Question, remembered: str | None) -> Draft:
        """The event of a new action."""
        call, preview = question.call, question.preview
        summary, body = self._for_person(preview.summary), self._for_person(preview.body)
        if len(body) > _MAX_BODY:
            if question.assessment.risk is Risk.HIGH:
                raise TooLarge(f"a person cannot be shown all of it: {len(body)} characters", hint="put it into a file")
            body = f"{body[:_MAX_BODY]}\n… {plural(len(body) - _MAX_BODY, 'more character', verbs=ARE)} not shown"
        payload: JsonObject = {
            "action_id": action_id,
            "operation": call.operation.name,
            "tool": call.operation.tool,
            "actor_kind": call.actor.kind.value,
            "actor_id": call.actor.actor_id,
            "owner_id": call.actor.owner_id,
            "surface": call.caller.surface,
            "client": call.caller.client,
            "risk": question.assessment.risk.name,
            "identity": question.call.identity,
            "idempotency_key": call.idempotency_key,
            "arguments_hash": question.arguments_hash,
            "preview_hash": preview_hash(question),
            "kind": kind_of(question),
            "covers": _truncate(escape_invisible(self._redactor.text(describe_coverage(question)))),
            "summary": summary[:_MAX_SUMMARY],
            "body": body,
            "reasons": reasons_of(question),
            "person_only": question.decision.person_only,
            "expires_ns": self._clock.now_ns() + int(self._config.expires_minutes * _MINUTE_NS),
            **({"justification": justification} if (justification := self._justification(call)) else {}),
            **({"origin": call.caller.origin.to_json()} if call.caller.origin is not None else {}),
            # A person is not notified of an action that a remembered answer settles.
            **({"remembered": remembered} if remembered is not None else {}),
        }
        return self._draft(action_id, CREATED, payload, call.correlation, actor=str(call.actor))

    def _justification(self, call: Call) -> str:
        """Why the caller says it wants this."""
        text = getattr(call.request, "justification", "")
        return escape_invisible(self._redactor.text(text))[:_MAX_REASONS] if isinstance(text, str) else ""

    def _for_person(self, text: str) -> str:
        """The text for a person: only secrets are left out, and invisible characters are escaped."""
        shown = self._redactor.plainly(text)
        if shown is None:
            raise InvalidArgument(
                "it holds what looks like a secret, which cannot be left out without hiding more from the person",
                hint="read the secret from a file or a variable instead of writing it out",
            )
        return escape_invisible(shown)

    def remembered_approval_event(self, action_id: str, answer: RememberedAnswer, ids: Correlation) -> Draft:
        """The approval by a remembered answer."""
        payload: JsonObject = {
            "action_id": action_id,
            "by": answer.by,
            "reason": REMEMBERED_AS + answer.answer_id.removeprefix("ans_"),
        }
        return self._draft(action_id, APPROVED, payload, ids, actor=answer.by)

    def settlement_event(self, action: Action, kind: str, by: str, reason: str) -> Draft:
        """The decision on an action."""
        payload: JsonObject = {**action_ids(action), "by": by, "reason": self._redactor.text(reason)[:_MAX_REASONS]}
        return self._draft(action.action_id, kind, payload, correlation_of(action), actor=by)

    def remembered_answer_event(self, action: Action, by: str, *, task_id: str | None) -> Draft:
        """The event of a remembered answer."""
        payload: JsonObject = {
            "answer_id": new_id("ans"),
            "actor": str(action.actor),
            "operation": action.operation,
            "kind": action.kind,
            "task_id": task_id,
            "summary": action.summary,
            "covers": action.covers,
            "by": by,
            "expires_ns": self._clock.now_ns() + int(self._config.trust_days * _DAY_NS),
        }
        return Draft(stream=STREAM, type=REMEMBERED, payload=payload, actor=by, correlation=correlation_of(action))

    @staticmethod
    def _draft(action_id: str, kind: str, payload: JsonObject, ids: Correlation, *, actor: str) -> Draft:
        return Draft(
            stream=action_stream(action_id),
            type=kind,
            payload=payload,
            actor=actor,
            source=Source.POLICY_ENGINE,
            correlation=ids,
        )


def forget_event(answer_id: str, by: str) -> Draft:
    """The event that takes a remembered answer back."""
    payload: JsonObject = {"answer_id": answer_id, "by": by}
    return Draft(stream=STREAM, type=FORGOTTEN, payload=payload, actor=by)


def expiring_event(action: Action) -> Draft:
    """The reminder of an action that is about to expire."""
    payload: JsonObject = {**action_ids(action), "summary": action.summary, "expires_ns": action.expires_ns}
    return Draft(
        stream="notification",
        type=EXPIRING,
        payload=payload,
        correlation=correlation_of(action),
        event_id=derived_event_id("action-expiring", action.action_id),
    )


def action_ids(action: Action) -> JsonObject:
    """The fields that identify an action in payloads."""
    return {"action_id": action.action_id, "operation": action.operation}


def correlation_of(action: Action) -> Correlation:
    """The correlation ids of an action."""
    origin = action.origin or Origin()
    return Correlation(
        session_id=action.session_id,
        task_id=action.task_id,
        call_id=action.call_id,
        thread_id=origin.thread_id,
        turn_id=origin.turn_id,
        job_id=origin.job_id,
        work_id=origin.work_id,
    )


def _truncate(text: str) -> str:
    return (
        text
        if len(text) <= _MAX_SUMMARY
        else f"{text[:_MAX_SUMMARY]} … and {plural(len(text) - _MAX_SUMMARY, 'more character')}"
    )

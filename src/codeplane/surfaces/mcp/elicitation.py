"""Elicitation: asking the person at an MCP client, within the call or in its next round."""

import json

import mcp_types as types
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from codeplane.kernel.actor import Answer, AskPerson
from codeplane.kernel.envelope import Outcome
from codeplane.kernel.errors import ApprovalPending
from codeplane.kernel.ids import digest
from codeplane.kernel.json import JsonObject, dumps
from codeplane.surfaces.mcp.caller import Context

_QUESTION = "approval"
_SCHEMA: JsonObject = {
    "type": "object",
    "properties": {
        "decision": {
            "type": "string",
            "title": "Decision",
            "enum": [answer.value for answer in Answer],
            "description": "approve: this once; reject: do not run it",
        }
    },
    "required": ["decision"],
}


class LastRound:
    """Answers a question with what the client brought back for it; one that it was not shown stays unanswered."""

    def __init__(self, params: types.CallToolRequestParams) -> None:
        state = json.loads(params.request_state) if params.request_state is not None else {}
        self._shown = state.get("question")
        self._result = (params.input_responses or {}).get(_QUESTION) if state else None
        self.unanswered: str | None = None

    async def __call__(self, question: str) -> Answer | None:
        if self._shown is None:
            self.unanswered = question
        # The arguments come from the client again, and may be others than those that its person was asked about.
        if self._shown != digest(question.encode()) or not isinstance(self._result, types.ElicitResult):
            return None
        return decision_of(self._result)


def person_asker(ctx: Context, params: types.CallToolRequestParams) -> AskPerson | None:
    """Return how to ask the person at this client; None if it cannot show questions."""
    if not shows_forms(ctx):
        return None
    if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
        return LastRound(params)

    async def ask(question: str) -> Answer | None:
        result = await ctx.session.elicit_form(question, _SCHEMA, related_request_id=ctx.request_id)
        return decision_of(result)

    return ask if ctx.session.can_send_request else None


def input_required(asked: AskPerson | None, outcome: Outcome) -> types.InputRequiredResult | None:
    """Return the question for the client's next round, if the call put one that has no answer yet."""
    question = asked.unanswered if isinstance(asked, LastRound) else None
    is_over = outcome.error is not None and not isinstance(outcome.error, ApprovalPending)
    if question is None or is_over:
        return None
    state: JsonObject = {"question": digest(question.encode())}
    if outcome.error is not None:
        state["idempotency_key"] = outcome.error.details["idempotency_key"]
    return types.InputRequiredResult(
        input_requests={_QUESTION: types.ElicitRequest(params=approval_form(question))}, request_state=dumps(state)
    )


def approval_form(question: str) -> types.ElicitRequestFormParams:
    """Return the form that asks a person to approve or reject."""
    return types.ElicitRequestFormParams(message=question, requested_schema=_SCHEMA)


def resumed_arguments(params: types.CallToolRequestParams) -> JsonObject:
    """Return the arguments of a call, in its second round with the first round's idempotency key."""
    arguments: JsonObject = dict(params.arguments or {})
    if params.request_state is not None:
        # Sealed by the server's own boundary: what comes back is what was sent.
        state = json.loads(params.request_state)
        arguments |= {name: state[name] for name in ("idempotency_key",) if name in state}
    return arguments


def decision_of(result: types.ElicitResult) -> Answer | None:
    """Return what an answer says; None when it says neither yes nor no."""
    if result.action == "decline":
        return Answer.REJECT
    decision = (result.content or {}).get("decision") if result.action == "accept" else None
    return Answer(decision) if decision in set(Answer) else None


def shows_forms(ctx: Context) -> bool:
    """Return whether the client shows forms to its person."""
    capabilities = ctx.session.client_capabilities
    elicitation = capabilities.elicitation if capabilities is not None else None
    return elicitation is not None and (elicitation.form is not None or elicitation.url is None)

"""Keeps secrets out of results and errors before they reach an agent."""

from codeplane.kernel.actor import Actor
from codeplane.kernel.call import LEFT_OUT, Call
from codeplane.kernel.errors import ApprovalPending, CodePlaneError
from codeplane.kernel.json import dumps
from codeplane.kernel.operation import Result
from codeplane.kernel.redaction import Redactor
from codeplane.kernel.secret_matcher import Spans


class ResultRedaction:
    """Redacts for agents what people may read, and warns the caller when it did."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor

    def result(self, call: Call, result: Result) -> tuple[Result, str | None]:
        """Return the result as its caller may see it, with its JSON where that had to be made."""
        if result.secret or call.actor.is_person:
            return result, None
        redactor = self._redactor
        if redactor.is_clean(encoded := result.model_dump_json()):
            return result, encoded
        redacted = type(result).model_validate(redactor.json(result.model_dump(mode="json"), assignments=False))
        differs = redacted != result if call.caller.reads_structure else redacted.text() != result.text()
        if differs and LEFT_OUT not in call.warnings:
            call.warn(LEFT_OUT)
        return redacted, None

    def text(self, actor: Actor, text: str) -> str:
        """Return text beside an answer, such as a warning, as the actor may see it."""
        return text if actor.is_person else self._redactor.text(text, assignments=False)

    def secrets_in(self, actor: Actor, data: bytes) -> Spans:
        """The spans of bytes that the actor may not see."""
        return [] if actor.is_person else self._redactor.spans(data, assignments=False)

    def margin(self, actor: Actor) -> int:
        """The number of bytes around a part that are needed to find every secret that overlaps it."""
        return 0 if actor.is_person else self._redactor.margin

    def error(self, actor: Actor, error: CodePlaneError) -> None:
        """Redact an error in place: it may quote a file or a name."""
        if actor.is_person:
            return
        redactor = self._redactor
        if redactor.is_clean(dumps(error.to_wire())):
            return
        question = error.details.get("question") if isinstance(error, ApprovalPending) else None
        error.message = redactor.text(error.message, assignments=False)
        error.hint = redactor.text(error.hint, assignments=False)
        details = redactor.json(error.details, assignments=False)
        error.details = details if isinstance(details, dict) else {}
        if question is not None and error.details.get("question") != question:
            # A person decides by the full text, or not in this client.
            del error.details["question"]
        # The cause would say it again in its own words.
        error.__cause__ = None

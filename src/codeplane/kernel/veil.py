"""What its caller sees of an answer: nothing that looks like a secret goes to a model."""

from codeplane.kernel.actor import Actor
from codeplane.kernel.call import LEFT_OUT
from codeplane.kernel.errors import ApprovalPending, CodePlaneError
from codeplane.kernel.json import dumps
from codeplane.kernel.operation import Result
from codeplane.kernel.passage import Passage
from codeplane.kernel.redaction import Redactor
from codeplane.kernel.secret_values import Spans


class Veil:
    """Leaves secrets out of results and errors, and says so."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor

    def result(self, passage: Passage, result: Result) -> Result:
        """The result as its caller sees it: nothing that looks like a secret goes to a model."""
        if result.secret or passage.actor.is_person:
            return result
        redactor = self._redactor
        if redactor.is_clean(result.model_dump_json()):
            return result
        shown = redactor.json(result.model_dump(mode="json"), assignments=False)
        seen = type(result).model_validate(shown)
        differs = seen != result if passage.caller.reads_structure else seen.text() != result.text()
        if differs and passage.call is not None and LEFT_OUT not in passage.call.warnings:
            passage.call.warn(LEFT_OUT)
        return seen

    def text(self, actor: Actor, text: str) -> str:
        """What is told beside an answer, as its caller sees it."""
        return text if actor.is_person else self._redactor.text(text, assignments=False)

    def secrets_in(self, actor: Actor, data: bytes) -> Spans:
        """Where bytes hold what their caller does not see."""
        return [] if actor.is_person else self._redactor.spans(data, assignments=False)

    def margin(self, actor: Actor) -> int:
        """How many bytes around a part have to be known to leave out every secret that reaches into it."""
        return 0 if actor.is_person else self._redactor.margin

    def error(self, passage: Passage, error: CodePlaneError) -> None:
        """The same for an error, which may quote a file or a name."""
        if passage.actor.is_person:
            return
        redactor = self._redactor
        if redactor.is_clean(dumps(error.to_wire())):
            return
        question = error.details.get("question") if isinstance(error, ApprovalPending) else None
        error.message = redactor.text(error.message, assignments=False)
        error.hint = redactor.text(error.hint, assignments=False)
        shown = redactor.json(error.details, assignments=False)
        error.details = shown if isinstance(shown, dict) else {}
        if question is not None and error.details.get("question") != question:
            # What a person decides by is shown as it is, or not in the client.
            del error.details["question"]
        # Whatever was the cause says it again in words of its own.
        error.__cause__ = None

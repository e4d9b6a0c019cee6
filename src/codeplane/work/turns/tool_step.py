"""One tool call of a turn, through the door."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from codeplane.kernel.actor import Caller
from codeplane.kernel.arguments import parse
from codeplane.kernel.call import Operation
from codeplane.kernel.catalogue import Catalogue
from codeplane.kernel.envelope import Outcome
from codeplane.kernel.errors import ApprovalPending, CodePlaneError
from codeplane.kernel.json import JsonObject
from codeplane.kernel.schema import input_schema
from codeplane.work.items.kind import Door
from codeplane.work.models.schema import ToolPart
from codeplane.work.skills.library import ChosenSkill
from codeplane.work.skills.tool_names import narrow_tools
from codeplane.work.turns.transcript import ModelAnswer, ToolRequest

# Families that turns are made of; a model cannot call them from within one.
_OWN_FAMILIES = frozenset({"thread", "turn", "model", "agent_tool", "acp_agent", "tools"})
# The command itself records its start, output and end.
RECORDS_ITSELF = frozenset({"run_bash"})
# A proposal of a caller that has read untrusted content does not pause its turn.
UNTRUSTED_CODE = "untrusted_ingest_block"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOutcome:
    """How a tool call ended, as the model is shown it."""

    text: str
    status: str
    truncated: bool = False
    replayed: bool = False
    # The action that a person decides on later, when the turn does not wait for it.
    proposed_action_id: str | None = None
    # What it changed of files or git, for clients that show it.
    mutation_id: str | None = None


class Toolbox:
    """The tools that the turns of a thread may use."""

    def __init__(self, tools: Mapping[str, Operation], *, answer_bytes: int) -> None:
        self._answer_bytes = answer_bytes
        self._tools = tools

    @classmethod
    def of(cls, catalogue: Catalogue, toolset: str, *, answer_bytes: int, thread_id: str | None = None) -> "Toolbox":
        """The tools of a toolset and of a thread alone, without those for people and those that turns are made of."""
        tools = {
            found.tool: found
            for found in catalogue.toolset(toolset.split(","), thread_id=thread_id)
            if not found.streaming and not found.mark.people and found.name.partition(".")[0] not in _OWN_FAMILIES
        }
        return cls(tools, answer_bytes=answer_bytes)

    def narrow(self, skills: Sequence[ChosenSkill]) -> "Toolbox":
        """The tools that every one of the skills allows; a skill never adds one."""
        names = frozenset(self._tools)
        for skill in skills:
            if skill.allowed_tools is not None:
                names &= narrow_tools(skill.allowed_tools, names)
        if len(names) == len(self._tools):
            return self
        return Toolbox(
            {name: found for name, found in self._tools.items() if name in names}, answer_bytes=self._answer_bytes
        )

    @cached_property
    def described(self) -> tuple[ToolPart, ...]:
        """The tools as a model is shown them, made once: every question of a turn sends them."""
        return tuple(
            ToolPart(name=name, description=found.description, parameters=input_schema(found))
            for name, found in self._tools.items()
        )

    def get(self, name: str) -> Operation | None:
        """The operation behind a tool's name."""
        return self._tools.get(name)

    def problem(self, answer: ModelAnswer) -> str | None:
        """What is wrong with an answer that cannot be used, in words for the model."""
        if not answer.text.strip() and not answer.tools:
            return "the answer is empty"
        seen: set[str] = set()
        for tool in answer.tools:
            if not tool.tool_call_id or tool.tool_call_id in seen:
                return "two tool calls have the same id, or one has none"
            seen.add(tool.tool_call_id)
            if (problem := self._problem_of(tool)) is not None:
                return problem
        return None

    def _problem_of(self, tool: ToolRequest) -> str | None:
        found = self._tools.get(tool.name)
        if found is None:
            return f"there is no tool {tool.name[:100]!r}; there are {', '.join(sorted(self._tools))}"
        try:
            parse(found, arguments_of(tool))
        except ValueError as error:
            return f"the arguments of {tool.name} are no JSON object: {error}"
        except CodePlaneError as error:
            return f"{tool.name}: {error.message}; {error.hint}"
        return None

    async def call(self, door: Door, caller: Caller, tool: ToolRequest, key: str) -> ToolOutcome | ApprovalPending:
        """Make the call; ApprovalPending is returned when the turn has to wait for a person."""
        arguments: JsonObject = {**arguments_of(tool), "idempotency_key": key}
        outcome = await door.call(tool.name, arguments, caller)
        error = outcome.error
        if isinstance(error, ApprovalPending):
            if error.details.get("code") != UNTRUSTED_CODE:
                return error
            action_id = str(error.details["action_id"])
            text = (
                f"proposed as {action_id}, not done: a person has to decide, since untrusted content was read. "
                "Do not wait and do not repeat it; the outcome comes as a new message."
            )
            return ToolOutcome(text=text, status="PROPOSED", proposed_action_id=action_id)
        text = _outcome_text(outcome)
        shown = _within(text, self._answer_bytes)
        return ToolOutcome(
            text=shown,
            status="ok" if error is None else error.name,
            truncated=shown != text,
            replayed=outcome.meta.replayed,
            mutation_id=_mutation_id(outcome),
        )


def arguments_of(tool: ToolRequest) -> JsonObject:
    """The arguments as an object; ValueError when they are none."""
    try:
        values = json.loads(tool.arguments or "{}")
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if not isinstance(values, dict):
        raise ValueError("it is not an object")
    values.pop("idempotency_key", None)
    return values


def _outcome_text(outcome: Outcome) -> str:
    if outcome.error is not None:
        return f"{outcome.error.name}: {outcome.error.message}\nhint: {outcome.error.hint}"
    lines: Sequence[str] = [outcome.result.text() if outcome.result is not None else "", *_warnings(outcome)]
    return "\n".join(lines)


def _mutation_id(outcome: Outcome) -> str | None:
    """The mutation that a call made, which its result's delta names."""
    return getattr(getattr(outcome.result, "delta", None), "mutation_id", None) or None


def _warnings(outcome: Outcome) -> list[str]:
    return [f"warning: {warning}" for warning in outcome.meta.warnings]


def _within(text: str, size: int) -> str:
    encoded = text.encode("utf-8", "backslashreplace")
    if len(encoded) <= size:
        return encoded.decode()
    return f"{encoded[:size].decode('utf-8', 'ignore')}\n[cut off: {len(encoded) - size} more bytes; ask for less]"

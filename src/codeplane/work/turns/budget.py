"""What one turn may use up."""

from dataclasses import dataclass

from codeplane.kernel.config import TurnsConfig
from codeplane.kernel.json import JsonObject
from codeplane.work.threads.thread import Turn

# A client may ask for more than the settings give, up to this many times.
_MOST_TIMES = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnBudget:
    """Bounds of a turn: calls of tools, tokens of their answers, and messages that the model is shown."""

    max_tool_steps: int
    max_tool_tokens: int
    max_context_messages: int

    @classmethod
    def effective(cls, wanted: "TurnBudget", config: TurnsConfig) -> "TurnBudget":
        """What a client gets that asks for `wanted`, in which 0 is the default."""
        return cls(
            max_tool_steps=_within_bound(wanted.max_tool_steps, config.max_tool_steps),
            max_tool_tokens=_within_bound(wanted.max_tool_tokens, config.max_tool_tokens),
            max_context_messages=_within_bound(wanted.max_context_messages, config.max_context_messages),
        )

    @classmethod
    def of(cls, turn: Turn) -> "TurnBudget":
        """The budget that was applied to a turn."""
        return cls(
            max_tool_steps=turn.max_tool_steps,
            max_tool_tokens=turn.max_tool_tokens,
            max_context_messages=turn.max_context_messages,
        )

    def to_json(self) -> JsonObject:
        """The budget as events have it."""
        return {
            "max_tool_steps": self.max_tool_steps,
            "max_tool_tokens": self.max_tool_tokens,
            "max_context_messages": self.max_context_messages,
        }

    def used_up(self, steps: int, tokens: int) -> str | None:
        """Which bound has been reached, in words."""
        if steps >= self.max_tool_steps:
            return f"{steps} of {self.max_tool_steps} tool steps are used up"
        if tokens >= self.max_tool_tokens:
            return f"{tokens} of {self.max_tool_tokens} tokens of tool answers are used up"
        return None


def _within_bound(wanted: int, default: int) -> int:
    return min(wanted, default * _MOST_TIMES) if wanted > 0 else default

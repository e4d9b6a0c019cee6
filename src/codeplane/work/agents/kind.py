"""Turns of outside agents as work: places of their own, since a program that waits for a person still runs."""

from typing import ClassVar

from codeplane.work.turns.kind import TurnKind
from codeplane.work.turns.queue import AGENT_TURN


class AgentTurnKind(TurnKind):
    """Runs turns of threads that name an outside agent."""

    name: ClassVar[str] = AGENT_TURN

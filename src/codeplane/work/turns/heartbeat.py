"""Heartbeats: turns that a schedule sets off to look after something, silent when there is nothing to report."""

import re

HEARTBEAT = "HEARTBEAT"
SILENCE = "NOTHING_TO_REPORT"
_ANSWER = re.compile(rf"[\s*_`\"'.]*{SILENCE}[\s*_`\"'.!]*", re.IGNORECASE)


def heartbeat_text(goal: str) -> str:
    """What the model is asked in a heartbeat."""
    return (
        f"{goal}\n\nThis is a heartbeat, and nobody waits for an answer. If there is nothing that the person has to "
        f"know or do, answer {SILENCE} and nothing else."
    )


def is_silent(trigger_type: str, answer: str) -> bool:
    """Whether an answer says that a heartbeat has nothing to report."""
    return trigger_type == HEARTBEAT and _ANSWER.fullmatch(answer) is not None

"""Who is a person: the owner and what the owner paired. Nothing a model drives decides for a person."""

from codeplane.kernel.actor import Actor, ActorKind
from codeplane.kernel.errors import PolicyDenied

_PEOPLE = frozenset({ActorKind.OWNER, ActorKind.DEVICE})


def is_person(actor: Actor) -> bool:
    """Whether a person stands behind the actor."""
    return actor.kind in _PEOPLE


def person(actor: Actor) -> None:
    """Refuse everyone but a person."""
    if not is_person(actor):
        raise PolicyDenied(
            f"{actor} is not a person, and this is for a person to decide",
            hint="a person decides, with cpl, in the dashboard or on a paired device; no capability gives that",
        )

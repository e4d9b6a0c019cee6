"""Which actors are people: the owner and paired devices, never anything that a model drives."""

from codeplane.kernel.actor import Actor, ActorKind
from codeplane.kernel.errors import PolicyDenied

_PEOPLE = frozenset({ActorKind.OWNER, ActorKind.DEVICE})


def is_person(actor: Actor) -> bool:
    """Whether the actor is a person."""
    return actor.kind in _PEOPLE


def require_person(actor: Actor) -> None:
    """Raise PolicyDenied unless the actor is a person."""
    if not is_person(actor):
        raise PolicyDenied(
            f"{actor} is not a person, and this is for a person to decide",
            hint="a person decides, with cpl, in the dashboard or on a paired device; no capability gives that",
        )

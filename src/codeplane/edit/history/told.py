"""What a kept mutation says of itself beside its files: who made it, and how many lines came and went."""

from dataclasses import dataclass

from codeplane.edit.history.kept import Kept
from codeplane.kernel.json import JsonObject

_ACTOR, _INSERTIONS, _DELETIONS = "actor", "insertions", "deletions"


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """None is what is not known: of git's own mutations the lines, of those made before it was kept all of it."""

    actor: str | None = None
    insertions: int | None = None
    deletions: int | None = None

    def to_json(self) -> JsonObject:
        """As a part of the mutation's details."""
        said = {_ACTOR: self.actor, _INSERTIONS: self.insertions, _DELETIONS: self.deletions}
        return {name: value for name, value in said.items() if value is not None}

    @classmethod
    def of(cls, kept: Kept) -> "Told":
        """What is known of a mutation."""
        actor, came, went = (kept.details.get(name) for name in (_ACTOR, _INSERTIONS, _DELETIONS))
        return cls(
            actor=actor if isinstance(actor, str) else None,
            insertions=came if isinstance(came, int) else None,
            deletions=went if isinstance(went, int) else None,
        )

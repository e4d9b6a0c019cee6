"""The owner's choices about contexts: pin, detach or ignore one."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, field_validator, model_validator

from codeplane.index.contexts.candidate import Candidate
from codeplane.index.contexts.family import FAMILY, family_of_language
from codeplane.index.files.paths import canonical, escape_bytes
from codeplane.kernel.errors import PathDenied

VERSION = 1


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Indexer(_Part):
    """The tool that builds a semantic index of a context."""

    name: str


class Defaults(_Part):
    """Defaults for every context."""

    max_parallel_contexts: int = Field(4, ge=1, le=64, strict=True)
    divergence_behavior: Literal["fail"] = "fail"


class Choice(_Part):
    """One entry: `pin` makes roots contexts, `detach` drops their files, `ignore` leaves them to the outer context."""

    id: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$")]
    language: str
    workspace_roots: tuple[str, ...] = Field(min_length=1)
    use: Literal["pin", "detach", "ignore"] = "pin"
    env: Mapping[str, str] = {}
    indexer: Indexer | None = None

    @field_validator("id")
    @classmethod
    def _is_free(cls, value: str) -> str:
        if value in FAMILY or value == "none":
            raise ValueError(f"{value!r} is the name of a fallback context; choose another")
        return value

    @field_validator("language")
    @classmethod
    def _is_known(cls, value: str) -> str:
        if family_of_language(value) is None:
            raise ValueError(f"{value!r} is in no family; the families are {', '.join(FAMILY)}")
        return value

    @field_validator("workspace_roots")
    @classmethod
    def _are_inside(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        try:
            return tuple(canonical(root, root=Path("/")) for root in value)
        except PathDenied as error:
            raise ValueError(error.message) from None

    @property
    def family(self) -> str:
        """The family its language belongs to."""
        return family_of_language(self.language) or ""

    def id_at(self, root: str) -> str:
        """The entry's id at a root; the root is appended if the entry names several."""
        return self.id if len(self.workspace_roots) == 1 else f"{self.id}:{escape_bytes(root) or '.'}"


class ContextsDocument(_Part):
    """The whole contexts.yaml; `discovered` is informational and not read back."""

    version: Literal[1] = 1
    contexts: tuple[Choice, ...] = ()
    defaults: Defaults = Defaults()
    discovered: JsonValue = None

    @model_validator(mode="after")
    def _names_once(self) -> "ContextsDocument":
        ids = [choice.id for choice in self.contexts]
        roots = [(choice.family, root) for choice in self.contexts for root in choice.workspace_roots]
        named = Counter([*ids, *(f"{family} at {root or '.'}" for family, root in roots)])
        twice = next((each for each, count in named.items() if count > 1), None)
        if twice is not None:
            raise ValueError(f"{twice!r} is named twice under contexts")
        return self


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """All choices in one contexts.yaml."""

    entries: tuple[Choice, ...] = ()
    defaults: Defaults = field(default_factory=Defaults)

    def apply_to(self, candidates: Iterable[Candidate]) -> list[Candidate]:
        """Apply the choices to candidates."""
        by_root = {(each.family, each.root): each for each in candidates}
        for entry in self.entries:
            for root in entry.workspace_roots:
                key = (entry.family, root)
                candidate = by_root.pop(key, None) or Candidate(family=entry.family, root=root, tier=0)
                if entry.use == "pin":
                    by_root[key] = replace(candidate, status="pending", reason="", pinned=entry.id_at(root))
                elif entry.use == "detach":
                    by_root[key] = replace(candidate, status="detached", reason="detached in contexts.yaml")
        return sorted(by_root.values(), key=lambda each: (each.family, each.root))

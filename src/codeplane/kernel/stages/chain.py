"""Runs stages one after the other, each under its own span."""

from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar, cast

from codeplane.kernel.stages.progress import Progress, Reached

Before = TypeVar("Before", contravariant=True)
After = TypeVar("After", covariant=True)
First = TypeVar("First", bound=Reached)
Last = TypeVar("Last", bound=Reached)
Next = TypeVar("Next", bound=Reached)


class Stage(Protocol[Before, After]):
    """Takes a call one step further, or raises why it does not."""

    @property
    def name(self) -> str:
        """The stage's name in traces and documents."""
        ...

    async def run(self, reached: Before) -> After:
        """The call, one step further."""
        ...


@dataclass(frozen=True, slots=True)
class Chain(Generic[First, Last]):
    """Stages of which each takes what the one before it returns; `then` checks that by their types."""

    stages: tuple[Stage[Reached, Reached], ...]

    @classmethod
    def of(cls, stage: Stage[First, Last]) -> "Chain[First, Last]":
        """A chain of one stage."""
        return cls((cast(Stage[Reached, Reached], stage),))

    def then(self, stage: Stage[Last, Next]) -> "Chain[First, Next]":
        """The same chain with one more stage."""
        return Chain((*self.stages, cast(Stage[Reached, Reached], stage)))

    async def run(self, progress: Progress) -> Last:
        """Take a call through all stages; where one raises, `progress` says how far the call came."""
        received = progress.received
        reached: Reached = received
        for stage in self.stages:
            with received.trace.stage(stage.name):
                reached = await stage.run(reached)
                progress.reach(reached)
        return cast(Last, reached)

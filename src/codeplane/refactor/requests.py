"""What refactorings are asked for with."""

from collections.abc import Mapping
from typing import Annotated, ClassVar

from pydantic import BeforeValidator, Field

from codeplane.kernel.errors import InvalidArgument
from codeplane.kernel.json import JsonObject
from codeplane.kernel.operation import Request
from codeplane.kernel.page import PageRequest
from codeplane.refactor.plan import RefactorSpec
from codeplane.refactor.proof import Proof


def _split(given: object) -> object:
    """Split places, also as a shell passes what answers write, `[#1, #2]`; a number is the number of an edit."""
    if not isinstance(given, list | tuple):
        return given
    words = [value.strip().strip("[]").split(",") if isinstance(value, str) else [value] for value in given]
    return [_place(word) for some in words for word in some]


def _place(given: object) -> object:
    if isinstance(given, str):
        return given.strip().strip("\"'")
    return str(given) if isinstance(given, int) and not isinstance(given, bool) else given


# Tiers, documents, or numbers of edits.
Choice = Annotated[tuple[str, ...], BeforeValidator(_split)]


class Paged(PageRequest):
    """A request whose edits come in pages."""

    limit: int = Field(200, ge=1, le=5000)


class RenameRequest(Paged):
    """What shall be called how; or the plan to apply."""

    symbol: str = Field("", max_length=4200, description="path:line:column, id, Class.method, a module's path")
    new_name: str = Field("", max_length=300)
    refactor_id: str = Field("", max_length=100, description="applies this plan")
    candidate: str = Field("", max_length=100, description="of a plan with several")
    include: Choice = Field((), max_length=1000, description="proposals to make too")
    exclude: Choice = Field((), max_length=1000)
    include_comments: bool = True
    contexts: tuple[str, ...] = Field((), max_length=100)
    apply: bool = Field(False, description="at once, if nothing has to be decided")

    def spec(self) -> RefactorSpec:
        """What is to be planned."""
        if not self.symbol or not self.new_name:
            raise InvalidArgument(
                "a rename needs symbol and new_name", hint="or refactor_id alone, to apply a plan that was made"
            )
        return RefactorSpec(
            kind="rename",
            symbol=self.symbol,
            new_name=self.new_name,
            options={"include_comments": self.include_comments},
            contexts=self.contexts,
        )


class MoveRequest(Paged):
    """What shall lie where: a file or folder by its path, or a symbol and the module it goes to."""

    synonyms: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("to", "destination", "dest", "new_path", "target"), "to_path"),
        **dict.fromkeys(("from", "source", "path", "file", "folder"), "from_path"),
    }
    from_path: str = Field("", max_length=4096, description="a file or a folder")
    symbol: str = Field("", max_length=4200, description="instead: a top-level symbol")
    to_path: str = Field(min_length=1, max_length=4096, description="the new path, or the module a symbol goes to")
    contexts: tuple[str, ...] = Field((), max_length=100)
    apply: bool = Field(False, description="at once")

    def spec(self) -> RefactorSpec:
        """What is to be planned."""
        if bool(self.from_path) == bool(self.symbol):
            raise InvalidArgument("a move needs from_path or symbol, one of them")
        return RefactorSpec(
            kind="move",
            symbol=self.symbol or self.from_path,
            new_name=self.to_path,
            options={"files": bool(self.from_path)},
            contexts=self.contexts,
        )


class DeleteRequest(Paged):
    """What shall go."""

    synonyms: ClassVar[Mapping[str, str]] = dict.fromkeys(("symbol", "name", "path", "file", "folder"), "target")
    target: str = Field(min_length=1, max_length=4200, description="a symbol, a file or a folder")
    force: bool = Field(False, description="though it is still referred to")
    contexts: tuple[str, ...] = Field((), max_length=100)
    apply: bool = Field(False, description="at once")

    def spec(self) -> RefactorSpec:
        """What is to be planned."""
        return RefactorSpec(kind="delete", symbol=self.target, options={"force": self.force}, contexts=self.contexts)


class ReplaceRequest(Paged):
    """Which syntax becomes which."""

    pattern: str = Field(min_length=1, max_length=20_000, description="code with $NAME and $$$MANY")
    rewrite: str = Field(max_length=20_000)
    language: str = Field(min_length=1, max_length=50)
    paths: tuple[str, ...] = Field((), max_length=100, description="globs or folders")
    apply: bool = Field(False, description="at once")

    def spec(self) -> RefactorSpec:
        """What is to be planned."""
        options: JsonObject = {"language": self.language, "paths": list(self.paths)}
        return RefactorSpec(kind="replace", symbol=self.pattern, new_name=self.rewrite, options=options)


class PlanRequest(Paged):
    """A plan to look at."""

    refactor_id: str = Field(min_length=1, max_length=100)
    candidate: str = Field("", max_length=100)


class ApplyRequest(Request):
    """A plan to make real."""

    refactor_id: str = Field(min_length=1, max_length=100)
    candidate: str = Field("", max_length=100, description="of a plan with several")
    include: Choice = Field(
        (), max_length=1000, description="proposals to make too: anchored, unknown, documents, or numbers of edits"
    )
    exclude: Choice = Field((), max_length=1000, description="anchored, unknown, documents, or numbers of edits")


class CancelRequest(Request):
    """A plan to forget."""

    refactor_id: str = Field(min_length=1, max_length=100)


class DecisionRequest(Request):
    """Which candidate of a plan and which of its open places, and what that rests on."""

    plan_id: str = Field(min_length=1, max_length=100)
    selected_candidate_id: str = Field("", max_length=100, description="of a plan with several")
    include: Choice = Field(
        (), max_length=1000, description="places that are uses, by numbers of edits or tier; the others are left"
    )
    exclude: Choice = Field((), max_length=1000, description="places that are none")
    proof: Proof

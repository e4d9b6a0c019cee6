"""The `facts.` operations: the bounded fact queries of 002 §7.8."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from pydantic import Field

from codeplane.code.resolve.tier import Tier
from codeplane.code.resolve.world import World
from codeplane.index.files.paths import canonical
from codeplane.index.snapshot import Snapshot
from codeplane.kernel.call import Call
from codeplane.kernel.errors import InvalidArgument, NotFound
from codeplane.kernel.operation import Result, Risk, operation
from codeplane.kernel.workspace_request import WorkspaceRequest
from codeplane.query.consistent_read import ConsistentRead, read_consistently
from codeplane.query.fact_queries.queries import Bounded, FactQueries
from codeplane.query.fact_queries.records import (
    AnchorGroup,
    DefFact,
    DynamicAccessSite,
    ExportEntry,
    ExportSurface,
    ImportFact,
    LocalBindFact,
    RefFact,
    ScopeFact,
)
from codeplane.query.knowledge import Knowledge
from codeplane.query.search.language_names import known_family

F = TypeVar("F", bound=Result)

_UNIT = Field(None, max_length=100, description="a language or its family, such as python")
_LIMIT = Field(50, ge=1, le=500)


class DefinitionRequest(WorkspaceRequest):
    """One definition."""

    def_uid: str = Field(min_length=1, max_length=100)


class DefinitionsRequest(WorkspaceRequest):
    """Definitions of a name."""

    name: str = Field(min_length=1, max_length=500)
    unit_id: str | None = _UNIT
    limit: int = _LIMIT


class ReferencesRequest(WorkspaceRequest):
    """References to a definition; with a tier, those alone."""

    def_uid: str = Field(min_length=1, max_length=100)
    tier: Tier | None = None
    limit: int = _LIMIT


class ScopesRequest(WorkspaceRequest):
    """The scopes of a file, or one by its id."""

    path: str | None = Field(None, max_length=4096)
    scope_id: str | None = Field(None, max_length=4200)
    limit: int = _LIMIT


class BindingsRequest(WorkspaceRequest):
    """The names bound in a scope, or one of them."""

    scope_id: str = Field(min_length=1, max_length=4200)
    name: str | None = Field(None, max_length=500)
    limit: int = _LIMIT


class ImportsRequest(WorkspaceRequest):
    """The imports of a file, or one by its id."""

    path: str | None = Field(None, max_length=4096)
    import_uid: str | None = Field(None, max_length=4200)
    limit: int = _LIMIT


class ExportsRequest(WorkspaceRequest):
    """What a file, or the files of a folder, give away."""

    path: str = Field(max_length=4096, description="a file or a folder")
    limit: int = _LIMIT


class AnchorGroupsRequest(WorkspaceRequest):
    """Ambiguous references, by token and shape of receiver."""

    member_token: str | None = Field(None, max_length=500)
    receiver_shape: str | None = Field(None, max_length=500, description="such as self. or obj.; needs member_token")
    unit_id: str | None = _UNIT
    limit: int = Field(20, ge=1, le=100)


class DynamicAccessRequest(WorkspaceRequest):
    """Places that reach names by text; of a file, a folder or a unit."""

    path: str | None = Field(None, max_length=4096)
    unit_id: str | None = _UNIT
    limit: int = _LIMIT


class FactList(Result, Generic[F]):
    """Facts, and what is not among them."""

    items: tuple[F, ...]
    surface: ExportSurface | None = None
    cut: str | None = None
    epoch: int
    commit: str | None
    partial: str | None = None
    stale: tuple[str, ...] = ()

    def text(self) -> str:
        lines = [self.surface.text()] if self.surface is not None else []
        lines += [fact.text() for fact in self.items]
        end = f"[{len(self.items)} facts, epoch {self.epoch} at {(self.commit or 'no commit')[:9]}]"
        for more in (self.cut, self.partial):
            end += f" {more}." if more else ""
        end += f" STALE: changed meanwhile: {', '.join(self.stale[:5])}" if self.stale else ""
        return "\n".join([*lines, end])


class Definitions(FactList[DefFact]):
    """Definitions."""


class References(FactList[RefFact]):
    """References."""


class Scopes(FactList[ScopeFact]):
    """Scopes."""


class Bindings(FactList[LocalBindFact]):
    """Bindings."""


class Imports(FactList[ImportFact]):
    """Imports."""


class Exports(FactList[ExportEntry]):
    """Exported names."""


class AnchorGroups(FactList[AnchorGroup]):
    """Groups of ambiguous references."""


class DynamicAccesses(FactList[DynamicAccessSite]):
    """Places of dynamic access."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Look(Generic[F]):
    found: Bounded[F]
    paths: frozenset[str]
    surface: ExportSurface | None = None


class FactOperations:
    """Queries facts without resolving or inferring."""

    def __init__(self, *, root: Path, knowledge: Knowledge) -> None:
        self._root = root
        self._knowledge = knowledge

    @operation("facts.definition", risk=Risk.READ)
    async def definition(self, call: Call, request: DefinitionRequest) -> Definitions:
        """One definition by its id."""
        read = await self._ask(lambda facts: _single_fact(facts.get_def(request.def_uid)))
        return Definitions(**_fields(_must(read, f"no definition has the id {request.def_uid}")))

    @operation("facts.definitions", risk=Risk.READ)
    async def definitions(self, call: Call, request: DefinitionsRequest) -> Definitions:
        """The definitions of a name, in the order of files."""
        unit, limit = _family(request.unit_id), request.limit
        read = await self._ask(lambda facts: facts.list_defs_by_name(request.name, unit_id=unit, limit=limit))
        return Definitions(**_fields(read))

    @operation("facts.references", risk=Risk.READ)
    async def references(self, call: Call, request: ReferencesRequest) -> References:
        """References to a definition with their tiers; tier=PROVEN gives the lexically bound ones alone."""
        uid, tier = request.def_uid, request.tier

        def ask(facts: FactQueries) -> Bounded[RefFact]:
            if facts.get_def(uid) is None:
                raise NotFound(f"no definition has the id {uid}", hint="facts.definitions lists ids by name")
            return facts.list_refs_by_def_uid(uid, tier=tier, limit=request.limit)

        return References(**_fields(await self._ask(ask)))

    @operation("facts.scopes", risk=Risk.READ)
    async def scopes(self, call: Call, request: ScopesRequest) -> Scopes:
        """The scopes of a file (path), or one scope (scope_id)."""
        if request.scope_id is not None:
            wanted = request.scope_id
            read = await self._ask(lambda facts: _single_fact(facts.get_scope(wanted)))
            return Scopes(**_fields(_must(read, f"there is no scope {wanted}")))
        path = self._path(request.path, "path or scope_id")
        return Scopes(
            **_fields(await self._ask(lambda facts: facts.list_scopes_in_file(path, limit=request.limit), path))
        )

    @operation("facts.bindings", risk=Risk.READ)
    async def bindings(self, call: Call, request: BindingsRequest) -> Bindings:
        """The names bound in a scope, with what they are bound to; with a name, that one alone."""
        scope_id, name = request.scope_id, request.name
        if name is not None:
            read = await self._ask(lambda facts: _single_fact(facts.get_local_bind(scope_id, name)))
            return Bindings(**_fields(_must(read, f"{name!r} is not bound in {scope_id}")))
        return Bindings(
            **_fields(await self._ask(lambda facts: facts.list_binds_in_scope(scope_id, limit=request.limit)))
        )

    @operation("facts.imports", risk=Risk.READ)
    async def imports(self, call: Call, request: ImportsRequest) -> Imports:
        """The imports of a file (path), or one import (import_uid)."""
        if request.import_uid is not None:
            wanted = request.import_uid
            read = await self._ask(lambda facts: _single_fact(facts.get_import(wanted)))
            return Imports(**_fields(_must(read, f"there is no import {wanted}")))
        path = self._path(request.path, "path or import_uid")
        return Imports(**_fields(await self._ask(lambda facts: facts.list_imports(path, limit=request.limit), path)))

    @operation("facts.exports", risk=Risk.READ)
    async def exports(self, call: Call, request: ExportsRequest) -> Exports:
        """The export surface of a file or folder: its hash, and the names it gives with what they mean."""
        path = canonical(request.path, root=self._root)

        def ask(facts: FactQueries) -> Bounded[ExportEntry]:
            return facts.list_export_entries(path or ".", limit=request.limit)

        read = await self._ask(ask, path, surface=path)
        if read.answer.surface is None:
            raise NotFound(f"nothing at {request.path!r} is parsed", hint="name a source file or a folder of them")
        return Exports(**_fields(read))

    @operation("facts.anchor_groups", risk=Risk.READ)
    async def anchor_groups(self, call: Call, request: AnchorGroupsRequest) -> AnchorGroups:
        """Ambiguous member references, grouped by token and shape of receiver: true counts, 10 exemplars at most."""
        token, shape, unit = request.member_token, request.receiver_shape, _family(request.unit_id)
        if shape is not None:
            if token is None:
                raise InvalidArgument("a receiver_shape needs a member_token", hint="send both, or neither")
            read = await self._ask(lambda facts: _single_fact(facts.get_anchor_group(token, shape, unit_id=unit)))
            return AnchorGroups(**_fields(_must(read, f"no ambiguous reference is written {shape}{token}")))
        listed = await self._ask(
            lambda facts: facts.list_anchor_groups(unit_id=unit, member_token=token, limit=request.limit)
        )
        return AnchorGroups(**_fields(listed))

    @operation("facts.dynamic_access", risk=Risk.READ)
    async def dynamic_access(self, call: Call, request: DynamicAccessRequest) -> DynamicAccesses:
        """Places that reach names by text at run time (getattr, computed keys, eval), of a file, folder or unit."""
        path = canonical(request.path, root=self._root) if request.path is not None else None
        unit, limit = _family(request.unit_id), request.limit
        read = await self._ask(
            lambda facts: facts.list_dynamic_access_sites(path=path, unit_id=unit, limit=limit), path
        )
        return DynamicAccesses(**_fields(read))

    async def _ask(
        self, ask: Callable[[FactQueries], Bounded[F]], path: str | None = None, surface: str | None = None
    ) -> ConsistentRead[_Look[F]]:
        def look(snapshot: Snapshot) -> _Look[F]:
            store = self._knowledge.store
            world = World(snapshot, store, self._knowledge.modules)
            facts = FactQueries(world, store)
            if path and path not in snapshot.files and not any(file.startswith(f"{path}/") for file in snapshot.files):
                raise NotFound(f"{path!r} is not indexed", hint="list_dir shows what is")
            if path in snapshot.files and path is not None and world.facts(path) is None:
                why = store.problems().get(path, "its language is not known here, or it is still to be parsed")
                raise NotFound(f"there are no facts of {path!r}: {why}", hint="search finds its text")
            answer = ask(facts)
            return _Look(
                found=answer,
                paths=frozenset(_fact_files(answer.items)) & snapshot.files.keys(),
                surface=facts.get_export_surface(surface) if surface is not None else None,
            )

        return await read_consistently(self._knowledge, look, lambda look_result: look_result.paths)

    def _path(self, path: str | None, wanted: str) -> str:
        if path is None:
            raise InvalidArgument(f"{wanted} is needed", hint="send one of them")
        return canonical(path, root=self._root)


def _family(unit_id: str | None) -> str | None:
    """Units are families; a language's own name means its family."""
    return known_family(unit_id) if unit_id is not None else None


def _single_fact(fact: F | None) -> Bounded[F]:
    return Bounded(items=(fact,) if fact is not None else ())


def _must(read: ConsistentRead[_Look[F]], what: str) -> ConsistentRead[_Look[F]]:
    if not read.answer.found.items:
        raise NotFound(what + (f" ({read.partial})" if read.partial else ""), hint="ids change with what they name")
    return read


def _fact_files(items: Iterable[Result]) -> Iterable[str]:
    """The files named in facts."""
    for fact in items:
        if isinstance(fact, AnchorGroup):
            yield from _fact_files(fact.exemplars)
        elif isinstance(fact, ExportEntry):
            yield fact.entry_id.rpartition("#")[0]
        else:
            yield str(getattr(fact, "path", ""))


def _fields(read: "ConsistentRead[_Look[F]]") -> "dict[str, object]":
    return {
        "items": read.answer.found.items,
        "surface": read.answer.surface,
        "cut": read.answer.found.cut or None,
        "epoch": read.snapshot.epoch,
        "commit": read.snapshot.commit,
        "partial": read.partial,
        "stale": read.stale,
    }

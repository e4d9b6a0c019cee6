"""The bounded fact queries of 002 §7.8 over one snapshot; each has a limit and says if there is more."""

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from codeplane.code.entity import Bound
from codeplane.code.model import NO_TARGET, REASONS, Definition, Facts
from codeplane.code.resolve.references import Reference, references
from codeplane.code.resolve.resolver import Resolver
from codeplane.code.resolve.tier import SURE, Tier
from codeplane.code.resolve.world import World
from codeplane.index.fact_store import FactStore, Symbol
from codeplane.index.files.paths import path_text
from codeplane.kernel.errors import DeadlineExceeded, InvalidArgument
from codeplane.kernel.ids import digest
from codeplane.kernel.plural import plural
from codeplane.query.fact_queries.file_exports import definition_of, file_exports
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

MAX_EXEMPLARS = 10
_MAX_IN_FILE = 100_000
_MAX_NAMED = 1000
_MAX_SURFACE_FILES = 2000
_MAX_TOKENS = 200

F = TypeVar("F")


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounded(Generic[F]):
    """A limited list; `cut` says what was left out."""

    items: tuple[F, ...]
    cut: str = ""


class FactQueries:
    """Reads facts without upgrading or following them."""

    def __init__(self, world: World, store: FactStore, *, for_sec: float = 20.0) -> None:
        self._world = world
        self._for_sec = for_sec
        self._store = store
        self._resolver = Resolver(world)
        self._positions = lru_cache(maxsize=64)(self._positions_of)
        self._inside = lru_cache(maxsize=64)(self._inside_of)

    def get_def(self, def_uid: str) -> DefFact | None:
        """The definition with this id, if it is in the present state."""
        symbol = self._store.with_uid(def_uid.lower())
        return self._def(symbol) if symbol is not None else None

    def list_defs_by_name(self, name: str, *, unit_id: str | None = None, limit: int) -> Bounded[DefFact]:
        """Definitions with a name, ordered by file and position."""
        facts = (self._def(fact) for fact in self._store.find_symbols(name, limit=_MAX_NAMED))
        return _bound_facts((fact for fact in facts if fact is not None and unit_id in (None, fact.unit_id)), limit)

    def list_refs_by_def_uid(self, def_uid: str, *, tier: Tier | None = None, limit: int) -> Bounded[RefFact]:
        """Certain and possible references to a definition, ordered by file and position."""
        symbol = self._store.with_uid(def_uid.lower())
        bound = self._find_binding(symbol) if symbol is not None else None
        if bound is None:
            return Bounded(items=())
        items: list[RefFact] = []
        until = time.monotonic() + self._for_sec
        for reference in references(self._world, self._store, [bound]):
            if time.monotonic() > until:
                return Bounded(items=tuple(items[:limit]), cut=f"no time to look beyond {path_text(reference.path)}")
            if tier in (None, reference.tier):
                items.append(self._ref(reference, bound.name))
            if len(items) > limit:
                break
        return _bound_facts(items, limit)

    def list_proven_refs(self, def_uid: str, *, limit: int) -> Bounded[RefFact]:
        """Only the lexically bound references."""
        return self.list_refs_by_def_uid(def_uid, tier="PROVEN", limit=limit)

    def get_scope(self, scope_id: str) -> ScopeFact | None:
        """A scope by its id."""
        path, index = _split_uid(scope_id, "scope")
        facts = self._world.facts(path)
        return self._scope(path, facts, index) if facts is not None and index < len(facts.scopes) else None

    def list_scopes_in_file(self, path: str, *, limit: int) -> Bounded[ScopeFact]:
        """A file's scopes, outermost first."""
        facts = self._world.facts(path)
        count = len(facts.scopes) if facts is not None else 0
        return _bound_facts((self._scope(path, facts, index) for index in range(count) if facts is not None), limit)

    def get_local_bind(self, scope_id: str, name: str) -> LocalBindFact | None:
        """The first binding of a name in a scope."""
        return next(self._binds(scope_id, name), None)

    def list_binds_in_scope(self, scope_id: str, *, limit: int) -> Bounded[LocalBindFact]:
        """The names bound in a scope, in order."""
        return _bound_facts(self._binds(scope_id, None), limit)

    def list_imports(self, path: str, *, limit: int) -> Bounded[ImportFact]:
        """A file's imports, in their order."""
        facts = self._world.facts(path)
        count = len(facts.imports) if facts is not None else 0
        return _bound_facts((self._import(path, facts, index) for index in range(count) if facts is not None), limit)

    def get_import(self, import_uid: str) -> ImportFact | None:
        """An import by its id."""
        path, index = _split_uid(import_uid, "import")
        facts = self._world.facts(path)
        return self._import(path, facts, index) if facts is not None and index < len(facts.imports) else None

    def get_export_surface(self, unit_id: str) -> ExportSurface | None:
        """The export surface of a file or folder as one hash; None if nothing is parsed."""
        files, _ = self._files(unit_id, None)
        given = [(path, export) for path, _ in files for export in file_exports(self._world, path)]
        names = [(path, export.name, export.local, export.source) for path, export in given]
        if not files:
            return None
        return ExportSurface(
            surface_id=path_text(unit_id) or ".",
            unit_id=self._unit(files[0][1]),
            surface_hash=digest("\n".join(map(repr, sorted(names))).encode())[:16],
            epoch_id=self._world.snapshot.epoch,
            entry_count=len(names),
        )

    def list_export_entries(self, surface_id: str, *, limit: int) -> Bounded[ExportEntry]:
        """The names of a surface, ordered by file and position."""
        files, cut = self._files("" if surface_id == "." else surface_id, None)
        return _bound_facts((entry for path, _ in files for entry in self._exports(path, surface_id)), limit, cut)

    def get_anchor_group(
        self, member_token: str, receiver_shape: str, *, unit_id: str | None = None
    ) -> AnchorGroup | None:
        """The ambiguous references with a token and a receiver's shape."""
        groups, whole = self._groups(member_token, unit_id, time.monotonic() + self._for_sec)
        if not whole:
            raise DeadlineExceeded(f"{member_token!r} occurs too often to be counted in {self._for_sec:g} s")
        return next((group for group in groups if group.receiver_shape == receiver_shape), None)

    def list_anchor_groups(
        self, *, unit_id: str | None = None, member_token: str | None = None, limit: int
    ) -> Bounded[AnchorGroup]:
        """Groups of one token, or of the most defined ones; a group is counted completely or left out."""
        tokens = [member_token] if member_token else self._store.most_common_names("method", limit=_MAX_TOKENS)
        until = time.monotonic() + self._for_sec
        groups_listed: list[AnchorGroup] = []
        for looked_at, token in enumerate(tokens):
            groups, whole = self._groups(token, unit_id, until)
            if not whole:
                return Bounded(items=tuple(groups_listed[:limit]), cut=f"no time to count beyond {looked_at} tokens")
            groups_listed += groups
            if len(groups_listed) >= limit:
                more = len(groups_listed) > limit or looked_at + 1 < len(tokens)
                return Bounded(items=tuple(groups_listed[:limit]), cut="there are more" if more else "")
        cut = f"only the {_MAX_TOKENS} most defined names were looked at" if len(tokens) == _MAX_TOKENS else ""
        return Bounded(items=tuple(groups_listed), cut=cut)

    def list_dynamic_access_sites(
        self, *, path: str | None = None, unit_id: str | None = None, limit: int
    ) -> Bounded[DynamicAccessSite]:
        """Places that access names dynamically, of a file, folder, unit or all."""
        files, cut = self._files(path or "", unit_id)
        return _bound_facts((site for name, facts in files for site in self._sites(name, facts)), limit, cut)

    def _files(self, path: str, unit_id: str | None) -> tuple[list[tuple[str, Facts]], str]:
        """The parsed files at or below a path, within the time limit."""
        until = time.monotonic() + self._for_sec
        files: list[tuple[str, Facts]] = []
        for name in [path] if path in self._world.snapshot.files else self._world.snapshot.files:
            if path and name != path and not name.startswith(f"{path}/"):
                continue
            if len(files) >= _MAX_SURFACE_FILES or time.monotonic() > until:
                return (
                    files,
                    f"only the first {plural(len(files), 'file', verbs=('was', 'were'))} looked at; name a folder",
                )
            facts = self._world.facts(name)
            if facts is not None and unit_id in (None, self._unit(facts)):
                files.append((name, facts))
        return files, ""

    def _groups(self, token: str, unit_id: str | None, until: float) -> tuple[list[AnchorGroup], bool]:
        named = self._store.find_symbols(token, limit=_MAX_NAMED)
        bounds = [bound for each in named if (bound := self._find_binding(each)) is not None]
        counts: dict[str, int] = {}
        first: dict[str, list[RefFact]] = {}
        for reference in references(self._world, self._store, list(dict.fromkeys(bounds))):
            if time.monotonic() > until:
                return [], False
            facts = self._world.facts(reference.path)
            if reference.tier != "ANCHORED" or facts is None or unit_id not in (None, self._unit(facts)):
                continue
            counts[reference.receiver] = counts.get(reference.receiver, 0) + 1
            held = first.setdefault(reference.receiver, [])
            if len(held) < MAX_EXEMPLARS:
                held.append(self._ref(reference, token))
        return [
            AnchorGroup(
                group_id=f"{token}#{receiver}",
                unit_id=first[receiver][0].unit_id,
                member_token=token,
                receiver_shape=receiver,
                total_count=counts[receiver],
                exemplar_ids=tuple(reference.ref_id for reference in first[receiver]),
                exemplars=tuple(first[receiver]),
            )
            for receiver in sorted(counts, key=lambda each: (-counts[each], each))
        ], True

    def _find_binding(self, symbol: Symbol) -> Bound | None:
        definition = self._definition(symbol)
        return Bound(symbol.file, definition.scope, definition.name) if definition is not None else None

    def _definition(self, symbol: Symbol) -> Definition | None:
        """The definition of a symbol, if its file is unchanged in the snapshot."""
        known = self._world.snapshot.files.get(symbol.file)
        facts = self._world.facts(symbol.file) if known is not None and known.digest == symbol.digest else None
        return facts.definitions[symbol.position] if facts and symbol.position < len(facts.definitions) else None

    def _def(self, symbol: Symbol) -> DefFact | None:
        definition, facts = self._definition(symbol), self._world.facts(symbol.file)
        if definition is None or facts is None:
            return None
        first, last = self._place(symbol.file, definition.start), self._place(symbol.file, definition.end)
        module = symbol.file.rpartition(".")[0].replace("/", ".").removesuffix(".__init__")
        return DefFact(
            def_uid=symbol.uid,
            path=path_text(symbol.file),
            unit_id=self._unit(facts),
            kind=definition.kind,
            name=definition.name,
            qualified_name=path_text(f"{module}.{definition.path}"),
            lexical_path=definition.path,
            start_line=first[0],
            start_col=first[1],
            end_line=last[0],
            end_col=last[1],
            signature_hash=definition.signature,
            display_name=f"{definition.kind} {definition.path}",
        )

    def _ref(self, reference: Reference, name: str) -> RefFact:
        facts = self._world.facts(reference.path)
        assert facts is not None  # a reference is found in facts
        line, column = self._place(reference.path, reference.offset)
        return RefFact(
            ref_id=f"{path_text(reference.path)}#ref{reference.offset}",
            path=path_text(reference.path),
            unit_id=self._unit(facts),
            scope_id=f"{path_text(reference.path)}#scope{facts.scope_at(reference.offset)}",
            token_text=name,
            start_line=line,
            start_col=column,
            end_line=line,
            end_col=column + len(name),
            role=reference.role,
            ref_tier=reference.tier,
            certainty=_certainty(reference.tier in SURE),
        )

    def _scope(self, path: str, facts: Facts, index: int) -> ScopeFact:
        scope = facts.scopes[index]
        first, last = self._place(path, scope.start), self._place(path, scope.end)
        return ScopeFact(
            scope_id=f"{path_text(path)}#scope{index}",
            path=path_text(path),
            unit_id=self._unit(facts),
            parent_scope_id=f"{path_text(path)}#scope{scope.parent}" if scope.parent >= 0 else None,
            kind=scope.kind,
            start_line=first[0],
            start_col=first[1],
            end_line=last[0],
            end_col=last[1],
        )

    def _binds(self, scope_id: str, name: str | None) -> Iterator[LocalBindFact]:
        path, scope = _split_uid(scope_id, "scope")
        facts = self._world.facts(path)
        if facts is None:
            return
        for row, bound_name in enumerate(facts.bind_names):
            if facts.bind_scope(row) != scope or name not in (None, bound_name):
                continue
            reason = REASONS[facts.bind_reason(row)]
            kind, uid = self._bind_target(path, facts, reason, facts.bind_target(row))
            yield LocalBindFact(
                bind_id=f"{path_text(path)}#bind{row}",
                path=path_text(path),
                unit_id=self._unit(facts),
                scope_id=scope_id,
                name=bound_name,
                target_kind=kind,
                target_uid=uid,
                certainty=_certainty(reason not in ("GLOBAL", "NONLOCAL")),
                reason_code=reason,
                start_line=self._place(path, facts.bind_at(row))[0],
            )

    def _bind_target(self, path: str, facts: Facts, reason: str, target: int) -> tuple[str, str | None]:
        if target == NO_TARGET:
            return "UNKNOWN", None
        if reason == "IMPORT_ALIAS":
            return "IMPORT", f"{path_text(path)}#import{target}"
        return "DEF", self._inside(path).get(target)

    def _import(self, path: str, facts: Facts, index: int) -> ImportFact:
        item = facts.imports[index]
        return ImportFact(
            import_uid=f"{path_text(path)}#import{index}",
            path=path_text(path),
            unit_id=self._unit(facts),
            scope_id=f"{path_text(path)}#scope{item.scope}",
            imported_name=item.imported or None,
            alias=item.alias or None,
            source_literal=item.source or None,
            import_kind=item.kind,
            certainty="CERTAIN",
            start_line=self._place(path, item.at)[0],
        )

    def _exports(self, path: str, surface_id: str) -> Iterator[ExportEntry]:
        for index, export in enumerate(file_exports(self._world, path)):
            file, position = definition_of(self._resolver, path, export)
            yield ExportEntry(
                entry_id=f"{path_text(path)}#export{index}",
                surface_id=surface_id,
                exported_name=export.name,
                def_uid=self._inside(file).get(position),
                certainty=_certainty(export.name != "*"),
                evidence_kind=export.evidence,
            )

    def _sites(self, path: str, facts: Facts) -> Iterator[DynamicAccessSite]:
        for index, access in enumerate(facts.dynamic):
            line, column = self._place(path, access.at)
            yield DynamicAccessSite(
                site_id=f"{path_text(path)}#site{index}",
                path=path_text(path),
                unit_id=self._unit(facts),
                start_line=line,
                start_col=column,
                pattern_type=access.pattern,
                extracted_literals=(access.literal,) if access.literal is not None else (),
                has_non_literal_key=access.literal is None,
            )

    def _unit(self, facts: Facts) -> str:
        return self._world.language(facts).family or facts.language

    def _place(self, path: str, offset: int) -> tuple[int, int]:
        """The line and column of a place."""
        text, starts = self._positions(path)
        line = int(np.searchsorted(starts, offset, side="right"))
        return line, len(text[int(starts[line - 1]) : offset].decode("utf-8", "replace")) + 1

    def _positions_of(self, path: str) -> tuple[bytes, NDArray[np.int64]]:
        text = self._world.text(path)
        ends = np.flatnonzero(np.frombuffer(text, dtype=np.uint8) == ord("\n")) + 1
        return text, np.concatenate([[0], ends])

    def _inside_of(self, path: str) -> dict[int, str]:
        return {symbol.position: symbol.uid for symbol in self._store.in_file(path, limit=_MAX_IN_FILE)}


def _bound_facts(facts: Iterable[F], limit: int, cut: str = "") -> Bounded[F]:
    items: Sequence[F] = list(islice(facts, limit + 1))
    more = f"only the first {limit} are listed" if len(items) > limit else ""
    return Bounded(items=tuple(items[:limit]), cut="; ".join(filter(None, (more, cut))))


def _split_uid(uid: str, kind: str) -> tuple[str, int]:
    path, mark, index = uid.rpartition(f"#{kind}")
    if not mark or not index.isascii() or not index.isdigit() or len(index) > 9:
        raise InvalidArgument(
            f"{uid!r} is no id of a {kind}", hint=f"they look like src/app.py#{kind}3; list them by path"
        )
    return path, int(index)


def _certainty(certain: bool) -> str:
    return "CERTAIN" if certain else "UNCERTAIN"

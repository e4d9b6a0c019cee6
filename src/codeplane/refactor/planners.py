"""The planner for each kind of refactoring, with the sweep of documentation."""

import keyword
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from codeplane.code.entity import Bound
from codeplane.code.resolve.tier import SURE
from codeplane.code.resolve.world import World
from codeplane.index.fact_store import FactStore
from codeplane.index.files.paths import canonical
from codeplane.kernel.config import RefactorConfig
from codeplane.kernel.errors import InvalidArgument, NotFound, NotRefactorable
from codeplane.kernel.json import JsonValue
from codeplane.query.explain.explain import entry
from codeplane.query.near_names import near_names
from codeplane.query.search.scope import scope
from codeplane.query.search.symbols import Target, targets
from codeplane.refactor.delete.planner import files_left_behind, plan_delete
from codeplane.refactor.documents.dotted_names import DottedNames
from codeplane.refactor.documents.paths import path_edits
from codeplane.refactor.documents.sweep import sweep_documents
from codeplane.refactor.draft import UNSEARCHED, Danger, Draft, Edit
from codeplane.refactor.move.file_move import plan_file_move
from codeplane.refactor.move.symbol_move import plan_symbol_move
from codeplane.refactor.plan import Planner, RefactorSpec
from codeplane.refactor.rename.alias import alias_at
from codeplane.refactor.rename.planner import plan_rename
from codeplane.refactor.scip.authority import ScipAuthority, apply_authority
from codeplane.refactor.scip.store import ScipStore
from codeplane.refactor.structural.planner import plan_replace

_MAX_LISTED = 20
# `path:name`, without a line or a class.
_BARE = re.compile(r"[^:]:[^\W\d][\w$]*\s*$")


class Planners:
    """Returns the planner for a request."""

    def __init__(self, *, root: Path, config: RefactorConfig, scip: ScipStore) -> None:
        self._root = root
        self._config = config
        self._scip = scip

    def indexes(self) -> tuple[tuple[str, int], ...]:
        """Return the imported indexes that plans depend on, and when each was imported."""
        return self._scip.list_indexes()

    def planner(self, spec: RefactorSpec) -> Planner:
        """Return the planner for a request."""
        return {"rename": self._rename, "move": self._move, "delete": self._delete, "replace": self._replace}[
            spec.kind
        ](spec)

    def _rename(self, spec: RefactorSpec) -> Planner:
        """Return the planner that renames a symbol or a module."""

        def planner(world: World, store: FactStore, deadline: float) -> Draft:
            module = self._module(world, spec.symbol)
            if module is not None:
                new_path = _sibling_path(module, spec.new_name)
                draft = _with_search_warning(plan_file_move(world, store, module, new_path, deadline=deadline))
                return self._with_paths(world, store, _importable(module, new_path, draft))
            target = alias_at(world, spec.symbol) or resolve_target(world, store, spec.symbol)
            draft = _with_search_warning(plan_rename(world, store, target, spec.new_name, deadline=deadline))
            draft = replace(
                apply_authority(draft, ScipAuthority(self._scip, world.snapshot)), name=_dotted_name(target)
            )
            if not spec.options.get("include_comments", True):
                return draft
            return self._with_documents(world, store, target, spec.new_name, draft, deadline)

        return planner

    def _move(self, spec: RefactorSpec) -> Planner:
        """Return the planner that moves files or a symbol."""
        goes_to = canonical(spec.new_name, root=self._root)

        def planner(world: World, store: FactStore, deadline: float) -> Draft:
            if spec.options.get("files"):
                path = canonical(spec.symbol, root=self._root)
                draft = _with_search_warning(plan_file_move(world, store, path, goes_to, deadline=deadline))
                return self._with_paths(world, store, _importable(path, goes_to, draft))
            target = resolve_target(world, store, spec.symbol)
            draft = _with_search_warning(plan_symbol_move(world, store, target, goes_to, deadline=deadline))
            draft = _importable("" if goes_to not in world.snapshot.files else goes_to, goes_to, draft)
            return replace(draft, name=_dotted_name(target))

        return planner

    def _delete(self, spec: RefactorSpec) -> Planner:
        """Return the planner that deletes a symbol, a file or a folder."""

        def planner(world: World, store: FactStore, deadline: float) -> Draft:
            force = bool(spec.options.get("force"))
            path = spec.symbol.strip().removeprefix("./").rstrip("/")
            if path in world.snapshot.files:
                return plan_delete(world, store, path, force=force, deadline=deadline)
            folder = canonical(path, root=self._root) if self._is_folder(world, store, spec.symbol, path) else ""
            if not folder:
                return plan_delete(
                    world, store, resolve_target(world, store, spec.symbol), force=force, deadline=deadline
                )
            below = [path for path in world.snapshot.files if path.startswith(f"{folder}/")]
            if not below:
                raise NotRefactorable(
                    f"no file in the folder {folder} belongs to what is looked at here",
                    hint="what git or .cplignore leaves out is deleted outside of CodePlane",
                )
            draft = plan_delete(world, store, folder, force=force, deadline=deadline)
            left = files_left_behind(self._root / folder, self._root, frozenset(world.snapshot.files))
            files = f"{len(draft.removes)} file{'s' * (len(draft.removes) != 1)}"
            draft = replace(draft, title=f"delete the folder {folder} ({files})")
            return replace(draft, dangers=(*draft.dangers, left)) if left is not None else draft

        return planner

    def _is_folder(self, world: World, store: FactStore, symbol: str, path: str) -> bool:
        """Whether a folder is meant: it is written as a path, or no symbol has its name."""
        if not path or ":" in path or not (self._root / path).is_dir():
            return False
        return "/" in symbol or not targets(world, store, symbol.strip())

    def _replace(self, spec: RefactorSpec) -> Planner:
        """Return the planner that rewrites the matches of a pattern."""
        where = spec.options.get("paths")
        keep = scope([str(path) for path in where] if isinstance(where, list) else (), (), "include", self._root)
        language = str(spec.options.get("language", ""))

        def planner(world: World, store: FactStore, deadline: float) -> Draft:
            return plan_replace(world, spec.symbol, spec.new_name, language, keep=keep, deadline=deadline)

        return planner

    def _module(self, world: World, symbol: str) -> str | None:
        """Return the file or folder if a module is named by its path."""
        path = symbol.removeprefix("./").rstrip("/")
        if path in world.snapshot.files:
            return path
        below = f"{path}/"
        return path if "/" in symbol and any(path.startswith(below) for path in world.snapshot.files) else None

    def _with_paths(self, world: World, store: FactStore, draft: Draft) -> Draft:
        """Add the places in documentation that name the moved paths."""
        if not self._config.doc_sweep.enabled:
            what = "comments and documentation that name the old place are left as they are"
            return replace(draft, dangers=(*draft.dangers, Danger(kind="documents", what=what)))
        ends = tuple(extension.lower() for extension in self._config.doc_sweep.scan_extensions)
        words = path_edits(world, store, {move.path: move.new_path for move in draft.moves})
        words = [edit for edit in words if edit.path.lower().endswith(ends)]
        seen = {edit.path for edit in words}
        what = "comments, and dotted names in documentation, that name the old place are left as they are"
        return replace(
            draft,
            edits=(*draft.edits, *words),
            dangers=(
                *(danger for danger in draft.dangers if danger.kind != "path_in_text" or danger.path not in seen),
                Danger(kind="documents", what=what),
            ),
        )

    def _with_documents(
        self, world: World, store: FactStore, target: Target, new_name: str, draft: Draft, deadline: float
    ) -> Draft:
        """Add the places in comments and documentation that name the symbol."""
        if not self._config.doc_sweep.enabled:
            return draft
        edits = [*draft.edits, *(edit for candidate in draft.candidates for edit in candidate.edits)]
        sweep = partial(
            sweep_documents,
            world,
            store,
            name=target.bound.name,
            new_name=new_name,
            qualified=_qualified_name(world, target),
            near=frozenset(edit.path for edit in edits if edit.tier in SURE),
            config=self._config.doc_sweep,
            deadline=deadline,
            mentions=DottedNames(world, store, target.bound.name),
        )
        words = sweep(
            bounds=_renamed_definitions(world, target, (draft.candidates[0] if draft.candidates else draft).edits)
        )
        cut = "; ".join(filter(None, (draft.coverage.truncated, words.coverage.truncated)))
        coverage = replace(draft.coverage, truncated=cut)
        if not draft.candidates:
            return replace(draft, edits=_join_edits(draft.edits, words.edits), coverage=coverage)
        # What a text means depends on the candidate; which files contain the name does not.
        within = frozenset(edit.path for edit in words.edits)
        others = [
            sweep(bounds=_renamed_definitions(world, target, candidate.edits), paths=within)
            for candidate in draft.candidates[1:]
        ]
        candidates = [
            replace(draft_candidate, edits=_join_edits(draft_candidate.edits, found.edits))
            for draft_candidate, found in zip(draft.candidates, (words, *others), strict=True)
        ]
        return replace(draft, candidates=tuple(candidates), coverage=coverage)


def resolve_target(world: World, store: FactStore, symbol: str) -> Target:
    """Return the symbol of this name; raise an error that lists them if there are several."""
    found = targets(world, store, symbol.strip().removeprefix("./"))
    if len(found) > 1 and _BARE.search(symbol):
        # A member has a spelling of its own, `path:Class.name`.
        found = [target for target in found if target.bound.scope == 0] or found
    if not found:
        near = near_names(store, symbol)
        hint = f"did you mean {', '.join(near[:5])}?" if near else "send path:line:column, lines and columns from 1"
        raise NotFound(f"no symbol {symbol!r} is defined here", hint=hint)
    if len(found) > 1:
        listed = [entry(target) for target in found[:_MAX_LISTED]]
        rows: list[JsonValue] = [
            {"id": symbol_entry.id, "path": symbol_entry.path, "line": symbol_entry.line} for symbol_entry in listed
        ]
        more = f" and {len(found) - len(listed)} more" if len(found) > len(listed) else ""
        raise InvalidArgument(
            f"{len(found)} symbols are called {symbol}: "
            + "; ".join(symbol_entry.text() for symbol_entry in listed)
            + more,
            hint="send the id of one of them, or path:line:column",
            details={"candidates": rows},
        )
    return found[0]


def _with_search_warning(draft: Draft) -> Draft:
    """Return a draft that warns of uses it may lack, if there was no time to look at all files."""
    cut = draft.coverage.truncated
    if not cut:
        return draft
    return replace(draft, dangers=(*draft.dangers, Danger(kind=UNSEARCHED, what=f"uses may be left: {cut}")))


def _renamed_definitions(world: World, target: Target, edits: Iterable[Edit]) -> frozenset[Bound]:
    """Return the definitions that certain edits rename."""
    found = {target.bound}
    for edit in edits:
        facts = world.facts(edit.path) if edit.role == "DEFINITION" and edit.tier in SURE else None
        for definition in facts.definitions if facts is not None else ():
            if definition.name_at == edit.start:
                found.add(Bound(edit.path, definition.scope, definition.name))
    return frozenset(found)


def _join_edits(edits: Iterable[Edit], words: Sequence[Edit]) -> tuple[Edit, ...]:
    """Join edits and words; an unlikely edit in a sentence gives way to the word that the sweep found there."""
    read = {(edit.path, edit.start) for edit in words}
    return (*(edit for edit in edits if edit.likely or (edit.path, edit.start) not in read), *words)


def _dotted_name(target: Target) -> str:
    """Return a symbol's dotted name within its module."""
    return target.definition.path if target.definition is not None else target.bound.name


def _importable(path: str, new_path: str, draft: Draft) -> Draft:
    """Refuse a module path that no import can name, if imports have to be written."""
    if not new_path.endswith(".py") or not draft.edits:
        return draft
    before = set(path.removesuffix(".py").split("/"))
    for part in new_path.removesuffix(".py").split("/"):
        if part not in before and (keyword.iskeyword(part) or not part.isidentifier()):
            raise InvalidArgument(f"{part!r} cannot stand in an import", hint="choose letters, digits and _")
    return draft


def _qualified_name(world: World, target: Target) -> str:
    """Return a symbol's dotted name with its module, and with its function if it is local to one."""
    bound, facts = target.bound, world.facts(target.bound.file)
    module = bound.file.rpartition(".")[0].removesuffix("/__init__").replace("/", ".")
    inside = bound.name
    if target.definition is not None:
        inside = target.definition.path
    elif facts is not None:
        scope = bound.scope
        while scope > 0 and facts.scopes[scope].definition < 0:
            scope = facts.scopes[scope].parent
        if scope > 0:
            inside = f"{facts.definitions[facts.scopes[scope].definition].path}.{bound.name}"
    return f"{module}.{inside}"


def _sibling_path(path: str, name: str) -> str:
    """Return a module's path under another name in the same folder, with the same extension."""
    folder, _, last = path.rpartition("/")
    if "/" in name:
        raise InvalidArgument("a module's new_name is a name, not a path", hint="refactor_move takes paths")
    stem, dot, ending = last.partition(".")
    del stem
    new = name if "." in name or not dot else f"{name}.{ending}"
    return f"{folder}/{new}" if folder else new

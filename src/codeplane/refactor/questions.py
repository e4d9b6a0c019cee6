"""What is asked for, turned into planners: which symbol is meant, and what text beside the code speaks of it."""

import keyword
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from codeplane.code.resolve.entity import Bound
from codeplane.code.resolve.tier import SURE
from codeplane.code.resolve.world import World
from codeplane.index.fact_store import FactStore
from codeplane.index.files.paths import canonical
from codeplane.kernel.config import RefactorConfig
from codeplane.kernel.errors import InvalidArgument, NotFound, NotRefactorable
from codeplane.kernel.json import JsonValue
from codeplane.query.explain.explain import entry, near_names
from codeplane.query.search.scope import scope
from codeplane.query.search.symbols import Target, targets
from codeplane.refactor.delete.folder import left_behind
from codeplane.refactor.delete.planned import planned_delete
from codeplane.refactor.documents.mentions import Mentions
from codeplane.refactor.documents.paths import paths
from codeplane.refactor.documents.sweep import swept
from codeplane.refactor.draft import Danger, Draft, Edit
from codeplane.refactor.move.files import planned_file_move
from codeplane.refactor.move.symbol import planned_symbol_move
from codeplane.refactor.plan import Asked, Planner
from codeplane.refactor.rename.alias import alias_at
from codeplane.refactor.rename.planned import planned_rename
from codeplane.refactor.scip.authority import Authority, raised
from codeplane.refactor.scip.store import ScipStore
from codeplane.refactor.structural.planned import planned_replace

_MAX_LISTED = 20


class Questions:
    """Knows which planner answers what."""

    def __init__(self, *, root: Path, config: RefactorConfig, scip: ScipStore) -> None:
        self._root = root
        self._config = config
        self._scip = scip

    def indexes(self) -> tuple[tuple[str, int], ...]:
        """The indexes of other tools that answers depend on, and when each was taken in."""
        return self._scip.taken_in()

    def planner(self, asked: Asked) -> Planner:
        """The planner that answers a question."""
        return {"rename": self._rename, "move": self._move, "delete": self._delete, "replace": self._replace}[
            asked.kind
        ](asked)

    def _rename(self, asked: Asked) -> Planner:
        """Another name for a symbol, or for a module."""

        def planner(world: World, store: FactStore, deadline: float) -> Draft:
            module = self._module(world, asked.symbol)
            if module is not None:
                new_path = _beside(module, asked.new_name)
                draft = planned_file_move(world, store, module, new_path, deadline=deadline)
                return self._with_paths(world, store, _importable(module, new_path, draft))
            target = alias_at(world, asked.symbol) or meant(world, store, asked.symbol)
            draft = planned_rename(world, store, target, asked.new_name, deadline=deadline)
            draft = replace(raised(draft, Authority(self._scip, world.snapshot)), name=_inside(target))
            if not asked.options.get("include_comments", True):
                return draft
            return self._with_words(world, store, target, asked.new_name, draft, deadline)

        return planner

    def _move(self, asked: Asked) -> Planner:
        """Another place for files, or for a symbol."""
        goes_to = canonical(asked.new_name, root=self._root)

        def planner(world: World, store: FactStore, deadline: float) -> Draft:
            if asked.options.get("files"):
                path = canonical(asked.symbol, root=self._root)
                draft = planned_file_move(world, store, path, goes_to, deadline=deadline)
                return self._with_paths(world, store, _importable(path, goes_to, draft))
            target = meant(world, store, asked.symbol)
            draft = planned_symbol_move(world, store, target, goes_to, deadline=deadline)
            draft = _importable("" if goes_to not in world.snapshot.files else goes_to, goes_to, draft)
            return replace(draft, name=_inside(target))

        return planner

    def _delete(self, asked: Asked) -> Planner:
        """The end of a symbol or a file."""

        def planner(world: World, store: FactStore, deadline: float) -> Draft:
            force = bool(asked.options.get("force"))
            path = asked.symbol.strip().removeprefix("./").rstrip("/")
            if path in world.snapshot.files:
                return planned_delete(world, store, path, force=force, deadline=deadline)
            folder = canonical(path, root=self._root) if self._is_folder(world, store, asked.symbol, path) else ""
            if not folder:
                return planned_delete(world, store, meant(world, store, asked.symbol), force=force, deadline=deadline)
            below = [one for one in world.snapshot.files if one.startswith(f"{folder}/")]
            if not below:
                raise NotRefactorable(
                    f"no file in the folder {folder} belongs to what is looked at here",
                    hint="what git or .cplignore leaves out is deleted outside of CodePlane",
                )
            draft = planned_delete(world, store, folder, force=force, deadline=deadline)
            left = left_behind(self._root / folder, self._root, frozenset(world.snapshot.files))
            files = f"{len(draft.removes)} file{'s' * (len(draft.removes) != 1)}"
            draft = replace(draft, title=f"delete the folder {folder} ({files})")
            return replace(draft, dangers=(*draft.dangers, left)) if left is not None else draft

        return planner

    def _is_folder(self, world: World, store: FactStore, symbol: str, path: str) -> bool:
        """Whether a folder is meant: it is named as a path, or nothing else has its name."""
        if not path or ":" in path or not (self._root / path).is_dir():
            return False
        return "/" in symbol or not targets(world, store, symbol.strip())

    def _replace(self, asked: Asked) -> Planner:
        """Other syntax wherever a pattern matches."""
        where = asked.options.get("paths")
        keep = scope([str(one) for one in where] if isinstance(where, list) else (), (), "include", self._root)
        language = str(asked.options.get("language", ""))

        def planner(world: World, store: FactStore, deadline: float) -> Draft:
            return planned_replace(world, asked.symbol, asked.new_name, language, keep=keep, deadline=deadline)

        return planner

    def _module(self, world: World, symbol: str) -> str | None:
        """The file or folder that is named as a module: by its path."""
        path = symbol.removeprefix("./").rstrip("/")
        if path in world.snapshot.files:
            return path
        below = f"{path}/"
        return path if "/" in symbol and any(one.startswith(below) for one in world.snapshot.files) else None

    def _with_paths(self, world: World, store: FactStore, draft: Draft) -> Draft:
        """A move of files with what documentation says of their paths."""
        if not self._config.doc_sweep.enabled:
            what = "comments and documentation that name the old place are left as they are"
            return replace(draft, dangers=(*draft.dangers, Danger(kind="documents", what=what)))
        ends = tuple(one.lower() for one in self._config.doc_sweep.scan_extensions)
        words = paths(world, store, {one.path: one.new_path for one in draft.moves})
        words = [edit for edit in words if edit.path.lower().endswith(ends)]
        seen = {edit.path for edit in words}
        what = "comments, and dotted names in documentation, that name the old place are left as they are"
        return replace(
            draft,
            edits=(*draft.edits, *words),
            dangers=(
                *(one for one in draft.dangers if one.kind != "path_in_text" or one.path not in seen),
                Danger(kind="documents", what=what),
            ),
        )

    def _with_words(
        self, world: World, store: FactStore, target: Target, new_name: str, draft: Draft, deadline: float
    ) -> Draft:
        """A rename with what comments and documentation say of the symbol."""
        if not self._config.doc_sweep.enabled:
            return draft
        edits = [*draft.edits, *(edit for one in draft.candidates for edit in one.edits)]
        sweep = partial(
            swept,
            world,
            store,
            name=target.bound.name,
            new_name=new_name,
            qualified=_qualified(world, target),
            near=frozenset(edit.path for edit in edits if edit.tier in SURE),
            config=self._config.doc_sweep,
            deadline=deadline,
            mentions=Mentions(world, store, target.bound.name),
        )
        words = sweep(bounds=_renamed(world, target, (draft.candidates[0] if draft.candidates else draft).edits))
        cut = "; ".join(filter(None, (draft.coverage.truncated, words.coverage.truncated)))
        coverage = replace(draft.coverage, truncated=cut)
        if not draft.candidates:
            return replace(draft, edits=_joined(draft.edits, words.edits), coverage=coverage)
        # What a text means depends on what is chosen; which files speak of the name does not.
        within = frozenset(edit.path for edit in words.edits)
        others = [sweep(bounds=_renamed(world, target, one.edits), paths=within) for one in draft.candidates[1:]]
        candidates = [
            replace(one, edits=_joined(one.edits, found.edits))
            for one, found in zip(draft.candidates, (words, *others), strict=True)
        ]
        return replace(draft, candidates=tuple(candidates), coverage=coverage)


def meant(world: World, store: FactStore, symbol: str) -> Target:
    """The one symbol that is named; an error that lists them when there are several."""
    found = targets(world, store, symbol.strip().removeprefix("./"))
    if not found:
        near = near_names(store, symbol)
        hint = f"did you mean {', '.join(near[:5])}?" if near else "send path:line:column, lines and columns from 1"
        raise NotFound(f"no symbol {symbol!r} is defined here", hint=hint)
    if len(found) > 1:
        listed = [entry(one) for one in found[:_MAX_LISTED]]
        rows: list[JsonValue] = [{"id": one.id, "path": one.path, "line": one.line} for one in listed]
        more = f" and {len(found) - len(listed)} more" if len(found) > len(listed) else ""
        raise InvalidArgument(
            f"{len(found)} symbols are called {symbol}: " + "; ".join(one.text() for one in listed) + more,
            hint="send the id of one of them, or path:line:column",
            details={"candidates": rows},
        )
    return found[0]


def _renamed(world: World, target: Target, edits: Iterable[Edit]) -> frozenset[Bound]:
    """The definitions that sure edits give another name."""
    found = {target.bound}
    for edit in edits:
        facts = world.facts(edit.path) if edit.role == "DEFINITION" and edit.tier in SURE else None
        for one in facts.definitions if facts is not None else ():
            if one.name_at == edit.start:
                found.add(Bound(edit.path, one.scope, one.name))
    return frozenset(found)


def _joined(edits: Iterable[Edit], words: Sequence[Edit]) -> tuple[Edit, ...]:
    """Edits with those of words; what a sentence spells out is a word where the sweep has read it."""
    read = {(edit.path, edit.start) for edit in words}
    return (*(edit for edit in edits if edit.likely or (edit.path, edit.start) not in read), *words)


def _inside(target: Target) -> str:
    """A symbol's dotted name within its module."""
    return target.definition.path if target.definition is not None else target.bound.name


def _importable(path: str, new_path: str, draft: Draft) -> Draft:
    """Refuse a module's place that no import can name, when there are imports to be written."""
    if not new_path.endswith(".py") or not draft.edits:
        return draft
    before = set(path.removesuffix(".py").split("/"))
    for part in new_path.removesuffix(".py").split("/"):
        if part not in before and (keyword.iskeyword(part) or not part.isidentifier()):
            raise InvalidArgument(f"{part!r} cannot stand in an import", hint="choose letters, digits and _")
    return draft


def _qualified(world: World, target: Target) -> str:
    """A symbol's dotted name with its module's, and with its function's where it lives in one."""
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


def _beside(path: str, name: str) -> str:
    """A module's path under another name in the same folder, its ending kept."""
    folder, _, last = path.rpartition("/")
    if "/" in name:
        raise InvalidArgument("a module's new_name is a name, not a path", hint="refactor_move takes paths")
    stem, dot, ending = last.partition(".")
    del stem
    new = name if "." in name or not dot else f"{name}.{ending}"
    return f"{folder}/{new}" if folder else new

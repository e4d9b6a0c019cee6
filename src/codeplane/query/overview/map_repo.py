"""The `map_repo` operation: a repository at a glance, within a character budget."""

import asyncio
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal as OneOf

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from codeplane.code.resolve.world import World
from codeplane.disk.git_folders import repository_name
from codeplane.index.files.paths import canonical
from codeplane.index.snapshot import IndexedFile, Snapshot
from codeplane.kernel.bounded_cache import BoundedCache
from codeplane.kernel.call import Call
from codeplane.kernel.cursor import Cursors
from codeplane.kernel.errors import CursorExpired
from codeplane.kernel.operation import Result, Risk, operation
from codeplane.kernel.page import Pagination
from codeplane.kernel.plural import plural
from codeplane.kernel.workspace_request import WorkspaceRequest
from codeplane.query.budget import fit_lines
from codeplane.query.consistent_read import read_consistently
from codeplane.query.folders import folders_of
from codeplane.query.knowledge import Knowledge
from codeplane.query.overview.composition import MakeUp, MakeUpRequest, make_up
from codeplane.query.overview.dependencies import Dependencies, dependencies
from codeplane.query.overview.entry_points import (
    EntryPoint,
    EntryPoints,
    EntryPointsRequest,
    all_entry_points,
    entry_points,
)
from codeplane.query.overview.focus import Words, find_focus
from codeplane.query.overview.graph import Graph, graph_of
from codeplane.query.overview.layout import (
    LanguageShare,
    Structure,
    TestLayout,
    language_shares,
    layout_of_tests,
    rest_of_tree,
    structure,
)
from codeplane.query.overview.most_used import MostUsed, MostUsedRequest, most_used
from codeplane.query.overview.outline import OutlineFile, outline
from codeplane.query.overview.public_names import PublicName, public_names

DEFAULT_BUDGET = 6_000
MAX_BUDGET = 50_000
_SHOWN_ENTRY_POINTS = 10
_SHOWN_EXPORTS = 40
_FOR_HEAD = 0.6
_FOR_END = 150
_KEPT_SNAPSHOTS = 4

Part = OneOf["structure", "languages", "entry_points", "dependencies", "test_layout", "public_api"]
_DEFAULT: tuple[Part, ...] = ("structure", "languages", "entry_points", "test_layout")


class MapRequest(WorkspaceRequest):
    """What the map shows, what it is about, and how long it may be."""

    include: tuple[Part, ...] = Field(
        (), max_length=10, description="default: structure, languages, entry_points, test_layout"
    )
    depth: int = Field(3, ge=1, le=10, description="of the folder tree")
    focus: tuple[str, ...] = Field((), max_length=20, description="a task in words, files or symbols")
    budget: int = Field(DEFAULT_BUDGET, ge=500, le=MAX_BUDGET, description="characters of text")
    # Accepted and not listed: an answer that has more of the tree gives it.
    cursor: SkipJsonSchema[str | None] = Field(None, description="next_cursor: what the tree left out, alone")


class MapResult(Result):
    """The parts asked for, and the definitions that matter most."""

    structure: Structure | None = None
    languages: tuple[LanguageShare, ...] | None = None
    entry_points: tuple[EntryPoint, ...] | None = None
    entry_point_count: int | None = None
    dependencies: Dependencies | None = None
    test_layout: TestLayout | None = None
    public_api: tuple[PublicName, ...] | None = None
    public_api_count: int | None = None
    map: tuple[OutlineFile, ...] = ()
    code_files: int
    cut: tuple[str, ...] = ()
    budget: int
    epoch: int
    commit: str | None
    partial: str | None = None
    stale: tuple[str, ...] = ()
    pagination: Pagination = Field(default_factory=Pagination)
    continued: bool = Field(False, description="a further page of the tree, alone")

    def text(self) -> str:
        if self.continued and self.structure is not None:
            end = f"[{plural(self.structure.left_out, 'path')} left of the tree; epoch {self.epoch}]"
            return "\n".join([*(node.line() for node in self.structure.tree), end]) + self.pagination.line()
        # A cursor is long: only a caller who asks for the tree alone gets one.
        return self._text() + (self.pagination.line() if self.languages is None else "")

    def _text(self) -> str:
        return "\n".join([*self.head(), *(file.text() for file in self.map), self._end()])

    def head(self) -> list[str]:
        """Everything but the ranked definitions, as far as the budget allows."""
        lines: list[str] = []
        if self.languages is not None:
            shares = ", ".join(share.text() for share in self.languages[:8])
            lines.append(f"languages: {shares or 'no code that is known'}")
        if self.structure is not None:
            lines += self.structure.lines()
        if self.entry_points is not None and self.entry_points:
            lines.append("entry points:")
            entries = [entry_point.text() for entry_point in self.entry_points[:_SHOWN_ENTRY_POINTS]]
            lines += [f"  {line}" for entry in entries for line in entry.splitlines()]
            more = (self.entry_point_count or 0) - _SHOWN_ENTRY_POINTS
            lines += [f"  and {more} more"] if more > 0 else []
        if self.test_layout is not None:
            lines.append(self.test_layout.line())
        if self.dependencies is not None:
            lines.append(self.dependencies.text())
        if self.public_api is not None:
            lines += self._api()
        return fit_lines(lines, int(self.budget * _FOR_HEAD))

    def _api(self) -> list[str]:
        if not self.public_api:
            return ["public names: none are listed in packages' front files"]
        names_by_path: dict[str, list[str]] = {}
        for name_entry in (self.public_api or ())[:_SHOWN_EXPORTS]:
            names_by_path.setdefault(name_entry.path, []).append(
                name_entry.name + ("" if name_entry.certainty == "CERTAIN" else "?")
            )
        lines = [f"  {path}: {', '.join(names)}" for path, names in names_by_path.items()]
        more = (self.public_api_count or 0) - _SHOWN_EXPORTS
        return ["public names:", *lines, *([f"  and {more} more"] if more > 0 else [])]

    def _end(self) -> str:
        text = f"[{len(self.map)} of {self.code_files:,} code files shown, best first; a larger budget shows more"
        text = f"{text}; epoch {self.epoch} at {(self.commit or 'no commit')[:9]}]"
        for more in (*self.cut, self.partial or ""):
            text += f" {more}." if more else ""
        return text + (f" STALE: changed meanwhile: {', '.join(self.stale[:2])}" if self.stale else "")


class MapOperations:
    """Maps the repository from the index."""

    def __init__(self, *, root: Path, knowledge: Knowledge, cursors: Cursors) -> None:
        self._root = root
        self._cursors = cursors
        self._snapshots = BoundedCache[int, Snapshot](_KEPT_SNAPSHOTS)
        self._knowledge = knowledge
        self._held: _Held | None = None
        self._building = threading.Lock()

    @operation("map_repo", risk=Risk.READ, toolset="core")
    async def map_repo(self, call: Call, request: MapRequest) -> MapResult:
        """The repository at a glance: languages, folders, entry points, tests, then the most used definitions.

        focus (a task in words, files or symbols) ranks what matters for it; budget is in characters.
        """
        scope = f"map_repo:{call.task.session_id if call.task else ''}:{request.depth}"
        if request.cursor is not None:
            return await asyncio.to_thread(self._rest, request, scope)
        read = await read_consistently(
            self._knowledge, lambda snapshot: self._map(snapshot, request), lambda mapped: mapped.paths
        )
        mapped = read.answer
        if request.focus and not mapped.focused:
            call.warn("nothing here is called what focus says; the map is about everything")
        update: dict[str, object] = {"partial": read.partial, "stale": read.stale}
        if mapped.result.structure is not None and mapped.result.structure.left_out:
            self._snapshots.put(read.snapshot.epoch, read.snapshot)
            update["pagination"] = self._page(scope, read.snapshot, 0, mapped.result.structure.left_out)
        return mapped.result.model_copy(update=update)

    def _rest(self, request: MapRequest, scope: str) -> MapResult:
        """The next page of tree entries, from the first answer's snapshot."""
        state = self._cursors.open(str(request.cursor), scope=scope)
        first = int(str(state["first"]))
        snapshot = self._snapshots.get(int(str(state["epoch"])))
        if snapshot is None:
            raise CursorExpired("the state this cursor speaks of is no longer held")
        root = folders_of(snapshot.files)
        tree, after = rest_of_tree(snapshot, root, depth=request.depth, first=first, room=request.budget)
        page = Structure(
            root=self._root.name, tree=tuple(tree), file_count=root.file_count, contexts=(), left_out=after
        )
        return MapResult(
            structure=page,
            code_files=self._graph().graph.parsed,
            budget=request.budget,
            epoch=snapshot.epoch,
            commit=snapshot.commit,
            pagination=self._page(scope, snapshot, first + len(tree), after),
            continued=True,
        )

    def _page(self, scope: str, snapshot: Snapshot, first: int, left: int) -> Pagination:
        if not left:
            return Pagination()
        return Pagination(next_cursor=self._cursors.issue(scope=scope, state={"epoch": snapshot.epoch, "first": first}))

    @operation("symbol.most_used", risk=Risk.READ)
    async def list_most_used(self, call: Call, request: MostUsedRequest) -> MostUsed:
        """The definitions that most other files use, with how many files that are."""

        def look(snapshot: Snapshot) -> MostUsed:
            graph = self._graph().graph
            symbols = most_used(snapshot, self._knowledge.store, graph, request.limit)
            return MostUsed(symbols=symbols, code_files=graph.parsed, cut=graph.cut, epoch=snapshot.epoch)

        read = await read_consistently(self._knowledge, look, lambda found: [symbol.path for symbol in found.symbols])
        return read.answer.model_copy(update={"partial": read.partial})

    @operation("repo.entry_points", risk=Risk.READ)
    async def list_entry_points(self, call: Call, request: EntryPointsRequest) -> EntryPoints:
        """Where the repository is entered: its commands and programs first, then the front files of its libraries, last
        what only shows or measures it, such as examples."""

        def look(snapshot: Snapshot) -> EntryPoints:
            world = World(snapshot, self._knowledge.store, self._knowledge.modules)
            return all_entry_points(world, self._knowledge.store, repository_name(self._root), request.limit)

        read = await read_consistently(self._knowledge, look, lambda found: ())
        return read.answer.model_copy(update={"partial": read.partial})

    @operation("folder.make_up", risk=Risk.READ)
    async def made_of(self, call: Call, request: MakeUpRequest) -> MakeUp:
        """What a folder is made of: its folders and files by size, and the languages of each."""
        folder = canonical(request.folder, root=self._root) if request.folder.strip("/") else ""
        snapshot = await (await self._knowledge.fresh()).snapshot(strict=False)
        return await asyncio.to_thread(make_up, snapshot, folder, request.limit, with_lines=request.lines)

    def _map(self, snapshot: Snapshot, request: MapRequest) -> "_Mapped":
        parts, store = request.include or _DEFAULT, self._knowledge.store
        held = self._graph()
        graph = held.graph
        result = MapResult(
            code_files=graph.parsed,
            cut=(graph.cut,) if graph.cut else (),
            budget=request.budget,
            epoch=snapshot.epoch,
            commit=snapshot.commit,
        )
        for part in dict.fromkeys(parts):
            result = result.model_copy(update=self._part(part, snapshot, held, request.depth))
        focus = find_focus(graph, held.words, request.focus) if request.focus else None
        ranking = graph.rank(focus.files, focus.names) if focus else graph.plain
        chosen = outline(
            snapshot,
            store,
            graph,
            ranking,
            room=request.budget - len(result.text()) - _FOR_END,
            with_tests=focus is not None and focus.about_tests,
        )
        return _Mapped(
            result=result.model_copy(update={"map": tuple(chosen.values())}),
            # The function that starts a program has to be current, too.
            paths=(
                *chosen,
                *snapshot.files.keys() & {entry_point.defined_in for entry_point in result.entry_points or ()},
            ),
            focused=focus is not None and bool(focus.files or focus.names),
        )

    def _part(self, part: Part, snapshot: Snapshot, held: "_Held", depth: int) -> dict[str, object]:
        """The fields of one part, cached while files and facts are unchanged."""
        key = (part, depth if part == "structure" else 0)
        with self._building:
            if held.files is not snapshot.files:
                held.parts.clear()
                held.files = snapshot.files
            fields = held.parts.get(key)
            if fields is None:
                fields = held.parts[key] = self._fields(part, snapshot, held, depth)
            return fields

    def _fields(self, part: Part, snapshot: Snapshot, held: "_Held", depth: int) -> dict[str, object]:
        store = self._knowledge.store
        world = World(snapshot, store, self._knowledge.modules)
        if part == "structure":
            return {part: structure(snapshot, folders_of(snapshot.files), self._root.name, depth)}
        if part == "languages":
            return {part: language_shares(snapshot)}
        if part == "test_layout":
            return {part: layout_of_tests(snapshot)}
        if part == "dependencies":
            return {part: dependencies(world, held.graph.paths)}
        if part == "entry_points":
            starts, count = entry_points(world, store)
            return {part: tuple(starts), "entry_point_count": count}
        given, count = public_names(world, store, held.graph.paths)
        return {part: tuple(given), "public_api_count": count}

    def _graph(self) -> "_Held":
        """The graph of the present facts; concurrent callers share one build."""
        with self._building:
            version = self._knowledge.store.version
            if self._held is None or self._held.version != version:
                self._held = _Held(version=version, graph=graph_of(self._knowledge.store))
            return self._held


@dataclass(frozen=True, slots=True, kw_only=True)
class _Mapped:
    result: MapResult
    paths: tuple[str, ...]
    focused: bool


class _Held:
    """Cached data of one version of the facts."""

    def __init__(self, *, version: int, graph: Graph) -> None:
        self.version = version
        self.graph = graph
        self.files: Mapping[str, IndexedFile] = {}
        self.parts: dict[tuple[Part, int], dict[str, object]] = {}

    @cached_property
    def words(self) -> Words:
        """The word index, which only a focus needs."""
        return Words.of(self.graph)

"""The `semantic_diff` operation: a structural comparison of two states of the repository."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import Field

from codeplane.code.resolve.world import World
from codeplane.git.read.pages import PagedRequest, Pages
from codeplane.git.read.reader import Before, GitReader
from codeplane.index.parser_pool import ParserPool
from codeplane.index.snapshot import Snapshot
from codeplane.kernel.bounded_cache import BoundedCache
from codeplane.kernel.call import Call
from codeplane.kernel.cursor import Cursors
from codeplane.kernel.errors import CursorExpired, InvalidArgument, NotFound
from codeplane.kernel.ids import digest
from codeplane.kernel.online_runs import OnlineRuns
from codeplane.kernel.operation import Risk, operation
from codeplane.kernel.plural import plural
from codeplane.kernel.secret_paths import NOTHING_SHOWN, SecretRules
from codeplane.query.compare import epochs
from codeplane.query.compare.answer import SemanticDiffResult
from codeplane.query.compare.change import Change, FileOutlines, order
from codeplane.query.compare.changed_files import ChangedFile, list_changed_files
from codeplane.query.compare.comparison import Comparison
from codeplane.query.compare.content_parser import ContentParser
from codeplane.query.compare.impact import Impacts
from codeplane.query.compare.markdown import markdown
from codeplane.query.compare.outline_loader import LoadedOutlines, OutlineLoader, Unparsed
from codeplane.query.compare.renderer import ChangeRenderer, render_file
from codeplane.query.compare.states import EpochState, GitState, State, WorkTree, epoch_of, is_epoch, states
from codeplane.query.compare.summary import breaking_summary, flatten, hint, summary
from codeplane.query.compare.surface_pair import surface_pairs
from codeplane.query.compare.tokens import body_of
from codeplane.query.knowledge import Knowledge
from codeplane.query.search.scope import PathFilter

_KEPT = 2
_OTHERS = 200
_MARKDOWN = 500


class SemanticDiffRequest(PagedRequest):
    """Which states, and where."""

    base: str = Field("HEAD", max_length=1000, description="ref, a...b or epoch:N")
    target: str | None = Field(None, max_length=1000, description="ref or epoch:M; default: working tree")
    paths: tuple[str, ...] = Field((), max_length=1000)
    limit: int = Field(20, ge=1, le=100)
    format: Literal["text", "markdown"] = "text"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Compared:
    """A finished comparison, cached while its pages are read."""

    key: str
    base: State
    target: State
    changes: Sequence[Change]
    others: Sequence[Unparsed]
    notes: Sequence[str]
    impacts: Impacts
    files: int
    epoch: int
    commit: str | None


class CompareOperations:
    """Answers `semantic_diff`."""

    def __init__(
        self,
        *,
        root: Path,
        home: Path,
        knowledge: Knowledge,
        parsers: ParserPool,
        cursors: Cursors,
        environment: Callable[[], Mapping[str, str]],
        timeout_sec: float = 120.0,
        before: Before | None = None,
        secrets: SecretRules = NOTHING_SHOWN,
        runs: OnlineRuns | None = None,
    ) -> None:
        """`home` holds texts while they are parsed; `before` wraps git commands."""
        self._root = root
        self._knowledge = knowledge
        self._reading = GitReader(
            root=root, environment=environment, timeout_sec=timeout_sec, before=before, secrets=secrets, runs=runs
        )
        self._loading = OutlineLoader(
            reading=self._reading,
            store=knowledge.store,
            parsing=ContentParser(parsers=parsers, folder=home),
        )
        self._pages = Pages(cursors)
        self._kept = BoundedCache[str, _Compared](_KEPT)

    @operation("semantic_diff", risk=Risk.READ, toolset="core", timeout_sec=180.0)
    async def semantic_diff(self, call: Call, request: SemanticDiffRequest) -> SemanticDiffResult:
        """Definitions added, removed, renamed or changed between two states, and who uses them; `!` breaks callers."""
        compared = await self._comparison(call, request)
        page = self._pages.page(call, request, compared.changes, limit=request.limit, state=compared.key)
        is_markdown = request.format == "markdown"
        shown = list(compared.changes[:_MARKDOWN] if is_markdown else page.items)
        await asyncio.to_thread(compared.impacts.search, flatten(shown))
        rendering = ChangeRenderer(self._knowledge.store, compared.impacts)
        changes = await asyncio.to_thread(lambda: tuple(rendering.change(change) for change in shown))
        others = tuple(render_file(change) for change in compared.others[:_OTHERS]) if not request.cursor else ()
        todo = hint(compared.changes, compared.impacts)
        head = f"{compared.base.label} → {compared.target.label}"
        summary_line = summary(compared.changes, compared.files + len(compared.others))
        broken = breaking_summary(compared.changes)
        notes = list(compared.notes)
        if is_markdown and len(compared.changes) > _MARKDOWN:
            notes.append(f"only {_MARKDOWN} of {len(compared.changes)} are shown; name fewer with paths")
        unknown = compared.impacts.count_truncated(flatten(compared.changes))
        here = compared.impacts.count_truncated(flatten(shown))
        return SemanticDiffResult(
            summary=summary_line,
            breaking_summary=broken,
            files_analyzed=compared.files,
            base=compared.base.label,
            target=compared.target.label,
            structural_changes=changes[: request.limit] if is_markdown else changes,
            non_structural_changes=others,
            non_structural_count=len(compared.others),
            agentic_hint=todo,
            impact_truncated=unknown > 0,
            partial=_partial(unknown, here),
            notes=tuple(notes) if not request.cursor else (),
            markdown=markdown(
                head=head,
                summary=summary_line,
                breaking=broken,
                changes=changes,
                others=others,
                notes=[*notes, *([f"partial: {partial}"] if (partial := _partial(unknown, here)) else [])],
                hint=todo,
            )
            if is_markdown
            else None,
            offset=self._pages.position(call, request)["first"] if request.cursor else 0,
            pagination=page.pagination,
        )

    async def _comparison(self, call: Call, request: SemanticDiffRequest) -> _Compared:
        """The requested comparison; all pages come from the same one."""
        wanted = self._pages.state(call, request)
        if wanted is not None and (kept := self._kept.get(wanted)) is not None:
            return kept
        made = await self._compare_states(request)
        if wanted is not None and made.key != wanted:
            raise CursorExpired("the repository has changed since this cursor was given", hint="ask again without it")
        self._kept.put(made.key, made)
        return made

    async def _compare_states(self, request: SemanticDiffRequest) -> _Compared:
        fresh = await self._knowledge.fresh()
        snapshot = await fresh.snapshot(strict=False)
        behind = (await self._knowledge.wait_for_facts(snapshot)).line()
        base: State
        target: State
        if is_epoch(request.base) or is_epoch(request.target):
            base, target = self._epochs(request, snapshot)
            keep = PathFilter(request.paths, self._root) if request.paths else lambda path: True
            loaded = await asyncio.to_thread(
                epochs.between, self._knowledge.store, snapshot, base.epoch, target.epoch, keep
            )
            if request.paths and not loaded.files and not any(map(keep, snapshot.files)):
                raise NotFound(f"no file here is {', '.join(request.paths[:5])}", hint="list_dir shows what is there")
            key = f"{base.epoch} {target.epoch} {snapshot.epoch}"
            is_present = target.epoch == snapshot.epoch
        else:
            base, target = await states(self._reading, request.base, request.target)
            paths = self._reading.pathspecs(request.paths)
            files = await list_changed_files(self._reading, base, target, paths)
            if isinstance(target, WorkTree) and (newer := await fresh.recheck(snapshot, [file.path for file in files])):
                snapshot = newer
                behind = (await self._knowledge.wait_for_facts(snapshot)).line()
            if not files:
                trees = [state.commit for state in (base, target) if isinstance(state, GitState) and state.commit]
                await self._reading.refuse_unknown(paths, *trees)
            key = _key(base, target, files, snapshot)
            if not behind and (kept := self._still(_digest(key, request), base, target, snapshot)) is not None:
                return kept
            loaded = await self._loading.load(files, snapshot)
            is_present = isinstance(target, WorkTree) or target.commit == snapshot.commit
        return await asyncio.to_thread(
            self._compare, base, target, loaded, snapshot, _digest(key, request), behind, is_present
        )

    def _still(self, key: str, base: State, target: State, snapshot: Snapshot) -> _Compared | None:
        """A cached comparison of the same states, with the impact found so far."""
        kept = self._kept.get(key)
        if kept is None or (kept.epoch, kept.commit) != (snapshot.epoch, snapshot.commit):
            return None
        return kept if (kept.base, kept.target) == (base, target) else None

    def _epochs(self, request: SemanticDiffRequest, snapshot: Snapshot) -> tuple[EpochState, EpochState]:
        if not is_epoch(request.base) or (request.target is not None and not is_epoch(request.target)):
            raise InvalidArgument(
                "an epoch is compared with an epoch, a git ref with a git ref",
                hint="base=epoch:N target=epoch:M; without target the present",
            )
        first, last = self._knowledge.store.first_epoch(snapshot.epoch), snapshot.epoch
        base = epoch_of(request.base, first=first, last=last)
        target = epoch_of(request.target or f"epoch:{last}", first=first, last=last)
        return base, target

    def _compare(
        self,
        base: State,
        target: State,
        loaded: LoadedOutlines,
        snapshot: Snapshot,
        key: str,
        behind: str,
        is_present: bool,
    ) -> _Compared:
        world = World(snapshot, self._knowledge.store, self._knowledge.modules)
        comparison = Comparison(loaded.files, world.facts, surface_pairs(loaded, world))
        touched = {nested.path for change in comparison.changes for nested in change.every()}
        touched |= {change.pair.old.path for change in comparison.changes if change.pair.old is not None}
        others = [*loaded.others]
        for files in loaded.files:
            outline = files.new or files.old
            if outline is None or outline.path in touched or isinstance(base, EpochState):
                continue
            file = loaded.differing[outline.path]
            others.append(Unparsed(file=file, language=outline.language.name, note=_describe_unstructured(files)))
        others.sort(key=lambda nested: nested.file.path)
        impacts = Impacts(world, self._knowledge.store, is_present=is_present)
        # Fail-open: what is not settled stays as it was judged.
        with suppress(Exception):
            impacts.settle(flatten(comparison.changes))
        impacts.search(flatten(comparison.changes))
        return _Compared(
            key=key,
            base=base,
            target=target,
            changes=sorted(comparison.changes, key=order),
            others=others,
            notes=[*loaded.notes, *comparison.notes, *([behind] if behind else [])],
            impacts=impacts,
            files=len(loaded.files),
            epoch=snapshot.epoch,
            commit=snapshot.commit,
        )


def _partial(unknown: int, here: int) -> str | None:
    """A note on references that were not searched; `here` of them among the changes shown."""
    if not unknown:
        return None
    further = "asking again looks further for these" if here else "a page looks further for its own"
    shown = f", {here} of them shown here" if here and here < unknown else ""
    return f"not all references were looked at for {plural(unknown, 'change')}{shown}; {further}"


def _digest(key: str, request: SemanticDiffRequest) -> str:
    return digest(f"{key} {request.paths}".encode())


def _key(base: GitState, target: GitState | WorkTree, files: Sequence[ChangedFile], snapshot: Snapshot) -> str:
    """A cache key of the compared contents."""
    if isinstance(target, GitState):
        return f"{base.commit} {target.commit}"
    known = [(file.path, found.digest if (found := snapshot.files.get(file.path)) else "") for file in files]
    return f"{base.commit} {known}"


def _describe_unstructured(files: FileOutlines) -> str:
    """What changed in a file with unchanged definitions."""
    old, new = files.old, files.new
    if old is None or new is None or old.facts is None or new.facts is None:
        return "nothing is defined in it"
    same = body_of(old.facts, old.text, [(0, len(old.text))]) == body_of(new.facts, new.text, [(0, len(new.text))])
    if same:
        return "comments, documentation or layout" if old.text != new.text else "only its name or mode"
    return "imports, documentation or statements outside definitions"

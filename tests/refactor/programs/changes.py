"""Refactorings of a drawn program: asked as people ask, planned as they are, and applied to its texts."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from codeplane.kernel.config import RefactorConfig
from codeplane.kernel.errors import CodePlaneError
from codeplane.refactor.file_changes import splice
from codeplane.refactor.plan import Plan, RefactorSpec, texts_of
from codeplane.refactor.planners import Planners
from codeplane.refactor.scip.store import ScipStore
from tests.refactor.programs.bodies import CLASSES, NAMES
from tests.refactor.programs.program import Program
from tests.refactor.repository import Repository

# Said of whatever others can import, or of words beside the code: that a program does the same does not hang on these.
HARMLESS = frozenset({"public_api", "documents", "package_created"})
_SWAPS = (
    ("$A + $B", "($A) + ($B)"),
    ("print($A)", "print(int($A))"),
    ("len($A)", "$A.__len__()"),
    ("$A % 997", "($A) % 997"),
)


@dataclass(frozen=True, kw_only=True)
class Change:
    """What came of a question: the files afterwards, or why there are none."""

    spec: RefactorSpec
    candidate: str = ""
    files: dict[str, str] | None = None
    refused: str = ""
    risks: tuple[str, ...] = ()
    """What the plan says that it cannot see, and how many edits it only proposes."""


def changes(repo: Repository, home: Path, program: Program, draw: Random, count: int) -> list[Change]:
    """Some refactorings of a program, each of the whole program as it was."""
    planners = Planners(root=home, config=RefactorConfig(), scip=ScipStore(home / "scip.db"))
    kinds: Sequence[Callable[[Repository, Program, Random], RefactorSpec | None]] = (
        *[_rename] * 5,
        *[_file] * 2,
        _folder,
        *[_symbol] * 3,
        _delete,
        _swap,
    )
    found: list[Change] = []
    while len(found) < count:
        spec = draw.choice(kinds)(repo, program, draw)
        if spec is not None:
            found += made(repo, planners, spec)
    return found


def made(repo: Repository, planners: Planners, spec: RefactorSpec) -> list[Change]:
    """What a plan comes to: once, or once a candidate."""
    world = repo.world()
    try:
        draft = planners.planner(spec)(world, repo.store, time.monotonic() + 60)
    except CodePlaneError as error:
        return [Change(spec=spec, refused=f"{type(error).__name__}: {error}")]
    paths = {edit.path for edit in draft.edits} | {
        edit.path for candidate in draft.candidates for edit in candidate.edits
    }
    texts, modes = texts_of(world, sorted({*paths, *(move.path for move in draft.moves), *draft.removes}))
    plan = Plan(
        plan_id="plan",
        spec=spec,
        draft=draft,
        texts=texts,
        modes=modes,
        epoch=1,
        commit=None,
        contexts=(),
        conflicts=(),
        expires_ns=0,
        config=RefactorConfig(),
    )
    wanted = (
        [candidate.id for candidate in draft.candidates if candidate.id == "family"] if draft.candidates else [None]
    )
    return [_applied(repo, plan, candidate_id) for candidate_id in wanted]


def _applied(repo: Repository, plan: Plan, candidate: str | None) -> Change:
    listed, draft = plan.list_edits(candidate), plan.draft
    chosen = [one.edit for one in listed if one.applies]
    files = {path: text.encode() for path, text in repo.files.items()}
    for path in {edit.path for edit in chosen}:
        files[path] = splice(path, files[path], [edit for edit in chosen if edit.path == path])
    moved = {move.new_path: files.pop(move.path) for move in draft.moves}
    files |= moved | {new.path: new.content.encode() for new in draft.creates}
    for path in draft.removes:
        del files[path]
    proposed = sum(one.edit.semantic and not one.applies for one in listed)
    risks = [danger.kind for danger in draft.dangers if danger.kind not in HARMLESS] + ["proposed"] * bool(proposed)
    return Change(
        spec=plan.spec,
        candidate=candidate or "",
        files={path: text.decode() for path, text in files.items()},
        risks=tuple(sorted(set(risks))),
    )


def _rename(repo: Repository, program: Program, draw: Random) -> RefactorSpec | None:
    path = draw.choice([path for path in sorted(program.files) if path.endswith(".py")])
    text = program.files[path]
    facts = repo.world().facts(path)
    if facts is None or not len(facts.binds):
        return None
    places = sorted({int(at) for at in facts.binds[:, 1]} | {definition.name_at for definition in facts.definitions})
    at = draw.choice(places)
    line, column = text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
    new = draw.choice(["fresh", "fresh", "Fresh", "_fresh", *draw.sample(NAMES, 1), draw.choice(CLASSES)])
    return RefactorSpec(
        kind="rename", symbol=f"{path}:{line}:{column}", new_name=new, options={"include_comments": True}
    )


def _modules(program: Program) -> list[str]:
    mains = {run.rpartition(".")[2] for run in program.runs}
    kept = [path for path in sorted(program.files) if path.endswith(".py") and not path.endswith("__init__.py")]
    return [one for one in kept if one.rpartition("/")[2].removesuffix(".py") not in mains]


def _folders(program: Program) -> list[str]:
    return sorted({one.rpartition("/")[0] for one in _modules(program)} - {"", "src"})


def _base(program: Program) -> str:
    return "src/" if program.roots[0] else ""


def _file(repo: Repository, program: Program, draw: Random) -> RefactorSpec | None:
    path = draw.choice(_modules(program))
    folder, name = path.rpartition("/")[0], draw.choice(["moved", path.rpartition("/")[2].removesuffix(".py"), "alpha"])
    places = [folder, *_folders(program), f"{_base(program)}fresh", _base(program).rstrip("/")]
    place = draw.choice(places)
    new = f"{place}/{name}.py".lstrip("/")
    return RefactorSpec(kind="move", symbol=path, new_name=new, options={"files": True}) if new != path else None


def _folder(repo: Repository, program: Program, draw: Random) -> RefactorSpec | None:
    path = draw.choice(_folders(program) or [""])
    if not path:
        return None
    new = draw.choice(
        [f"{_base(program)}fresh", f"{path}_moved", f"{_base(program)}fresh/inner", f"{_base(program)}other/inner"]
    )
    return RefactorSpec(kind="move", symbol=path, new_name=new, options={"files": True})


def _symbol(repo: Repository, program: Program, draw: Random) -> RefactorSpec | None:
    path = draw.choice(_modules(program))
    facts = repo.world().facts(path)
    tops = [definition for definition in facts.definitions if definition.scope == 0] if facts is not None else []
    if not tops:
        return None
    one = draw.choice(tops)
    places = [place for place in [*_modules(program), f"{_base(program)}shop/fresh.py"] if place != path]
    line = program.files[path].count("\n", 0, one.name_at) + 1
    column = one.name_at - program.files[path].rfind("\n", 0, one.name_at)
    return RefactorSpec(kind="move", symbol=f"{path}:{line}:{column}", new_name=draw.choice(places))


def _delete(repo: Repository, program: Program, draw: Random) -> RefactorSpec | None:
    if draw.random() < 0.2:
        return RefactorSpec(kind="delete", symbol=draw.choice(_modules(program)))
    spec = _rename(repo, program, draw)
    return RefactorSpec(kind="delete", symbol=spec.symbol) if spec is not None else None


def _swap(repo: Repository, program: Program, draw: Random) -> RefactorSpec | None:
    pattern, rewrite = draw.choice(_SWAPS)
    return RefactorSpec(kind="replace", symbol=pattern, new_name=rewrite, options={"language": "python"})

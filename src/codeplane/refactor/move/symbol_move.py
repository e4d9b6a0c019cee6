"""Planning of moves of a top-level symbol to another module."""

from codeplane.code.resolve.world import World
from codeplane.index.fact_store import FactStore
from codeplane.index.files.paths import path_text
from codeplane.index.path_kinds import is_copy
from codeplane.kernel.errors import InvalidArgument, NotRefactorable
from codeplane.query.search.symbols import Target
from codeplane.refactor.draft import Draft
from codeplane.refactor.move.javascript_symbol import plan_javascript_symbol
from codeplane.refactor.move.python_symbol import plan_python_symbol

_PLANNERS = {"python": plan_python_symbol, "javascript": plan_javascript_symbol}


def plan_symbol_move(world: World, store: FactStore, target: Target, to_path: str, *, deadline: float) -> Draft:
    """Plan the move of a function, class or constant to an existing or new module."""
    bound = target.bound
    facts = world.facts(bound.file)
    to_path = to_path.strip("/")
    if facts is None or is_copy(bound.file):
        raise NotRefactorable(f"{path_text(bound.file)} is not a source of this repository that can be parsed")
    if facts.errors:
        raise NotRefactorable(f"{path_text(bound.file)}:{facts.errors} has a syntax error", hint="fix it first")
    if to_path == bound.file:
        raise InvalidArgument(f"{bound.name} is in {path_text(to_path)} already", hint="name another file")
    if to_path not in world.snapshot.files and any(path.startswith(f"{to_path}/") for path in world.snapshot.files):
        raise InvalidArgument(f"{path_text(to_path)} is a folder", hint="name the file the symbol goes to")
    planner = _PLANNERS.get(world.language(facts).family_name)
    if planner is None:
        raise NotRefactorable(
            f"symbols of {facts.language} cannot be moved",
            hint="Python, JavaScript and TypeScript can; or move the file",
        )
    return planner(world, store, bound, to_path, deadline=deadline)

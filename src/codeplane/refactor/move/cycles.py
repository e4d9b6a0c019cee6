"""Modules that would wait for each other when they are loaded."""

from codeplane.code.resolve.world import World
from codeplane.refactor.draft import Danger
from codeplane.refactor.move.module_names import modules_of
from codeplane.refactor.move.needs import Needs

_MOST = 400


def cycles(world: World, old: str, new: str, needs: Needs, *, stays: bool) -> list[Danger]:
    """What the imports that are added close to a circle: each names the two ends."""
    taken: dict[str, int] = {old: 0} if needs.from_old else {}
    for one in needs.brought:
        for module in modules_of(world, one.source, old):
            if module != new:
                taken.setdefault(module, one.at)
    found = []
    for module, at in taken.items():
        if (module == old and stays) or _reaches(world, module, new):
            what = f"{new} imports {module}, which leads back to it"
            found.append(Danger(kind="import_cycle", what=what, path=old, offset=at))
    if stays and not found and _reaches(world, new, old):
        what = f"{old} imports {new}, which leads back to it"
        found.append(Danger(kind="import_cycle", what=what, path=old))
    return found


def _reaches(world: World, start: str, goal: str) -> bool:
    """Whether loading one module loads another; what is imported in functions and for types alone does not count."""
    waiting, seen = [start], {start}
    while waiting and len(seen) < _MOST:
        path = waiting.pop()
        facts = world.facts(path)
        if facts is None or path not in world.snapshot.files:
            continue
        text = world.text(path)
        for one in facts.imports:
            if one.scope or text[one.at - 1 : one.at] in (b" ", b"\t"):
                continue
            for module in modules_of(world, one.source, path):
                below = world.python().submodule(module, one.imported) if one.imported else None
                if goal in (module, below):
                    return True
                for each in (module, below):
                    if each is not None and each not in seen:
                        seen.add(each)
                        waiting.append(each)
    return False

"""Discovery of candidate roots by their marker files, without those a workspace file leaves out."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from codeplane.code.languages.registry import PROJECT_FAMILIES
from codeplane.index.contexts.candidate import Candidate, parent, relative
from codeplane.index.contexts.family import FAMILY
from codeplane.index.contexts.fence import Fence
from codeplane.index.contexts.manifest import READ, read_marker
from codeplane.index.contexts.membership import is_excluded
from codeplane.index.files.paths import path_text

Read: TypeAlias = Callable[[str], bytes | None]


@dataclass(frozen=True, slots=True)
class _Marker:
    family: str
    tier: int


_MARKERS = {
    name: _Marker(family.name, tier)
    for family in PROJECT_FAMILIES
    for tier, names in ((1, family.fences), (2, family.packages))
    for name in names
}
_BY_SUFFIX = {name[1:]: marker for name, marker in _MARKERS.items() if name.startswith("*")}
_BY_FOLDER = {name[:-1]: marker for name, marker in _MARKERS.items() if name.endswith("/")}


@dataclass(slots=True)
class _Root:
    """The markers of one family in one folder."""

    tier: int = 2
    markers: dict[str, None] = field(default_factory=dict)
    fences: list[Fence] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def is_marker(path: str) -> bool:
    """Whether adding, removing or changing a file can change the roots."""
    return any(not is_excluded(folder) for _marker, folder, _at in _markers_in(path))


def discover(paths: Iterable[str], read: Read) -> list[Candidate]:
    """Every candidate root, pending or detached with a reason, sorted by family and root."""
    roots: dict[tuple[str, str], _Root] = {}
    for path in sorted(set(paths)):
        for marker, folder, at in _markers_in(path):
            if is_excluded(folder):
                # Whatever is below would be excluded from its own context.
                continue
            found = roots.setdefault((marker.family, folder), _Root())
            found.tier = min(found.tier, marker.tier)
            if at not in found.markers:
                found.markers[at] = None
                if at == path and path[path.rfind("/") + 1 :] in READ:
                    _read_into(found, path, marker.tier, read)
    candidates = [_judge(family, root, roots) for family, root in roots]
    named = {path[path.rfind("/") + 1 :] for root in roots.values() for path in root.markers}
    for family in PROJECT_FAMILIES:
        if family.ambient and (family.name, "") not in roots and not named & set(family.ambient_unless):
            candidates.append(Candidate(family=family.name, root="", tier=0))
    return sorted(candidates, key=lambda each: (each.family, each.root))


def _markers_in(path: str) -> list[tuple[_Marker, str, str]]:
    """The markers in a path, each with the folder it marks and its own path."""
    folder, _, name = path.rpartition("/")
    marks: list[tuple[_Marker, str, str]] = []
    marker = _MARKERS.get(name)
    if marker is None and (dot := name.rfind(".")) >= 0:
        marker = _BY_SUFFIX.get(name[dot:])
    if marker is not None:
        marks.append((marker, folder, path))
    for inner, marker in _BY_FOLDER.items():
        if f"{inner}/" in path and (at := f"/{path}".find(f"/{inner}/")) >= 0:
            marks.append((marker, path[: max(at - 1, 0)], path[: at + len(inner)]))
    return marks


def _read_into(root: _Root, path: str, tier: int, read: Read) -> None:
    marked = read_marker(path, read(path))
    if marked.problem:
        root.problems.append(marked.problem)
        if tier == 1:
            # A workspace whose members are not known leaves nobody out.
            root.fences.append(Fence(marker=path, permissive=True, reason=marked.problem))
    if marked.fence is not None:
        root.tier = 1
        root.fences.append(marked.fence)
        if marked.fence.permissive:
            root.problems.append(f"{path[path.rfind('/') + 1 :]}: {marked.fence.reason}; all roots below are kept")


def _judge(family: str, root: str, roots: dict[tuple[str, str], _Root]) -> Candidate:
    own = roots[family, root]
    candidate = Candidate(
        family=family,
        root=root,
        tier=own.tier,
        markers=tuple(sorted(own.markers)),
        reason="; ".join(own.problems),
    )
    if own.fences:
        unlisted = all(fence.lists_itself and not fence.admits("") for fence in own.fences)
        is_package = any(_is_package(family, marker) for marker in own.markers)
        return _detach(candidate, own.fences[0]) if unlisted and is_package else candidate
    above = root
    while above:
        above = parent(above)
        around = roots.get((family, above))
        if around is not None and around.fences:
            # The closest fence alone decides, whatever those further out say.
            inner = relative(root, above)
            admitted = any(fence.admits(inner) for fence in around.fences)
            return candidate if admitted else _detach(candidate, around.fences[0])
    return candidate


def _is_package(family: str, marker: str) -> bool:
    return marker[marker.rfind("/") + 1 :] in FAMILY[family].packages


def _detach(candidate: Candidate, fence: Fence) -> Candidate:
    reason = f"not a member of the workspace in {path_text(fence.marker)}"
    return replace(candidate, status="detached", reason="; ".join(filter(None, (reason, candidate.reason))))

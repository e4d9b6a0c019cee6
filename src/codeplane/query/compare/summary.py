"""The summary of a comparison: how much changed, what breaks, and what to do first."""

import itertools
from collections import Counter
from collections.abc import Collection, Sequence

from codeplane.query.compare.change import Change, Kind
from codeplane.query.compare.impact import Impacts

_NAMED = 5
_BROKEN = 10
_REWRITTEN: tuple[Kind, ...] = ("signature_changed", "renamed", "moved")
_WORDS: dict[Kind, str] = {
    "added": "added",
    "removed": "removed",
    "signature_changed": "signature changed",
    "body_changed": "body changed",
    "renamed": "renamed",
    "moved": "moved",
}


def flatten(changes: Sequence[Change]) -> list[Change]:
    """All changes with their nested ones, without those that only group members."""
    return [inner for change in changes for inner in change.every()]


def summary(changes: Sequence[Change], files: int) -> str:
    """How many definitions changed, by kind."""
    counts = Counter(change.change for change in flatten(changes))
    counted_kinds = [f"{counts[kind]} {word}" for kind, word in _WORDS.items() if counts[kind]]
    return ", ".join(counted_kinds) or ("no structural changes" if files else "no changes")


def breaking_summary(changes: Sequence[Change]) -> str | None:
    """The breaking changes in one line, or None."""
    broken = [change for change in flatten(changes) if change.breaking]
    if not broken:
        return None
    names = [name_of(change) for change in broken]
    more = ", …" if len(names) > _BROKEN else ""
    return f"{len(broken)} breaking change{'s' * (len(broken) != 1)}: {', '.join(names[:_BROKEN])}{more}"


def hint(changes: Sequence[Change], impacts: Impacts) -> str:
    """What to do, most urgent first; computed from all changes."""
    flat = flatten(changes)
    steps: list[str] = []
    signatures = [
        (impact.count, change)
        for change in flat
        if change.change in _REWRITTEN and (impact := impacts.of(change)) is not None and impact.count
    ]
    signatures.sort(key=lambda scored: (not scored[1].breaking, -scored[0]))
    valid = [change for _, change in signatures if _stays_valid(change)]
    outdated = [change for _, change in signatures if not _stays_valid(change)]
    if outdated:
        names = [f"{name_of(change)} ({_tiers(impacts, change)})" for change in outdated[:_NAMED]]
        steps.append(f"update callers of {_list_names(names, len(outdated))}")
    if valid:
        names = [f"{name_of(change)} ({_tiers(impacts, change)})" for change in valid[:_NAMED]]
        steps.append(f"existing calls of {_list_names(names, len(valid))} stay valid: new parameters may be left out")
    unused = [change for change in flat if change.breaking and change.change in (*_REWRITTEN, "added")]
    unused = [change for change in unused if (impact := impacts.of(change)) is None or not impact.count]
    if unused:
        names = [name_of(change) for change in unused[:_NAMED]]
        steps.append(f"nothing is known here to use {_list_names(names, len(unused))}; users elsewhere have to adapt")
    removed = [change for change in flat if change.change == "removed"]
    used = [change for change in removed if (impact := impacts.of(change)) is not None and impact.count]
    if used:
        names = [f"{name_of(change)} ({_tiers(impacts, change)})" for change in used[:_NAMED]]
        steps.append(f"references to removed {_list_names(names, len(used))} are left")
    elif any(change.breaking for change in removed):
        names = [name_of(change) for change in removed if change.breaking]
        steps.append(f"removed from what others can use: {_list_names(names[:_NAMED], len(names))}")
    bodies = [change for change in flat if change.change == "body_changed" and change.risk in ("high", "medium")]
    if bodies:
        bodies.sort(key=lambda change: (change.risk != "high", -(change.lines.count if change.lines else 0)))
        names = [f"{name_of(change)} ({change.risk} risk)" for change in bodies[:_NAMED]]
        steps.append(f"review {_list_names(names, len(bodies))}")
    tests = Counter(path for change in flat if (impact := impacts.of(change)) is not None for path in impact.tests)
    if tests:
        names = [path for path, _ in sorted(tests.items(), key=lambda item: (-item[1], item[0]))]
        folder = common_folder(names[:_NAMED])
        where = f"below {folder}: " if folder else ""
        steps.append(f"re-run {where}{_list_names([name.removeprefix(folder) for name in names[:_NAMED]], len(names))}")
    return "\n".join(f"{number}. {step}" for number, step in enumerate(steps, 1)) or "nothing to act on"


def _stays_valid(change: Change) -> bool:
    """Whether existing calls stay valid."""
    return change.change == "signature_changed" and change.keeps_calls and not change.breaking


def common_folder(paths: Collection[str]) -> str:
    """The folder that several files are below, with a slash, if naming it once is shorter."""
    folders = [path.split("/")[:-1] for path in paths]
    parts = [same[0] for same in itertools.takewhile(lambda same: len(set(same)) == 1, zip(*folders, strict=False))]
    folder = "".join(f"{part}/" for part in parts)
    return folder if len(folder) * (len(folders) - 1) > len(" below ") else ""


def name_of(change: Change) -> str:
    """The name of a change: the old one if it is gone, else the new one."""
    if change.is_module:
        return change.pair.old.path if change.pair.old is not None else change.path
    before = change.pair.before
    if change.change in ("removed", "renamed", "moved") and before is not None:
        return before.path
    return change.pair.now.path


def _tiers(impacts: Impacts, change: Change) -> str:
    impact = impacts.of(change)
    assert impact is not None
    counts = [
        f"{impact.tiers[tier]} {tier.lower()}"
        for tier in ("PROVEN", "STRONG", "ANCHORED", "UNKNOWN")
        if impact.tiers[tier]
    ]
    return ", ".join(counts)


def _list_names(names: Sequence[str], total: int) -> str:
    more = f" and {total - len(names)} more" if total > len(names) else ""
    return ", ".join(names) + more

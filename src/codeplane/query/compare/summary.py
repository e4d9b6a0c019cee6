"""The whole comparison in a few lines: how much changed, what breaks, and what to do about it first."""

from collections import Counter
from collections.abc import Sequence

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


def every(changes: Sequence[Change]) -> list[Change]:
    """Each definition that changed itself."""
    return [inner for one in changes for inner in one.every()]


def summary(changes: Sequence[Change], files: int) -> str:
    """How many changed, and how."""
    counts = Counter(one.change for one in every(changes))
    said = [f"{counts[kind]} {word}" for kind, word in _WORDS.items() if counts[kind]]
    return ", ".join(said) or ("no structural changes" if files else "no changes")


def breaking_summary(changes: Sequence[Change]) -> str | None:
    """What breaks users, if anything does."""
    broken = [one for one in every(changes) if one.breaking]
    if not broken:
        return None
    names = [name_of(one) for one in broken]
    more = ", …" if len(names) > _BROKEN else ""
    return f"{len(broken)} breaking change{'s' * (len(broken) != 1)}: {', '.join(names[:_BROKEN])}{more}"


def hint(changes: Sequence[Change], impacts: Impacts) -> str:
    """What to do, most urgent first; computed from all changes."""
    found = every(changes)
    steps: list[str] = []
    signatures = [
        (impact.count, one)
        for one in found
        if one.change in _REWRITTEN and (impact := impacts.of(one)) is not None and impact.count
    ]
    signatures.sort(key=lambda scored: (not scored[1].breaking, -scored[0]))
    valid = [one for _, one in signatures if _stays_valid(one)]
    outdated = [one for _, one in signatures if not _stays_valid(one)]
    if outdated:
        told = [f"{name_of(one)} ({_tiers(impacts, one)})" for one in outdated[:_NAMED]]
        steps.append(f"update callers of {_listed(told, len(outdated))}")
    if valid:
        told = [f"{name_of(one)} ({_tiers(impacts, one)})" for one in valid[:_NAMED]]
        steps.append(f"existing calls of {_listed(told, len(valid))} stay valid: new parameters may be left out")
    unused = [one for one in found if one.breaking and one.change in (*_REWRITTEN, "added")]
    unused = [one for one in unused if (impact := impacts.of(one)) is None or not impact.count]
    if unused:
        told = [name_of(one) for one in unused[:_NAMED]]
        steps.append(f"nothing is known here to use {_listed(told, len(unused))}; users elsewhere have to adapt")
    removed = [one for one in found if one.change == "removed"]
    used = [one for one in removed if (impact := impacts.of(one)) is not None and impact.count]
    if used:
        told = [f"{name_of(one)} ({_tiers(impacts, one)})" for one in used[:_NAMED]]
        steps.append(f"references to removed {_listed(told, len(used))} are left")
    elif any(one.breaking for one in removed):
        told = [name_of(one) for one in removed if one.breaking]
        steps.append(f"removed from what others can use: {_listed(told[:_NAMED], len(told))}")
    bodies = [one for one in found if one.change == "body_changed" and one.risk in ("high", "medium")]
    if bodies:
        bodies.sort(key=lambda one: (one.risk != "high", -(one.lines.count if one.lines else 0)))
        told = [f"{name_of(one)} ({one.risk} risk)" for one in bodies[:_NAMED]]
        steps.append(f"review {_listed(told, len(bodies))}")
    tests = Counter(path for one in found if (impact := impacts.of(one)) is not None for path in impact.tests)
    if tests:
        told = [path for path, _ in sorted(tests.items(), key=lambda item: (-item[1], item[0]))]
        steps.append(f"re-run {_listed(told[:_NAMED], len(told))}")
    return "\n".join(f"{number}. {step}" for number, step in enumerate(steps, 1)) or "nothing to act on"


def _stays_valid(change: Change) -> bool:
    """Whether those who call it need no other call."""
    return change.change == "signature_changed" and change.keeps_calls and not change.breaking


def name_of(change: Change) -> str:
    """How a change is named: by what it was where that is gone, else by what it is."""
    if change.is_module:
        return change.pair.old.path if change.pair.old is not None else change.path
    before = change.pair.before
    if change.change in ("removed", "renamed", "moved") and before is not None:
        return before.path
    return change.pair.now.path


def _tiers(impacts: Impacts, one: Change) -> str:
    impact = impacts.of(one)
    assert impact is not None
    told = [
        f"{impact.tiers[tier]} {tier.lower()}"
        for tier in ("PROVEN", "STRONG", "ANCHORED", "UNKNOWN")
        if impact.tiers[tier]
    ]
    return ", ".join(told)


def _listed(told: Sequence[str], total: int) -> str:
    more = f" and {total - len(told)} more" if total > len(told) else ""
    return ", ".join(told) + more

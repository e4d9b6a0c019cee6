"""The probe of a candidate: parse a few files to see whether it holds code of its family."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from heapq import nsmallest
from typing import TypeAlias

from codeplane.index.contexts.candidate import Candidate, Context, Order, Status
from codeplane.index.contexts.discovery import Read
from codeplane.index.contexts.family import FAMILY, families_of
from codeplane.index.contexts.membership import Territory, exclude_specs
from codeplane.index.files.paths import path_text

SAMPLES = 5
# How many files are opened in search of the samples: empty and large ones are passed over at first.
OPENED = 20
LARGE_BYTES = 1_000_000
ERROR_SHARE = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class ParseCheck:
    """The counts of a parse; the parser may stop counting `nodes` and `errors` at its own limit.

    `nodes` counts the root too. `has_content`: at least one named node that is neither extra nor an error.
    """

    nodes: int
    errors: int
    has_content: bool


# None: there is no grammar for the file, and so nothing to hold against its context.
Parse: TypeAlias = Callable[[str, bytes], ParseCheck | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Verdict:
    status: Status
    reason: str = ""
    edge: Order | None = None


def probe_candidates(
    candidates: Iterable[Candidate], paths: Iterable[str], read: Read, parse: Parse
) -> tuple[Context, ...]:
    """Resolve every candidate to valid, failed, empty or detached; deterministic for the same input."""
    listed = sorted(candidates, key=lambda each: (each.family, each.root))
    specs = exclude_specs(listed)
    files = _files(listed, paths)
    resolved: list[Context] = []
    for candidate in listed:
        key = (candidate.family, candidate.root)
        verdict = _verdict(candidate, files.get(key, []), read, parse)
        resolved.append(
            Context(
                id=candidate.id,
                family=candidate.family,
                root=candidate.root,
                tier=candidate.tier,
                status=verdict.status,
                reason="; ".join(filter(None, (verdict.reason, candidate.reason))),
                markers=candidate.markers,
                include=FAMILY[candidate.family].include,
                exclude=specs[key],
                edge=verdict.edge,
            )
        )
    return tuple(resolved)


def order_of(path: str) -> Order:
    """Shortest path first, then by name: files near the root are seldom fixtures or generated."""
    return len(path), path


def passes(check: ParseCheck, *, code: bool) -> bool:
    """Whether a file passes as its family's: code may have a few errors, data none."""
    if code:
        return check.has_content and (check.errors == 0 or check.errors < ERROR_SHARE * check.nodes)
    return check.errors == 0 and check.nodes > 1


def _files(candidates: list[Candidate], paths: Iterable[str]) -> dict[tuple[str, str], list[str]]:
    territory = Territory((each.family, each.root) for each in candidates)
    files: dict[tuple[str, str], list[str]] = {}
    roots: dict[tuple[str, str], str | None] = {}
    for path in set(paths):
        for family in families_of(path):
            folder = path.rpartition("/")[0]
            if (family, folder) not in roots:
                roots[family, folder] = territory.root_of(folder, family)
            root = roots[family, folder]
            if root is not None:
                files.setdefault((family, root), []).append(path)
    return files


def _verdict(candidate: Candidate, files: list[str], read: Read, parse: Parse) -> _Verdict:
    if candidate.status != "pending":
        return _Verdict(status=candidate.status)
    if not files:
        return _Verdict(status="empty", reason="no file here is of its family")
    if candidate.pinned:
        return _Verdict(status="valid", reason="pinned in contexts.yaml", edge=min(map(order_of, files)))
    code = FAMILY[candidate.family].code
    nearest = nsmallest(OPENED, files, key=order_of)
    later: list[str] = []
    tried: list[str] = []
    for at, path in enumerate(nearest):
        content = read(path)
        if content is None:
            continue
        if len(content) > LARGE_BYTES or not content.strip():
            later.append(path)
            continue
        tried.append(path)
        if _is_good(path, content, parse, code=code):
            return _Verdict(status="valid", edge=order_of(path))
        if len(tried) == SAMPLES:
            return _failure(tried, edge=order_of(nearest[at]))
    edge = order_of(nearest[-1]) if len(files) > len(nearest) else None
    if tried:
        return _failure(tried, edge=edge)
    for path in later[:SAMPLES]:
        content = read(path)
        if content is not None and _is_good(path, content, parse, code=code):
            return _Verdict(status="valid", edge=edge)
        tried.append(path)
    return _failure(tried, edge=edge)


def _is_good(path: str, content: bytes, parse: Parse, *, code: bool) -> bool:
    check = parse(path, content)
    return check is None or passes(check, code=code)


def _failure(tried: list[str], *, edge: Order | None) -> _Verdict:
    reason = (
        f"none of {len(tried)} sampled files parses: {', '.join(map(path_text, tried))}"
        if tried
        else "no file could be read"
    )
    return _Verdict(status="failed", reason=reason, edge=edge)

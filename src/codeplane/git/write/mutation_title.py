"""Describes a git mutation in one line, for the list of mutations."""

from collections.abc import Iterable, Sequence

from codeplane.git.write.git_snapshot import GitSnapshot
from codeplane.index.files.paths import path_text

SHORT = 7
_NAMED = 3


def mutation_title(what: str, before: GitSnapshot, after: GitSnapshot, subject: str | None) -> str:
    """Name the operation with the commit it made, the branch it switched to, or the refs and files it changed."""
    if after.state not in ("none", before.state):
        return f"{what} (stopped)"
    if before.symbolic != after.symbolic and before.refs == after.refs:
        return f"{what} {path_text(after.branch) if after.branch else (after.head or '')[:SHORT]}"
    if before.head != after.head:
        return " ".join(part for part in (what, (after.head or "")[:SHORT], path_text(subject or "")) if part)
    if moved := moved_refs(before.refs, after.refs):
        return f"{what} {_list_few([short_ref(ref) for ref in moved])}"
    if paths := sorted({line.partition(b"\t")[2] for line in before.index ^ after.index}):
        return f"{what} {_list_few([path_text(path.decode('utf-8', 'surrogateescape')) for path in paths])}"
    return what


def moved_refs(before: dict[str, str], after: dict[str, str]) -> list[str]:
    """Return the refs that were created, deleted or moved."""
    return sorted(ref for ref in before.keys() | after.keys() if before.get(ref) != after.get(ref))


def describe_moves(
    before: GitSnapshot, symbolic: str | None, head: str | None, refs: Iterable[tuple[str, str | None]]
) -> list[str]:
    """Describe how HEAD and refs move, one line each."""
    lines = []
    if before.symbolic != symbolic:
        lines.append(f"HEAD {_place(before.symbolic, before.head)} → {_place(symbolic, head)}")
    elif symbolic is None and before.head != head:
        lines.append(f"HEAD {_short_oid(before.head)} → {_short_oid(head)}")
    for ref, oid in refs:
        if before.refs.get(ref) != oid:
            lines.append(f"{path_text(short_ref(ref))} {_short_oid(before.refs.get(ref))} → {_short_oid(oid)}")
    return lines


def short_ref(ref: str) -> str:
    """Return the short name of a branch or tag."""
    return ref.removeprefix("refs/").removeprefix("heads/").removeprefix("tags/")


def _place(symbolic: str | None, head: str | None) -> str:
    return path_text(short_ref(symbolic)) if symbolic else _short_oid(head)


def _short_oid(oid: str | None) -> str:
    return oid[:SHORT] if oid else "none"


def _list_few(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{', '.join(names[:_NAMED])}{more}"

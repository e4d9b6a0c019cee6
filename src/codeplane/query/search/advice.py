"""What is said beside an answer that would be taken for more than it is: nothing found, or a filter left aside."""

from collections.abc import Sequence

from codeplane.index.files.paths import shown
from codeplane.index.snapshot import Snapshot
from codeplane.kernel.counted import counted

_OF_KINDS = frozenset({"definitions", "symbol"})


def on_kinds(mode: str, kinds: Sequence[str]) -> str | None:
    """Kinds are of definitions: what else is found has none."""
    if not kinds or mode in _OF_KINDS:
        return None
    return f"kinds narrows mode=definitions and mode=symbol alone; {mode} left it aside"


def on_path(snapshot: Snapshot, query: str) -> str | None:
    """A query that no line holds may be a file's or a folder's name."""
    wanted = query.strip().removeprefix("./").rstrip("/")
    if not wanted or ("/" not in query and "." not in query):
        return None
    ending, folder = f"/{wanted}", f"{wanted}/"
    found = [path for path in snapshot.files if path == wanted or path.endswith(ending)]
    if found:
        more = f" and {len(found) - 1} more" if len(found) > 1 else ""
        return f"no line holds it; it names {shown(found[0])}{more}: read_files reads it, explain_symbol outlines it"
    if any(path.startswith(folder) for path in snapshot.files):
        return f"no line holds it; {shown(wanted)} is a folder: list_dir lists it"
    return None


def on_undefined(lines: int, *, exact: bool, narrowed: bool) -> str:
    """A name that others define is used here all the same."""
    where = " in what was asked for" if narrowed else " here"
    many = counted(lines, "line", "" if exact else "+")
    return f"no definition{where} has that name; as text it is in {many}: mode=literal"

"""Advice beside an answer: nothing was found, or a filter was ignored."""

from collections.abc import Sequence

from codeplane.index.files.paths import path_text
from codeplane.index.snapshot import Snapshot
from codeplane.kernel.plural import plural

_OF_KINDS = frozenset({"definitions", "symbol"})


def on_kinds(mode: str, kinds: Sequence[str]) -> str | None:
    """Advice if `kinds` does not apply to a mode."""
    if not kinds or mode in _OF_KINDS:
        return None
    return f"kinds narrows mode=definitions and mode=symbol alone; {mode} left it aside"


def on_path(snapshot: Snapshot, query: str) -> str | None:
    """Advice if a query without matches names a file or folder."""
    wanted = query.strip().removeprefix("./").rstrip("/")
    if not wanted or ("/" not in query and "." not in query):
        return None
    ending, folder = f"/{wanted}", f"{wanted}/"
    paths = [path for path in snapshot.files if path == wanted or path.endswith(ending)]
    if paths:
        more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
        return (
            f"no line holds it; it names {path_text(paths[0])}{more}: read_files reads it, explain_symbol outlines it"
        )
    if any(path.startswith(folder) for path in snapshot.files):
        return f"no line holds it; {path_text(wanted)} is a folder: list_dir lists it"
    return None


def on_mode(mode: str) -> str:
    """What auto took instead of a regular expression, in words."""
    return "where it stands as text" if mode == "literal" else "ranked by its words"


def on_undefined(lines: int, *, exact: bool, narrowed: bool) -> str:
    """Advice if a name without a definition occurs as text."""
    where = " in what was asked for" if narrowed else " here"
    many = plural(lines, "line", "" if exact else "+")
    return f"no definition{where} has that name; as text it is in {many}: mode=literal"


def on_unknown(near: Sequence[str]) -> str | None:
    """Advice if a name occurs nowhere, by the names that are spelled almost like it."""
    return f"nothing here has that name; did you mean {', '.join(near)}?" if near else None

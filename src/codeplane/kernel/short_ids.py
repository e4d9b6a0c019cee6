"""Ids as people type them: whole, or a beginning or an end that only one has."""

from collections.abc import Iterable

from codeplane.kernel.errors import CodePlaneError
from codeplane.kernel.ports import ProjectionStore

_SHOWN = 5
_LOOKED_AT = 200
_NAMED = 80
# How much of an end tells ids apart: they begin with the time, so that beginnings of neighbours are alike.
_LEAST = 4


def end_of(name: str) -> str:
    """The letters that an id would have to end with, as in `act_3f2a` or `3f2a`; empty where they are too few."""
    end = name.rpartition("_")[2].lstrip("….")
    return end if len(end) >= _LEAST else ""


def fits(name: str, known: str) -> bool:
    """Whether what was typed can mean this id: its beginning or its end, of the same kind where a kind is named."""
    kind, named, _ = name.rpartition("_")
    if named and not known.startswith(f"{kind}_"):
        return False
    end = end_of(name)
    return known.startswith(name.rstrip("….")) or bool(end and known.endswith(end))


def match_id(name: str, known: Iterable[str], what: str, error: type[CodePlaneError], hint: str | None = None) -> str:
    """The one id that is meant; the error when there is none, and with those that fit when there are several."""
    fitting = []
    for known_id in known:
        if known_id == name:
            return known_id
        if fits(name, known_id):
            fitting.append(known_id)
    if not fitting:
        raise error(f"no {what} is named {name[:_NAMED]!r}", hint=hint)
    if len(fitting) > 1:
        more = f" and {len(fitting) - _SHOWN} more" if len(fitting) > _SHOWN else ""
        raise error(
            f"{name[:_NAMED]!r} fits {len(fitting)} {what}s: {', '.join(fitting[:_SHOWN])}{more}",
            hint="write more of it: the whole id, or a longer end",
        )
    return fitting[0]


async def match_stored_id(
    log: ProjectionStore, column: str, name: str, what: str, error: type[CodePlaneError], hint: str | None = None
) -> str:
    """The one id that is meant among those in a table, whose column is written as `table.column`."""
    table = column.partition(".")[0]
    if await log.select(f"SELECT 1 FROM {table} WHERE {column} = ? LIMIT 1", (name,)):
        return name
    rows = await log.select(
        f"""SELECT DISTINCT {column} FROM {table} WHERE ({column} >= ?1 AND {column} < ?1 || char(1114111))
            OR (?2 != '' AND substr({column}, -length(?2)) = ?2) LIMIT {_LOOKED_AT}""",
        (name.rstrip("…."), end_of(name)),
    )
    return match_id(name, [str(found) for (found,) in rows], what, error, hint)

"""Checks facts that another process made: every place is inside the text, every number refers to something."""

from collections.abc import Iterable

from codeplane.code.model import NO_TARGET, REASONS, Facts


def is_valid(facts: Facts, size: int) -> bool:
    """Whether every place is in a text of so many bytes, and every number is of something that is there."""
    try:
        return _scopes(facts, size) and _definitions(facts, size) and _names(facts, size) and _spans(facts, size)
    except ValueError:
        return False


def _scopes(facts: Facts, size: int) -> bool:
    scopes, count = facts.scopes, len(facts.definitions)
    if not scopes or scopes[0].parent > 0:
        return False
    starts = [scope.start for scope in scopes]
    # The scope of the file ends behind its last byte.
    return starts == sorted(starts) and all(
        0 <= scope.start <= scope.end <= size + 1
        and -1 <= scope.definition < count
        and (not index or 0 <= scope.parent < index)
        for index, scope in enumerate(scopes)
    )


def _definitions(facts: Facts, size: int) -> bool:
    scopes = len(facts.scopes)
    return all(
        0 <= definition.start <= definition.end <= size
        and 0 <= definition.name_at <= size
        and 1 <= definition.line <= definition.end_line
        and definition.column >= 0
        and 0 <= definition.scope < scopes
        and -1 <= definition.container < index
        and -1 <= definition.body <= size
        and (definition.bases is None or 0 <= definition.bases[0] <= definition.bases[1] <= size)
        for index, definition in enumerate(facts.definitions)
    )


def _names(facts: Facts, size: int) -> bool:
    scopes = len(facts.scopes)
    imports = (place for import_ in facts.imports for place in (import_.at, import_.imported_at, import_.local_at))
    places = (*imports, *(export.at for export in facts.exports), *(place.at for place in facts.dynamic))
    if not _within(places, size) or not all(0 <= import_.scope < scopes for import_ in facts.imports):
        return False
    binds = facts.binds
    targets = max(len(facts.definitions), len(facts.imports))
    aimed = binds[:, 3][binds[:, 3] != NO_TARGET]
    return (
        len(binds) == len(facts.bind_names)
        and bool((binds[:, 0] < scopes).all())
        and bool((binds[:, 1] <= size).all())
        and bool((binds[:, 2] < len(REASONS)).all())
        and bool((aimed < targets).all())
    )


def _spans(facts: Facts, size: int) -> bool:
    return all(bool((spans <= size).all()) for spans in (facts.texts, facts.outers)) and _within(facts.labels, size)


def _within(places: Iterable[int], size: int) -> bool:
    return all(-1 <= place <= size for place in places)

"""How users of a package use a type: whether they give values of it, get them, or both."""

from codeplane.query.compare.outline import Outline, outermost
from codeplane.query.compare.pairing import Pair


def is_only_taken(pair: Pair) -> bool:
    """Whether users of its package, before and now, only give values of a type, or of the one it is in."""
    return all(
        outline is not None
        and outline.package is not None
        and outline.package.is_only_taken(outline.path, outermost(outline, place))
        for outline, place in ((pair.old, pair.old_place), (pair.new, pair.new_place))
    )


def is_only_given(pair: Pair) -> bool:
    """Whether users of its package, before and now, only get values of a type, or of the one it is in."""
    return all(
        outline is not None and _is_only_handed_out(outline, place)
        for outline, place in ((pair.old, pair.old_place), (pair.new, pair.new_place))
    )


def _is_only_handed_out(outline: Outline, place: int) -> bool:
    package = outline.package
    return package is not None and package.is_only_handed_out(outline.path, outermost(outline, place))

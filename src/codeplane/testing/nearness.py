"""Tests whose names are near to one that is not there."""

import difflib
import re
from collections.abc import Sequence

from codeplane.code.facts.model import Facts
from codeplane.testing.matching import own_name
from codeplane.testing.target import Target

_MOST = 3
_CUTOFF = 0.6
_TESTS = frozenset({"function", "method"})


def near_names(target: Target, name: str, texts: Sequence[str], facts: Sequence[Facts]) -> list[str]:
    """The tests of a target by what its files say, nearest first; with their classes where the runner takes those."""
    runner = target.runner
    if runner is None or not runner.names:
        return []
    tests = dict.fromkeys(found for text in texts for found in re.findall(runner.names, text))
    whole = {own: own for own in tests}
    if runner.node_ids:
        for one in (one for each in facts for one in each.definitions):
            if one.name in tests and one.kind in _TESTS:
                whole[one.name] = one.path.replace(".", "::")
    # What all of them begin with makes none of them nearer.
    bare = {_bare(one): one for one in tests}
    own = _bare(own_name(runner, name).partition("[")[0])
    return [whole[bare[one]] for one in difflib.get_close_matches(own, list(bare), n=_MOST, cutoff=_CUTOFF)]


def _bare(name: str) -> str:
    return re.sub(r"^(?:test_?|Test(?=[A-Z]))(?=.)", "", name)

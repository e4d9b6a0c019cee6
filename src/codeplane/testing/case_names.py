"""The names of tests: matching requested names and patterns with a report, and suggesting similar names."""

import difflib
import re
from collections.abc import Sequence

from codeplane.code.model import Facts
from codeplane.testing.case import Case
from codeplane.testing.runner import Runner
from codeplane.testing.target import Target, TargetSelection

_GROUPS = re.compile(r" > |::")
_MAX_NEAR = 3
_CUTOFF = 0.6
_TESTS = frozenset({"function", "method"})


def own_name(runner: Runner, name: str) -> str:
    """Return a test's name without the groups around it, and without a part that cannot run alone."""
    last = _GROUPS.split(name)[-1]
    return last.partition(runner.parts)[0] if runner.parts else last


def name_pattern(runner: Runner, names: Sequence[str]) -> str:
    """Return names as a pattern; empty (all tests) if there are several and the runner takes only one."""
    own = list(dict.fromkeys(own_name(runner, name) for name in names))
    if runner.regex:
        escaped = "|".join(map(re.escape, own))
        return f"^(?:{escaped})$" if runner.name == "go" else escaped
    return own[0] if len(own) == 1 else ""


def without_deselected(cases: Sequence[Case], runner: Runner | None, pattern: str) -> list[Case]:
    """Return the cases without those that a runner reports as skipped because the pattern does not match them."""
    if runner is None or not runner.regex or not pattern:
        return list(cases)
    try:
        matching = re.compile(pattern, re.I)
    except re.error:
        # The runner's regular expressions may have syntax that ours do not.
        return list(cases)
    return [case for case in cases if case.status != "skipped" or matching.search(_GROUPS.sub(" ", case.name))]


def missing_names(wanted: TargetSelection, cases: Sequence[Case]) -> tuple[str, ...]:
    """Return the requested names that no case has; none when an error keeps the tests from being known."""
    runner = wanted.target.runner
    if runner is None or runner.node_ids or any(case.status == "error" or case.is_target_failure for case in cases):
        return ()
    return tuple(name for name in wanted.names if not any(own_name(runner, name) in case.name for case in cases))


def near_names(target: Target, name: str, texts: Sequence[str], facts: Sequence[Facts]) -> list[str]:
    """Return the tests of a target with similar names, nearest first; with their classes if the runner takes those."""
    runner = target.runner
    if runner is None or not runner.names:
        return []
    tests = dict.fromkeys(found for text in texts for found in re.findall(runner.names, text))
    whole = {own: own for own in tests}
    if runner.node_ids:
        for definition in (definition for each in facts for definition in each.definitions):
            if definition.name in tests and definition.kind in _TESTS:
                whole[definition.name] = definition.path.replace(".", "::")
    # A prefix that all of them share makes none of them nearer.
    bare = {_bare_name(test): test for test in tests}
    own = _bare_name(own_name(runner, name).partition("[")[0])
    return [whole[bare[name]] for name in difflib.get_close_matches(own, list(bare), n=_MAX_NEAR, cutoff=_CUTOFF)]


def _bare_name(name: str) -> str:
    return re.sub(r"^(?:test_?|Test(?=[A-Z]))(?=.)", "", name)

"""Which of the tests that were asked for by name or pattern a report has."""

import re
from collections.abc import Sequence

from codeplane.testing.case import Case
from codeplane.testing.runner import Runner
from codeplane.testing.target import Wanted

_GROUPS = re.compile(r" > |::")


def own_name(runner: Runner, name: str) -> str:
    """A test's name without the groups around it, and without a part that cannot be run by itself."""
    last = _GROUPS.split(name)[-1]
    return last.partition(runner.parts)[0] if runner.parts else last


def chosen_pattern(runner: Runner, names: Sequence[str]) -> str:
    """Names as a pattern; several only where it can be said, and nothing (everything) elsewhere."""
    own = list(dict.fromkeys(own_name(runner, name) for name in names))
    if runner.regex:
        escaped = "|".join(map(re.escape, own))
        return f"^(?:{escaped})$" if runner.name == "go" else escaped
    return own[0] if len(own) == 1 else ""


def listed(cases: Sequence[Case], runner: Runner | None, pattern: str) -> list[Case]:
    """The cases without those that a runner calls skipped because the pattern leaves them out."""
    if runner is None or not runner.regex or not pattern:
        return list(cases)
    try:
        matching = re.compile(pattern, re.I)
    except re.error:
        # Its own expressions can say more than ours.
        return list(cases)
    return [one for one in cases if one.status != "skipped" or matching.search(_GROUPS.sub(" ", one.name))]


def absent(wanted: Wanted, cases: Sequence[Case]) -> tuple[str, ...]:
    """The names that were asked for and that no case has; none while something keeps tests from being known."""
    runner = wanted.target.runner
    if runner is None or runner.node_ids or any(one.status == "error" or one.is_whole for one in cases):
        return ()
    return tuple(name for name in wanted.names if not any(own_name(runner, name) in one.name for one in cases))

"""Changes of the words before a definition, such as `async` or `abstract`."""

import re

from codeplane.code.languages.contract import Contract
from codeplane.query.compare.generators import gives_an_iterator, gives_iterators, gives_the_same
from codeplane.query.compare.header import Header
from codeplane.query.compare.mark_changes import is_wrapped_anew
from codeplane.query.compare.pairing import Pair
from codeplane.query.compare.rules import ORDER
from codeplane.query.compare.verdict import Verdict

_TASK = r"Promise\b|Task\b|ValueTask\b|System \. Threading"


def judge_modifiers(verdict: Verdict, pair: Pair, old_header: Header, new_header: Header, rules: Contract) -> None:
    """Judge which words came and went."""
    kind = pair.now.kind
    for word in sorted(new_header.modifiers - old_header.modifiers):
        if word == "*":
            verdict.add(
                "a generator now", breaks=not (gives_the_same(old_header, new_header) or _gives_iterators(pair))
            )
        elif word == "async" and _gives_what_it_gave(old_header, new_header):
            verdict.add("async now, and gives what it gave", breaks=False)
        elif word not in ORDER and word not in ("open",):
            breaks = word in rules.added and not (word == "readonly" and kind == "class")
            verdict.add(f"{word} now", breaks=breaks)
    for word in sorted(old_header.modifiers - new_header.modifiers):
        if word == "*":
            verdict.add(
                "no generator any more",
                breaks=not (
                    gives_the_same(old_header, new_header)
                    or is_wrapped_anew(old_header, new_header)
                    or _gives_iterators(pair)
                ),
            )
        elif word == "async" and _gives_what_it_gave(old_header, new_header):
            verdict.add("no longer async, and gives what it gave", breaks=False)
        elif word not in ORDER:
            verdict.add(f"no longer {word}", breaks=word in rules.removed)


def _gives_iterators(pair: Pair) -> bool:
    """Whether a function of Python gives iterators in both states, as a generator or not."""
    for side, place in pair.sides:
        definition = side.entities[place].definition
        if definition is None or side.facts is None or not side.rules.generators_by_body:
            return False
        if not gives_iterators(side.facts, side.text, definition):
            return False
    asynchronous = ["async" in side.parts(place).header.modifiers for side, place in pair.sides]
    return asynchronous[0] == asynchronous[1]


def _gives_what_it_gave(old_header: Header, new_header: Header) -> bool:
    """Whether callers cannot tell that a function became, or ceased to be, asynchronous."""
    if old_header.returns == new_header.returns and re.match(_TASK, old_header.returns):
        return True
    return gives_an_iterator(old_header, new_header) or is_wrapped_anew(old_header, new_header)

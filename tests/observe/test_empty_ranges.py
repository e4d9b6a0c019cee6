"""What the activity asks of the log is the same with and without what it knows of it."""

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from codeplane.kernel.event import Correlation, Draft
from codeplane.kernel.event_log import EventQuery, PayloadCondition
from codeplane.kernel.json import JsonObject
from codeplane.observe.dashboard.empty_ranges import EmptyRanges
from tests.interaction.requirements import requirement
from tests.ledger.logs import opened

pytestmark = requirement("WEB-03")

_EVERY = EventQuery(newest=True, limit=10, types=("call.finished",), quiet=("looking",))
_SOME = replace(_EVERY, conditions=(PayloadCondition(field="operation", value="git.push"),))


def drafts(looks: int, calls: int) -> list[Draft]:
    """So many looks at the dashboard, and then so many calls."""

    def one(session: str, operation: str, number: int) -> Draft:
        payload: JsonObject = {"operation": operation, "mutates": False, "number": number}
        return Draft(
            stream="x", type="call.finished", payload=payload, correlation=Correlation(session_id=session, call_id="c")
        )

    return [
        *(one("looking", "call.list", number) for number in range(looks)),
        *(one("working", "git.push" if number % 3 else "search", number) for number in range(calls)),
    ]


@settings(max_examples=15, deadline=None)
@given(st.data())
async def test_nothing_is_missed(data: st.DataObject) -> None:
    with TemporaryDirectory() as folder:
        async with opened(Path(folder) / "log.sqlite") as log:
            skipping = EmptyRanges(log)
            for _ in range(4):
                for _ in range(data.draw(st.integers(0, 3))):
                    looks, calls = data.draw(st.tuples(st.integers(0, 1500), st.integers(0, 12)))
                    await log.append([*drafts(looks, calls), Draft(stream="y", type="other", payload={})])
                for _ in range(5):
                    last = await log.end()
                    until = data.draw(st.one_of(st.just(last), st.integers(0, last)))
                    after = data.draw(st.one_of(st.just(0), st.integers(0, until)))
                    query = data.draw(st.sampled_from([_EVERY, _SOME]))
                    query = replace(query, after=after, until=until, limit=data.draw(st.integers(1, 30)))
                    found = await skipping.query(query, all_of_them=not query.conditions)
                    assert found == await log.query(query)

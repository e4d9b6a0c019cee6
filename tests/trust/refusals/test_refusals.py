"""Every refusal of the table, over every way its caller can come; and for each gate, the twin that passes it."""

import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor

from codeplane.kernel.json import JsonObject
from tests.harness import until
from tests.interaction.requirements import requirement
from tests.trust.refusals.callers import BEFORE_THE_DOOR, SAMPLED, STREAMING, STREAMS, WHO
from tests.trust.refusals.places import Place, statuses
from tests.trust.refusals.table import ROWS, Ask, Row
from tests.trust.refusals.work import WORK_ROWS, refused_work

pytestmark = requirement("TRUST-35")

Places = dict[str, list[Place]]
EVERY = 4
# Without a sandbox commands and tests are refused for want of it, before any other gate.
SANDBOXED = frozenset({"run_bash", "test.run"})
# What may stand in the log though nothing was done: questions, refusals, that somebody came, and what reading found.
HARMLESS = frozenset(
    {
        "call.started",
        "call.finished",
        "call.refused",
        "session.opened",
        "session.closed",
        "task.opened",
        "task.closed",
        "policy.decided",
        "policy.loaded",
        "policy.rejected",
        "action.created",
        "capability.requested",
        "capability.denied",
        "idempotency.conflict",
        "index.epoch_published",
        "index.symbols_ready",
    }
)


@requirement("MCP-12", "TRUST-61", "TRUST-60")
def test_the_table_is_refused_everywhere_and_its_twins_pass(places: Places) -> None:
    # One test, since the worlds are made once for a process of tests.
    wrong: list[str] = []
    count: Counter[str] = Counter()
    everywhere = [place for both in places.values() for place in both]
    if shutil.which("bwrap") is None:
        print("\nNOT TESTED: refusals of commands and tests, since bubblewrap is not installed")
    with ThreadPoolExecutor(len(everywhere)) as pool:
        for found in pool.map(lambda place: list(_refused(place, count)), everywhere):
            wrong += found
    print(f"\n{len(ROWS)} refusals, {count.total()} calls: {dict(sorted(count.items()))}")
    assert not wrong, "\n".join([f"{len(wrong)} wrong:", *wrong])
    passed: Counter[str] = Counter()
    untried = [twin for twin in _twins() if not any(_ways(place, twin) for place in everywhere)]
    assert {twin.operation for twin in untried} <= (SANDBOXED if shutil.which("bwrap") is None else frozenset())
    with ThreadPoolExecutor(len(everywhere)) as pool:
        for found in pool.map(lambda place: list(_passing(place, passed)), everywhere):
            wrong += found
    print(f"{len(_twins())} twins, {passed.total()} calls: {dict(sorted(passed.items()))}")
    assert not wrong, "\n".join([f"{len(wrong)} wrong:", *wrong])
    worked: Counter[str] = Counter()
    with ThreadPoolExecutor(len(everywhere)) as pool:
        for found in pool.map(lambda place: list(refused_work(place, worked)), everywhere):
            wrong += found
    print(f"{len(WORK_ROWS)} kinds of work and their twins, {worked.total()} items: {dict(sorted(worked.items()))}")
    assert not wrong, "\n".join([f"{len(wrong)} wrong:", *wrong])
    assert worked.keys() == {way for place in everywhere for way in place.ways} - {"mcp-stdio"}
    assert count.keys() == passed.keys() == {way for place in everywhere for way in place.ways}


def test_the_table_is_long_enough_and_says_nothing_twice() -> None:
    output = Counter((row.ask.who, row.ask.operation, str(row.ask.arguments), row.ask.world) for row in ROWS)
    assert len(output) >= 150
    assert [one for one, times in output.items() if times > 1] == []
    assert len({row.id for row in ROWS}) == len(ROWS)
    assert all(row.ask.ends is not None and row.ask.ends != row.twin.ends for row in ROWS)


def _refused(place: Place, count: Counter[str]) -> Iterator[str]:
    """What is wrong with the refusals at a place."""
    asked = {way: list(_rows(place, way)) for way in place.ways}
    rows = [row for found in asked.values() for row in found]
    place.prepare(row.ask for row in rows)
    before = place.seen()

    def ask(way: str) -> list[str]:
        return [wrong for row in asked[way] if (wrong := _differs(place, way, row.id, row.ask, fresh=False))]

    yield from _at_once(ask, asked)
    count.update({way: len(found) for way, found in asked.items() if found})
    after = place.seen()
    if after.ran != before.ran:
        yield f"{place.world}: some were run: {after.ran} after {before.ran}"
    if after.files != before.files:
        yield f"{place.world}: files are not as they were"
    yield from _recorded(place, before.position, rows)


def _recorded(place: Place, position: int, rows: Iterable[Row]) -> Iterator[str]:
    """What the log has that it should not, or lacks."""
    wanted = Counter(str(row.ask.ends) for row in rows if row.ask.who not in BEFORE_THE_DOOR)

    found: list[JsonObject] = []

    def lacking() -> Counter[str]:
        # What was read once is not read again: worlds wait for their windows side by side.
        found.extend(place.events(int(str(found[-1]["position"])) if found else position))
        return wanted - statuses(found)

    # A refusal is answered before it is on the disk, and many of nobody are counted there when their time is over.
    try:
        until(lambda: not lacking())
    except AssertionError:
        yield f"{place.world}: not in the log: {lacking()}"
    lacking()
    for event in found:
        payload = event["payload"]
        assert isinstance(payload, dict)
        if event["type"] == "action.rejected" and payload["reason"] == "expired":
            # Whoever is told so finds it settled as that.
            continue
        if event["type"] not in HARMLESS or (payload.get("mutates") and payload.get("status") == "ok"):
            yield f"{place.world}: {event['type']} happened: {payload}"


def _passing(place: Place, count: Counter[str]) -> Iterator[str]:
    """What is wrong with the twins at a place; each is asked by one way, and they take turns."""
    for number, ask in enumerate(_twins()):
        if ways := sorted(_ways(place, ask)):
            way = ways[number % len(ways)]
            count[way] += 1
            if wrong := _differs(place, way, "twin", ask, fresh=True):
                yield wrong


def _differs(place: Place, way: str, name: str, ask: Ask, *, fresh: bool) -> str | None:
    answer = place.ask(way, ask, fresh=fresh)
    if answer.error == ask.ends:
        return None
    what = ask if name == "twin" else ""
    return f"{way}: {name}{what}: {answer.error}, not {ask.ends}: {answer.said[:200]}"


def _rows(place: Place, way: str) -> Iterator[Row]:
    """The rows that are asked there; of a sampled way some, and the first of each caller and error."""
    known: set[tuple[str, str | None]] = set()
    for number, row in enumerate(ROWS):
        kind = row.ask.who, row.ask.ends
        if way in _ways(place, row.ask) and (way not in SAMPLED or number % EVERY == 0 or kind not in known):
            known.add(kind)
            yield row


def _twins() -> list[Ask]:
    return list({repr(row.twin): row.twin for row in ROWS}.values())


def _ways(place: Place, ask: Ask) -> frozenset[str]:
    if ask.world != place.world or (ask.operation in SANDBOXED and shutil.which("bwrap") is None):
        return frozenset()
    ways = WHO[ask.who].ways & place.ways.keys()
    return ways & STREAMING if ask.operation in STREAMS else ways


def _at_once(work: Callable[[str], list[str]], ways: Iterable[str]) -> Iterator[str]:
    """All ways side by side, as callers come."""
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(work, ways):
            yield from found

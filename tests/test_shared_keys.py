"""An idempotency key that is used in several planes of one shared log."""

from base64 import b64encode
from pathlib import Path

from codeplane.kernel.errors import IdempotencyConflict, StorageFull
from codeplane.kernel.event_log import EventQuery
from codeplane.kernel.json import JsonObject
from tests.interaction.requirements import requirement
from tests.kernel.plane import FixtureOps
from tests.shared_planes import AGENT, level, race, sharing

RACES = 20


@requirement("SHR-07")
async def test_a_key_that_is_used_in_two_planes_at_once_runs_once(tmp_path: Path) -> None:
    ops = FixtureOps(), FixtureOps()
    async with sharing(tmp_path, "a", ops=ops[0]) as a, sharing(tmp_path, "b", ops=ops[1]) as b:
        for number in range(RACES):
            await race((a, b), ops, number)
        assert ops[0].ran and ops[1].ran
        # Other arguments under the key are a conflict, whichever plane ran it.
        for opened in (a, b):
            outcome = await opened.conveyor.call("fixture.write", {"text": "x", "idempotency_key": "key-0"}, AGENT)
            assert isinstance(outcome.error, IdempotencyConflict)
        # A key that was freed by an error that is worth a retry can be claimed again, in either plane.
        for opened in (a, b, a):
            await level(a, b)
            arguments: JsonObject = {"text": "STORAGE_FULL", "idempotency_key": "freed"}
            outcome = await opened.conveyor.call("fixture.fail", arguments, AGENT)
            assert isinstance(outcome.error, StorageFull)
        await level(a, b)
        assert len(await a.log.query(EventQuery(types=("key.claimed",), limit=10_000))) == RACES + 3


@requirement("LOG-54")
async def test_answers_are_not_legible_where_the_log_lies(tmp_path: Path) -> None:
    ops = FixtureOps(), FixtureOps()
    arguments: JsonObject = {"text": "an answer that is nobody's business", "idempotency_key": "k"}
    async with sharing(tmp_path, "a", ops=ops[0]) as a, sharing(tmp_path, "b", ops=ops[1]) as b:
        first = await a.conveyor.call("fixture.write", arguments, AGENT)
        await level(a, b)
        assert (await b.conveyor.call("fixture.write", arguments, AGENT)).result_json == first.result_json
        assert ops[1].ran == []
    answer = b64encode(first.result_json.encode())[4:-4]
    for path in (file for file in (tmp_path / "shared").rglob("*") if file.is_file()):
        assert answer not in path.read_bytes() and b"nobody's business" not in path.read_bytes()

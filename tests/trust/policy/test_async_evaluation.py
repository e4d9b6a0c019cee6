"""A policy that takes for ever holds up nobody but the call it is asked about."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from codeplane.adapters.rego import Rego
from codeplane.kernel.actor import Caller
from codeplane.kernel.config import PolicyConfig
from codeplane.kernel.envelope import Outcome
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.kernel.ports import Decision, Verdict
from codeplane.kernel.workspace import Workspace
from codeplane.trust.policy.policy import Policy
from codeplane.wiring.app import Plane, load_workspace_config, run_plane
from tests.interaction.requirements import requirement
from tests.kernel.plane import AGENT, NO_WAIT, PATIENCE_SEC, FixtureOps, ManualClock, run
from tests.trust.policy.calls import HEAD, of_call, own, write

pytestmark = requirement("TRUST-15")

FOR_EVER = "some a in numbers.range(1, 100000); some b in numbers.range(1, 100000); a * b == 7"
LOOPS = HEAD + f'deny contains "x" if {{ input.operation.name == "fixture.write"; {FOR_EVER} }}\n'
OTHER = Caller(surface="mcp", client="other", connection_id="c2")


@asynccontextmanager
async def _plane(root: Path, *, timeout_ms: float) -> AsyncIterator[Plane]:
    write(own(root), mine=LOOPS)
    workspace = Workspace(root=root)
    loaded = load_workspace_config(workspace, (NO_WAIT,), {}).without_terminal()
    engine = Rego(timeout_ms=timeout_ms, compile_sec=PATIENCE_SEC)
    async with run_plane(workspace, loaded=loaded, operations=[FixtureOps()], engine=engine) as opened:
        yield opened


async def _asked(opened: Plane, name: str, caller: Caller = AGENT) -> Outcome:
    return await opened.conveyor.call(name, {}, caller)


async def test_what_is_known_is_answered_while_a_policy_loops(tmp_path: Path) -> None:
    async with _plane(tmp_path, timeout_ms=60_000) as opened:
        assert (await _asked(opened, "fixture.read")).error is None
        looping = asyncio.create_task(_asked(opened, "fixture.write"))
        for _ in range(5):
            assert (await _asked(opened, "fixture.read", OTHER)).error is None
            # A refusal would have been recorded by now.
            await opened.log.flush()
        assert not looping.done()
        looping.cancel()


async def test_a_new_question_waits_for_its_turn_and_is_answered_after_a_loop_was_ended(tmp_path: Path) -> None:
    async with _plane(tmp_path, timeout_ms=500) as opened:
        assert (await _asked(opened, "fixture.read")).error is None
        looping = asyncio.create_task(_asked(opened, "fixture.write"))
        await asyncio.sleep(0)
        waited = await _asked(opened, "fixture.progress", OTHER)
        assert waited.error is None, waited.error
        refused = (await looping).error
        assert refused is not None
        assert refused.name == "POLICY_DENIED"
        assert "it took longer than 500 ms" in refused.message


async def test_a_plane_ends_in_the_middle_of_a_question(tmp_path: Path) -> None:
    async with _plane(tmp_path, timeout_ms=60_000) as opened:
        looping = asyncio.create_task(opened.trust.policy.decide_async(of_call("WRITE", name="fixture.write")))
        await asyncio.sleep(0)
        opened.trust.policy.close()
        assert (await looping).reasons[0].startswith("the policy failed: ")


class _Busy:
    """A program that is asked something else the first time."""

    def __init__(self, error: Exception) -> None:
        self._errors = [error]

    def is_compiled(self, wait_sec: float = 0.0) -> bool:
        return True

    def evaluate(self, document: JsonObject | str) -> JsonValue:
        if self._errors:
            raise self._errors.pop()
        return {"deny": [], "ask": [], "allow": ["it only reads"]}

    async def evaluate_async(self, document: JsonObject | str) -> JsonValue:
        return self.evaluate(document)

    def close(self) -> None:
        return None

    def program(self, sources: Mapping[str, str], *, packages: Mapping[str, str], entry: str) -> "_Busy":
        return self


@pytest.mark.parametrize(
    ("error", "then"), [(BlockingIOError("busy"), Verdict.ALLOW), (TimeoutError("too slow"), Verdict.DENY)]
)
def test_only_what_was_asked_and_failed_is_remembered_as_failed(
    tmp_path: Path, error: Exception, then: Verdict
) -> None:
    for aside in (False, True):
        opened = Policy(folder=tmp_path, engine=_Busy(error), config=PolicyConfig(), clock=ManualClock())

        def decide(opened: Policy = opened, aside: bool = aside) -> Decision:
            return run(opened.decide_async(of_call("READ"))) if aside else opened.decide(of_call("READ"))

        assert decide().verdict is Verdict.DENY
        assert decide().verdict is then

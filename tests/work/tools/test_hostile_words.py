"""Further tricks of a hostile server or plugin: words beside its answers, floods, and answers that are none."""

import asyncio
import math
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from codeplane.kernel.actor import Progress
from codeplane.kernel.errors import UnknownOperation
from codeplane.kernel.json import dumps
from codeplane.wiring.app import Plane
from tests.interaction.requirements import requirement
from tests.kernel.plane import AGENT, OWNER
from tests.trust.approvals.agent_calls import refused, result
from tests.work.tools.scripted_server import INJECTION, TAGS
from tests.work.tools.tool_plane import listed, ready, scripted, tool_plane

pytestmark = requirement("TOOL-04")

LOOK = "ext.bad.look"
Check = Callable[[Plane], Awaitable[None]]


async def words_by_progress_do_not_reach_agents(opened: Plane) -> None:
    result(await opened.conveyor.call("tools.trust", {"server": "bad"}, OWNER))
    heard: list[Progress] = []

    async def listen(progress: Progress) -> None:
        heard.append(progress)

    # Nothing marks them: an answer is marked before it is given, and progress comes before the answer.
    assert result(await opened.conveyor.call(LOOK, {"text": "x"}, replace(AGENT, on_progress=listen)))
    assert 0 < len(heard) < 1000 and not any(progress.message for progress in heard)
    assert all(math.isfinite(progress.done) for progress in heard)
    # A person, who reads them as what they are, is shown them.
    heard.clear()
    await opened.conveyor.call(LOOK, {"text": "x"}, replace(OWNER, on_progress=listen))
    assert heard[0].message == INJECTION


async def a_task_is_no_answer(opened: Plane) -> None:
    assert refused(await opened.conveyor.call(LOOK, {"text": "x"}, OWNER)) == "TOOL_ANSWER_REFUSED"


async def endless_questions_end_the_server(opened: Plane) -> None:
    assert refused(await opened.conveyor.call(LOOK, {"text": "x"}, OWNER)) == "TOOL_SERVER_UNAVAILABLE"
    while "questions in a minute" not in str((await listed(opened, "bad"))["last_error"]):
        await asyncio.sleep(0)


async def a_terminal_is_not_painted(opened: Plane) -> None:
    await opened.conveyor.call(LOOK, {"text": "x"}, OWNER)
    while "it asked for" not in (problem := str((await listed(opened, "bad"))["last_error"])):
        await asyncio.sleep(0)
    assert problem.isprintable() and "\\x1b[2J" in problem


async def a_deep_answer_is_no_message(opened: Plane) -> None:
    assert refused(await opened.conveyor.call(LOOK, {"text": "x"}, OWNER)) == "TOOL_TIMEOUT"
    assert "no message" in str((await listed(opened, "bad"))["last_error"])


async def the_first_answer_counts(opened: Plane) -> None:
    for _ in range(2):
        assert result(await opened.conveyor.call(LOOK, {"text": "x"}, OWNER))["content"] == "first"


async def it_does_not_cancel_our_calls(opened: Plane) -> None:
    assert result(await opened.conveyor.call(LOOK, {"text": "x"}, OWNER))["content"] == "done"


async def a_schema_hides_nothing(opened: Plane) -> None:
    catalogue = opened.conveyor.catalogue
    schema = dumps(catalogue.get(LOOK).request.declared.document)  # type: ignore[attr-defined]  # a declared operation
    assert TAGS not in schema and "\u202e" not in schema and INJECTION in schema
    # Names and choices are what is sent: escaped they would be others.
    for name in ("ext.bad.names", "ext.bad.choices"):
        with pytest.raises(UnknownOperation):
            catalogue.get(name)
    problems = [str(tool["problem"]) for tool in (await listed(opened, "bad"))["tools"] if tool["problem"]]  # type: ignore[union-attr,index,call-overload]  # a list of objects
    assert len(problems) == 2 and all("cannot be seen" in problem for problem in problems)


TRICKS: dict[str, Check] = {
    "speaks_by_progress": words_by_progress_do_not_reach_agents,
    "gives_a_task": a_task_is_no_answer,
    "asks_without_end": endless_questions_end_the_server,
    "paints_the_terminal": a_terminal_is_not_painted,
    "deep_answer": a_deep_answer_is_no_message,
    "answers_twice": the_first_answer_counts,
    "cancels_ours": it_does_not_cancel_our_calls,
    "hidden_schema": a_schema_hides_nothing,
}


@pytest.mark.parametrize("trick", TRICKS)
async def test_a_trick_does_not_succeed(tmp_path: Path, trick: str) -> None:
    timeout = 2 if trick == "deep_answer" else 30
    async with tool_plane(tmp_path, {"bad": scripted(trick, timeout_sec=timeout)}) as opened:
        await ready(opened, "bad")
        await TRICKS[trick](opened)
        # And everything else goes on.
        assert result(await opened.conveyor.call("status", {}, AGENT))

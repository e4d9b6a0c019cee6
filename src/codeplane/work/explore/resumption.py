"""What an exploration takes over from one that was stopped: its results, where nothing has changed since."""

from codeplane.kernel.errors import StreamGap
from codeplane.kernel.json import JsonObject
from codeplane.kernel.ports import Ledger
from codeplane.work.explore.agent_op import GIT_STATUS, INDEX_REPO, AgentOp
from codeplane.work.explore.concurrency import Concurrency
from codeplane.work.explore.exploration import Exploration
from codeplane.work.explore.facts import Facts
from codeplane.work.explore.op_runner import OpRunner
from codeplane.work.explore.trace import Trace


async def known_results(log: Ledger, exploration: Exploration, runner: OpRunner, facts: Facts) -> dict[int, JsonObject]:
    """The results of the exploration that is resumed, by the hashes of their operations; none after a change."""
    if not exploration.resumes:
        return {}
    try:
        trace = await Trace.load(log, exploration.resumes)
    except StreamGap:
        return {}
    ops = trace.ops
    by_kind = {ops[op_id].kind: result for op_id, result in trace.results.items() if op_id in ops}
    before = by_kind.get(GIT_STATUS)
    if before is None:
        return {}

    async def ignore(text: str) -> None:
        return

    now = await runner.run(AgentOp.new(GIT_STATUS, path=exploration.target.folder), Concurrency.default(), ignore)
    value = before["value"]
    is_clean = isinstance(value, dict) and value.get("headCommit") is not None and value.get("clean") is True
    if now.result is None or now.result.value != value or not is_clean:
        facts.note("nothing was taken over from the earlier exploration: files may have changed since")
        return {}
    # The index is waited for again: it may be another one by now.
    return {
        ops[op_id].op_hash: result
        for op_id, result in trace.results.items()
        if op_id in ops and ops[op_id].kind != INDEX_REPO
    }

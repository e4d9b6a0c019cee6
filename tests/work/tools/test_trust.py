"""Trust in outside tools: the table is the same when it is made again, and what changes it is in the log."""

from pathlib import Path

from codeplane.kernel.json import JsonObject
from codeplane.ledger.projection import differences
from codeplane.work.tools.trust_table import ToolTrustTable
from tests.interaction.requirements import requirement
from tests.kernel.plane import OWNER, events
from tests.trust.approvals.agent_calls import result
from tests.work.tools.tool_plane import ready, scripted, tool_plane

pytestmark = requirement("TOOL-02")


async def test_the_table_is_the_same_when_it_is_made_anew(tmp_path: Path) -> None:
    async with tool_plane(tmp_path, {"notes": scripted()}) as opened:
        await ready(opened, "notes")
        result(await opened.conveyor.call("tools.trust", {"server": "notes"}, OWNER))
        sending: JsonObject = {"server": "notes", "tools": ["send"], "risk": "write"}
        result(await opened.conveyor.call("tools.trust", sending, OWNER))
        result(await opened.conveyor.call("tools.distrust", {"server": "notes", "tools": ["look"]}, OWNER))
        rows = await opened.log.select("SELECT server, tool, risk, trusted_by FROM tool_trust ORDER BY tool")
        assert rows == [("notes", "note", "WRITE", "owner:owner"), ("notes", "send", "WRITE", "owner:owner")]
        assert await opened.log.readers.run(lambda connection: differences(connection, ToolTrustTable())) == []
        trusted = await events(opened, "tool.trusted")
        assert [set(event.payload) for event in trusted] == [{"server", "tool", "fingerprint", "risk"}] * 4

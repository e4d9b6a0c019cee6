"""The owner's trust in outside tools, as the log has it."""

from collections.abc import Callable

from codeplane.kernel.event import Event
from codeplane.kernel.event_feed import EventFeed
from codeplane.kernel.operation import Risk
from codeplane.kernel.ports import Ledger
from codeplane.work.tools.risk import TrustedTool
from codeplane.work.tools.trust_table import TOOL_DISTRUSTED, TOOL_TRUSTED


class ToolTrust:
    """Trusted tools by server and name, fed by the log; `on_change` is called with the server's name."""

    def __init__(self, log: Ledger) -> None:
        self._log = log
        self._tools: dict[tuple[str, str], TrustedTool] = {}
        self._feed = EventFeed({TOOL_TRUSTED, TOOL_DISTRUSTED}, self._apply)
        self.on_change: Callable[[str], None] = lambda server: None

    async def restore(self) -> None:
        """Load what the log says, and follow what becomes of it."""
        await self._feed.load(self._log, self._load)

    def get(self, server: str, tool: str) -> TrustedTool | None:
        """What the owner trusts of a tool."""
        return self._tools.get((server, tool))

    async def _load(self) -> None:
        rows = await self._log.select("SELECT server, tool, fingerprint, risk FROM tool_trust")
        self._tools = {
            (str(server), str(tool)): TrustedTool(fingerprint=str(fingerprint), risk=Risk[str(risk)])
            for server, tool, fingerprint, risk in rows
        }

    def _apply(self, event: Event) -> None:
        server, tool = str(event.payload["server"]), str(event.payload["tool"])
        if event.type == TOOL_DISTRUSTED:
            self._tools.pop((server, tool), None)
        else:
            self._tools[server, tool] = TrustedTool(
                fingerprint=str(event.payload["fingerprint"]), risk=Risk[str(event.payload["risk"])]
            )
        self.on_change(server)

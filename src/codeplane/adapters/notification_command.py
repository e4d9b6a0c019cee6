"""A command of the owner's that shows a notification, such as notify-send."""

import asyncio
import subprocess
from collections.abc import Sequence

from codeplane.kernel.json import JsonObject, dumps
from codeplane.kernel.notification_channel import DeliveryFailed

_SECONDS = 10.0


class NotificationCommand:
    """Runs the command with the summary as its last argument and the whole notification on standard input."""

    name = "command"
    address = ""

    def __init__(self, command: Sequence[str]) -> None:
        self._command = tuple(command)

    async def send(self, notice: JsonObject) -> None:
        """Run the command; DeliveryFailed when it cannot be started, fails or hangs."""
        await asyncio.to_thread(self._run, notice)

    def _run(self, notice: JsonObject) -> None:
        # After the words of the command, so that a summary that begins with a hyphen is no option of it.
        shown = f"{notice['repository']}: {notice['summary'] or notice['type']}"
        try:
            subprocess.run(
                [*self._command, shown],
                input=dumps(notice).encode(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=_SECONDS,
                check=True,
            )
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            raise DeliveryFailed(f"{self._command[0]}: {error}", may_repeat=False) from error

"""A thread of many messages, without the turns that would make them."""

from codeplane.kernel.event import Correlation
from codeplane.kernel.json import JsonObject
from codeplane.wiring.app import Plane
from codeplane.work.threads.events import ASSISTANT_COMMITTED, MESSAGE_CREATED, thread_draft

_BATCH = 500


async def fill_thread(opened: Plane, thread_id: str, messages: int) -> None:
    """Append questions and answers, one after the other."""
    ids = Correlation(thread_id=thread_id)
    for first in range(0, messages, _BATCH):
        drafts = []
        for number in range(first, min(first + _BATCH, messages)):
            text, message_id = f"message {number} " + "word " * 40, f"msg_{number:06}"
            asked: JsonObject = {"message_id": message_id, "role": "user", "content": text, "metadata": {}}
            answered: JsonObject = {"message_id": message_id, "full_text": text, "metadata": {}}
            kind, payload = (ASSISTANT_COMMITTED, answered) if number % 2 else (MESSAGE_CREATED, asked)
            drafts.append(thread_draft(kind, payload, actor="owner", ids=ids))
        await opened.log.append(drafts)

"""An address of the owner's that notifications are posted to."""

from codeplane.kernel.json import JsonObject, dumps
from codeplane.kernel.notification_channel import DeliveryFailed

_SECONDS = 10.0
_LATER = frozenset({408, 429})


class Webhook:
    """Posts each notification as JSON, with its id in a header to recognise repeated ones."""

    name = "webhook"

    def __init__(self, address: str) -> None:
        self.address = address

    async def send(self, notice: JsonObject) -> None:
        """Post a notification; DeliveryFailed unless the answer is a success. Redirects are not followed."""
        import httpx2

        headers = {
            "content-type": "application/json",
            "user-agent": "CodePlane",
            "x-codeplane-notification": str(notice["notification_id"]),
        }
        try:
            async with httpx2.AsyncClient(timeout=_SECONDS, follow_redirects=False) as client:
                answer = await client.post(self.address, content=dumps(notice).encode(), headers=headers)
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise DeliveryFailed(f"{type(error).__name__}: {error}", may_repeat=True) from error
        if not 200 <= answer.status_code < 300:
            may_repeat = answer.status_code >= 500 or answer.status_code in _LATER
            raise DeliveryFailed(f"answered {answer.status_code}", may_repeat=may_repeat)

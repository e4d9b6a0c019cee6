"""The methods on turns."""

from codeplane.kernel.errors import CodePlaneError, ThreadBusy, TurnNotFound
from codeplane.kernel.ids import new_id
from codeplane.kernel.json import JsonObject
from codeplane.surfaces.app_server.connection import AppServerConnection, Method
from codeplane.surfaces.app_server.errors import precondition
from codeplane.surfaces.app_server.folded_turn import FoldedTurn
from codeplane.surfaces.app_server.params import (
    check_params,
    choose_model,
    optional_text,
    reasoning_visibility,
    text_param,
    turn_input,
    wanted_mode,
)
from codeplane.surfaces.app_server.subscription import Subscription
from codeplane.surfaces.app_server.thread_fold import STEER
from codeplane.surfaces.app_server.thread_json import INDEX, model_names


class TurnMethods:
    """Translates requests about turns to operations."""

    def __init__(self, connection: AppServerConnection) -> None:
        self._connection = connection
        self._call = connection.call

    @property
    def methods(self) -> dict[str, Method]:
        """The methods by their names."""
        return {"turn/start": self.start, "turn/steer": self.steer, "turn/interrupt": self.interrupt}

    async def start(self, params: JsonObject) -> JsonObject:
        """Send a message; while another turn runs it waits behind that."""
        check_params(params, self._connection.root)
        subscription, given = await self._followed(params), turn_input(params)
        asked: JsonObject = {
            "thread_id": subscription.fold.thread_id,
            "user_text": given.text,
            "skills": list(given.skills),
            "client_message_id": optional_text(params, "clientUserMessageId") or new_id("cmsg"),
            "reasoning_visibility": reasoning_visibility(params),
        }
        await self._configure(subscription.fold.thread_id, params)
        async with subscription.answering:
            sent = await self._call("turn.send", asked)
        turn_id = str(sent["turn_id"])
        # The same message sent again is the same turn, which may have ended.
        known = subscription.fold.turns.get(turn_id)
        turn = known or FoldedTurn(turn_id=turn_id, first_sequence=0, newest=turn_id)
        return {"turn": turn.to_json(with_items=False)}

    async def steer(self, params: JsonObject) -> JsonObject:
        """Say more to the turn that runs: it goes on with that after its current tool."""
        subscription, given = await self._followed(params), turn_input(params)
        turn = await self._expect_active(subscription, text_param(params, "expectedTurnId"))
        message_id = optional_text(params, "clientUserMessageId") or new_id("cmsg")
        asked: JsonObject = {
            "thread_id": subscription.fold.thread_id,
            "user_text": given.text,
            "skills": list(given.skills),
            "client_message_id": f"{STEER}{turn.turn_id}:{message_id}",
            "queue_mode": "INTERRUPT_AFTER_CURRENT_TOOL",
        }
        async with subscription.answering:
            try:
                await self._call("turn.send", asked)
            except CodePlaneError:
                await subscription.settle()
                raise
        return {"turnId": turn.turn_id}

    async def interrupt(self, params: JsonObject) -> JsonObject:
        """End the turn that runs, at once."""
        subscription = await self._followed(params)
        turn = await self._expect_active(subscription, text_param(params, "turnId"))
        await self._call("turn.cancel", {"turn_id": turn.newest, "reason": "interrupted by its client"})
        return {}

    async def _followed(self, params: JsonObject) -> Subscription:
        """Return the thread that a request is about, which is followed from now on if it was not."""
        thread_id = text_param(params, "threadId")
        if (subscription := self._connection.followed.get(thread_id)) is not None:
            return subscription
        window = await self._connection.history.window(thread_id)
        return await self._connection.follow(window.fold)

    async def _expect_active(self, subscription: Subscription, turn_id: str) -> FoldedTurn:
        """Return the running turn if it is the expected one; else the error names it."""
        # A client that has just started a turn knows of it before it was notified.
        thread_id, history = subscription.fold.thread_id, self._connection.history
        fold = subscription.fold
        if not await subscription.catch_up(await history.head(thread_id)):
            # It is behind, on a busy machine or for a client that reads slowly: the log itself says what runs.
            fold = (await history.window(thread_id)).fold
        active = fold.active
        if active is not None and active.turn_id == turn_id:
            return active
        shown = turn_id[:100]
        if active is None:
            raise precondition(f"no active turn, expected `{shown}`", TurnNotFound(f"{shown} does not run"))
        raise precondition(
            f"expected active turn id `{shown}` but found `{active.turn_id}`",
            ThreadBusy(f"{active.turn_id} runs", details={"turn_id": active.turn_id}),
        )

    async def _configure(self, thread_id: str, params: JsonObject) -> None:
        """Take over what is to hold for this turn and later ones."""
        model, mode = await self._model(params), wanted_mode(params)
        chosen: JsonObject = {**({"mode": mode} if mode else {}), **({"model": model} if model else {})}
        if chosen:
            await self._call("thread.configure", {"thread_id": thread_id, **chosen})

    async def _model(self, params: JsonObject) -> str:
        asked = optional_text(params, "model")
        if not asked:
            return ""
        names = model_names(await self._call("model.list", {}))
        return "" if asked == INDEX and not names else choose_model(asked, names)

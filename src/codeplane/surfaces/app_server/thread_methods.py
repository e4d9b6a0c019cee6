"""The methods on threads, and on the models that answer in them."""

from functools import partial

from codeplane.kernel.errors import InvalidArgument, ThreadNotFound
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.surfaces.app_server.connection import AppServerConnection, Method
from codeplane.surfaces.app_server.folded_turn import FoldedTurn, Note
from codeplane.surfaces.app_server.history import Window
from codeplane.surfaces.app_server.items import Item
from codeplane.surfaces.app_server.pages import PageRequest, page_of
from codeplane.surfaces.app_server.params import check_params, choose_model, optional_text, text_param, wanted_mode
from codeplane.surfaces.app_server.subscription import Position
from codeplane.surfaces.app_server.thread_fold import ThreadFold
from codeplane.surfaces.app_server.thread_json import (
    INDEX,
    PROVIDER,
    model_names,
    models_json,
    started_json,
    thread_json,
)

# Commands are what clients of this protocol expect; each waits for a person. What they do with git beyond their sandbox
# has operations of its own.
_TOOLSET = "core,git,run_bash"
_MAX_LISTED = 100
_SOURCE = "appServer"


class ThreadMethods:
    """Translates requests about threads to operations."""

    def __init__(self, connection: AppServerConnection) -> None:
        self._connection = connection
        self._call = connection.call
        self._history = connection.history
        self._cwd = str(connection.root)

    @property
    def methods(self) -> dict[str, Method]:
        """The methods by their names."""
        return {
            "thread/start": self.start,
            "thread/resume": self.resume,
            "thread/fork": self.fork,
            "thread/read": self.read,
            "thread/list": self.list_threads,
            "thread/turns/list": self.list_turns,
            "thread/items/list": self.list_items,
            "thread/name/set": self.rename,
            "thread/archive": self.archive,
            "thread/unarchive": self.unarchive,
            "thread/unsubscribe": self.unsubscribe,
            "model/list": self.list_models,
            "account/read": self.read_account,
        }

    async def start(self, params: JsonObject) -> JsonObject:
        """Open a thread and follow it."""
        warnings = check_params(params, self._connection.root)
        model, shown = await self._model(params)
        view = await self._call("thread.create", {"toolset": _TOOLSET, "model": model})
        view = await self._configure(view, mode=wanted_mode(params))
        fold = ThreadFold(str(view["thread_id"]), cwd=self._cwd)
        fold.last_sequence = int(str(view["last_sequence"]))
        return await self._open(view, fold, model=shown, warnings=warnings)

    async def resume(self, params: JsonObject) -> JsonObject:
        """Follow a thread from now on, or from the cursor that the client saw last."""
        warnings = check_params(params, self._connection.root)
        model, _ = await self._model(params)
        view = await self._view(text_param(params, "threadId"))
        view = await self._configure(view, mode=wanted_mode(params), model=model)
        thread_id = str(view["thread_id"])
        seen = _position(optional_text(params, "cursor"))
        if seen is not None and seen.sequence > int(str(view["last_sequence"])):
            raise InvalidArgument("the cursor is beyond the end of the thread", hint="send the last one that came")
        window = await self._history.window(thread_id)
        fold = window.fold
        if seen is not None:
            fold = await self._history.fold_until(thread_id, seen.sequence - 1)
        turns, older = await self._turns(window, params)
        shown = str(view["model"] or "") or (await self._model({}))[1]
        return await self._open(
            view, fold, model=shown, warnings=warnings, seen=seen, turns=turns, older=older, status=window.fold.status
        )

    async def fork(self, params: JsonObject) -> JsonObject:
        """Open a thread that begins with the messages of another, and follow it."""
        warnings = check_params(params, self._connection.root)
        model, shown = await self._model(params)
        asked: JsonObject = {
            "thread_id": text_param(params, "threadId"),
            "last_turn_id": await self._last_part(params),
            "model": model,
        }
        view = await self._call("thread.fork", asked)
        view = {**view, **await self._configure(view, mode=wanted_mode(params))}
        if left := int(str(view["left_out"])):
            warnings.append(f"{left} older messages are not in the fork")
        window = await self._history.window(str(view["thread_id"]))
        turns, older = await self._turns(window, params)
        shown = str(view["model"] or "") or shown
        return await self._open(view, window.fold, model=shown, warnings=warnings, turns=turns, older=older)

    async def read(self, params: JsonObject) -> JsonObject:
        """Show a thread without following it."""
        view = await self._view(text_param(params, "threadId"))
        window = await self._history.window(str(view["thread_id"]))
        turns, older = (await self._history.newest(window)) if params.get("includeTurns") else ([], None)
        thread = thread_json(view, cwd=self._cwd, status=window.fold.status, turns=turns, older=older)
        return {"thread": thread}

    async def list_threads(self, params: JsonObject) -> JsonObject:
        """List the client's threads, the last used first."""
        if params.get("sortDirection") not in (None, "desc"):
            raise InvalidArgument("threads are listed the last used first", hint="leave sortDirection out")
        limit = params.get("limit") or 25
        if not isinstance(limit, int) or isinstance(limit, bool) or limit < 1:
            raise InvalidArgument("limit has to be a positive number")
        if not self._may_match(params):
            return {"data": [], "nextCursor": None, "backwardsCursor": None}
        asked: JsonObject = {
            "archived": bool(params.get("archived")),
            "query": optional_text(params, "searchTerm"),
            "limit": min(limit, _MAX_LISTED),
            **({"cursor": cursor} if (cursor := optional_text(params, "cursor")) else {}),
        }
        page = await self._call("thread.list", asked)
        found, pagination = page["results"], page["pagination"]
        assert isinstance(found, list) and isinstance(pagination, dict)
        data: list[JsonValue] = [self._listed(view) for view in found if isinstance(view, dict)]
        return {"data": data, "nextCursor": pagination["next_cursor"], "backwardsCursor": None}

    async def list_turns(self, params: JsonObject) -> JsonObject:
        """List the turns of a thread, newest first unless asked otherwise."""
        request = PageRequest.of(params, default="desc")
        window = await self._window(params, request)
        with_items = params.get("itemsView") != "notLoaded"
        entries = [partial(self._history.turn, turn, with_items=with_items) for turn in window.turns]
        page = await page_of(entries, request, last=window.last, older=window.before)
        return {"data": page.data, "nextCursor": page.next_cursor, "backwardsCursor": None}

    async def list_items(self, params: JsonObject) -> JsonObject:
        """List the items of a thread or of one turn, oldest first unless asked otherwise."""
        if isinstance(params.get("cursor"), dict):
            raise InvalidArgument("`cursor` has to be the nextCursor of a page")
        request = PageRequest.of(params, default="asc", limit=100)
        turn_id = optional_text(params, "turnId")
        window = await self._window(params, request)
        turns = [turn for turn in window.turns if turn_id in ("", turn.turn_id)]
        entries = [partial(self._item, turn, item) for turn in turns for item in turn.items.values()]
        # A turn is in one window.
        older = None if turn_id and turns else window.before
        page = await page_of(entries, request, last=window.last, older=older)
        return {"data": page.data, "nextCursor": page.next_cursor, "backwardsCursor": None}

    async def rename(self, params: JsonObject) -> JsonObject:
        """Give a thread another title."""
        asked: JsonObject = {"thread_id": text_param(params, "threadId"), "title": text_param(params, "name")}
        await self._call("thread.rename", asked)
        return {}

    async def archive(self, params: JsonObject) -> JsonObject:
        """Put a thread away."""
        await self._call("thread.archive", {"thread_id": text_param(params, "threadId")})
        return {}

    async def unarchive(self, params: JsonObject) -> JsonObject:
        """Take a thread out again."""
        asked: JsonObject = {"thread_id": text_param(params, "threadId"), "archived": False}
        return {"thread": self._listed(await self._call("thread.archive", asked))}

    async def unsubscribe(self, params: JsonObject) -> JsonObject:
        """Stop following a thread."""
        was_followed = await self._connection.unfollow(text_param(params, "threadId"))
        return {"status": "unsubscribed" if was_followed else "notSubscribed"}

    async def list_models(self, params: JsonObject) -> JsonObject:
        """List the models that may be asked."""
        return {"data": models_json(await self._call("model.list", {})), "nextCursor": None}

    async def read_account(self, params: JsonObject) -> JsonObject:
        """Say that nobody has to sign in."""
        return {"account": None, "requiresOpenaiAuth": False}

    async def _open(
        self,
        view: JsonObject,
        fold: ThreadFold,
        *,
        model: str,
        warnings: list[str],
        seen: Position | None = None,
        turns: list[JsonValue] | None = None,
        older: str | None = None,
        status: JsonObject | None = None,
    ) -> JsonObject:
        """Follow a thread and return it."""
        thread = thread_json(view, cwd=self._cwd, status=status or fold.status, turns=turns, older=older)
        notes = [Note(method="warning", params={"threadId": fold.thread_id, "message": text}) for text in warnings]
        if turns is None:
            notes.insert(0, Note(method="thread/started", params={"thread": {**thread, "model": model}}))
        await self._connection.follow(fold, *notes, seen=seen)
        return started_json(thread, model=model, mode=str(view["mode"]), cwd=self._cwd)

    async def _configure(self, view: JsonObject, *, mode: str = "", model: str = "") -> JsonObject:
        """Give a thread a stricter mode or another model, where that is asked for, and return it."""
        chosen: JsonObject = {**({"mode": mode} if mode else {}), **({"model": model} if model else {})}
        return await self._call("thread.configure", {"thread_id": view["thread_id"], **chosen}) if chosen else view

    async def _turns(self, window: Window, params: JsonObject) -> tuple[list[JsonValue], str | None]:
        if params.get("excludeTurns"):
            return [], f"{window.last}.0"
        return await self._history.newest(window)

    async def _window(self, params: JsonObject, request: PageRequest) -> Window:
        thread_id = str((await self._view(text_param(params, "threadId")))["thread_id"])
        return await self._history.window(thread_id, before=request.before or None)

    async def _item(self, turn: FoldedTurn, item: Item) -> JsonObject:
        await self._history.complete_item(item)
        times: JsonObject = {"startedAtMs": item.started_ms, "completedAtMs": item.completed_ms}
        return {"turnId": turn.turn_id, "item": item.body, **times}

    async def _view(self, thread_id: str) -> JsonObject:
        """Return a thread that the client may see, by its whole id."""
        view = await self._call("thread.show", {"thread_id": thread_id})
        if view["thread_id"] != thread_id:
            raise ThreadNotFound(f"there is no thread {thread_id[:100]!r}")
        return view

    async def _last_part(self, params: JsonObject) -> str:
        """Return the thread's own turn that is the last part of the one named."""
        last = optional_text(params, "lastTurnId")
        if not last:
            return ""
        window = await self._history.window(text_param(params, "threadId"))
        return next((turn.newest for turn in window.turns if turn.turn_id == last), last)

    async def _model(self, params: JsonObject) -> tuple[str, str]:
        """Return the model that a thread is given, empty for the default, and the name of what will answer."""
        listed = await self._call("model.list", {})
        names = model_names(listed)
        asked, provider = optional_text(params, "model"), optional_text(params, "modelProvider")
        if not asked or (asked == INDEX and not names):
            return "", str(listed.get("default") or "") or INDEX
        if provider and f"{provider}/{asked}" in names:
            asked = f"{provider}/{asked}"
        model = choose_model(asked, names)
        return model, model

    def _may_match(self, params: JsonObject) -> bool:
        """Return whether threads of this server can be among those that are asked for."""
        folders, kinds, providers = (params.get(name) for name in ("cwd", "sourceKinds", "modelProviders"))
        wanted = folders if isinstance(folders, list) else [folders] if folders else []
        return (
            (not wanted or self._cwd in wanted)
            and (not isinstance(kinds, list) or not kinds or _SOURCE in kinds)
            and (not isinstance(providers, list) or not providers or PROVIDER in providers)
        )

    def _listed(self, view: JsonObject) -> JsonObject:
        followed = self._connection.followed.get(str(view["thread_id"]))
        return thread_json(view, cwd=self._cwd, status=followed.fold.status if followed is not None else None)


def _position(cursor: str) -> Position | None:
    """Return where a client is by the cursor of the last notification that it saw."""
    if not cursor:
        return None
    sequence, _, notes = cursor.partition(".")
    if not (sequence.isdecimal() and notes.isdecimal() and cursor.isascii() and len(cursor) < 30 and int(sequence)):
        raise InvalidArgument("`cursor` has to be that of a notification", hint="pass it on as it came")
    return Position(sequence=int(sequence), notes=int(notes))

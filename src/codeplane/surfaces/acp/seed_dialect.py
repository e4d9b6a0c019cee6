"""The dialect 0.2.1: snake_case, operations of the engine as methods that show themselves as tool calls."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import xxhash

from codeplane.kernel.errors import CodePlaneError, InvalidArgument, OpCanceled, RateLimited, VersionMismatch
from codeplane.kernel.json import JsonObject, JsonValue, canonical
from codeplane.surfaces.acp.door import AcpDoor
from codeplane.surfaces.acp.errors import seed_error
from codeplane.surfaces.acp.options import SessionOptions
from codeplane.surfaces.acp.requests import NewSession, OpenSession, Prompt
from codeplane.surfaces.acp.seed_explore import FEATURE as EXPLORE
from codeplane.surfaces.acp.seed_explore import SeedExplorations
from codeplane.surfaces.acp.seed_index import FEATURE as SUBSCRIBE
from codeplane.surfaces.acp.seed_index import SeedIndexSubscriptions
from codeplane.surfaces.acp.seed_llm import FEATURE as LLM_CALL
from codeplane.surfaces.acp.seed_llm import LlmCall, ModelQuestions, check, model_features, shown_arguments
from codeplane.surfaces.acp.seed_outlet import SeedOutlet, failure, inline
from codeplane.surfaces.acp.seed_requests import (
    SeedInitialize,
    SeedLlmCall,
    SeedNewSession,
    SeedOpenSession,
    SeedPrompt,
    SeedRoot,
    SeedSearch,
    SeedSession,
    SeedSpan,
    SeedSubscription,
    extension_params,
    parse_seed,
)
from codeplane.surfaces.acp.seed_roots import SeedRoots
from codeplane.surfaces.acp.sessions import Sessions
from codeplane.surfaces.json_rpc.message import METHOD_NOT_FOUND, Notification, Request, RpcError
from codeplane.surfaces.json_rpc.peer import Answer, Peer

VERSION = "0.2.1"
FEATURES = ("search.lexical", "search.semantic", "search.hybrid", "content.get_span", EXPLORE, SUBSCRIBE, LLM_CALL)
SCHEMA_VERSION = 1
_MODES = {"search.lexical": "lexical", "search.semantic": "semantic", "search.hybrid": "hybrid"}
_HITS = "SearchResult[]"
# What is sent of a search as soon as it is there; pages behind it are larger.
_FIRST = 20
# Ids of one connection that are remembered, so that none is taken twice.
_MAX_IDS = 100_000


class SeedDialect:
    """Answers a client of the dialect."""

    def __init__(
        self, door: AcpDoor, peer: Peer, *, root: Path, options: SessionOptions, questions: ModelQuestions
    ) -> None:
        """`questions` are those of all connections."""
        self._door = door
        self._peer = peer
        self._root = root
        self._outlet = SeedOutlet(peer)
        self._sessions = Sessions(door, self._outlet, root=root, options=options)
        self._explorations = SeedExplorations(door, self._outlet, self._sessions.get, self._open_session)
        self._index = SeedIndexSubscriptions(door, self._outlet, repository=root.name)
        self._roots = SeedRoots(door, self._outlet)
        self._ids: set[str] = set()
        self._questions = questions
        # What ends the questions of this connection, by their sessions.
        self._asking: dict[str, asyncio.Event] = {}

    def agree(self, params: JsonObject) -> None:
        """Take the first request of a client; VersionMismatch for other versions."""
        asked = parse_seed(SeedInitialize, params)
        if asked.protocol_version != VERSION:
            raise VersionMismatch(f"{asked.protocol_version!r} is not spoken here, {VERSION} is")
        self._door.set_client(asked.client_info.name)

    async def greeting(self, info: JsonObject) -> Answer:
        """Return the answer to the handshake, and send the features after it."""
        features: list[JsonValue] = [*FEATURES, *await model_features(self._door)]
        result: JsonObject = {
            "protocol_version": VERSION,
            "agent_capabilities": {
                "load_session": True,
                "prompt_capabilities": {"image": False, "audio": False, "embedded_context": True},
                "mcp_capabilities": {"http": False, "sse": False},
            },
            "auth_methods": [],
            "agent_info": {"name": info["name"], "version": info["version"]},
            "_meta": {"features": features},
        }

        async def announce() -> None:
            payload: JsonObject = {"protocol_version": VERSION, "features": features}
            banner: JsonObject = {"namespace": "features", "name": "hello", "payload": payload}
            await self._peer.notify("features.hello", banner)

        return Answer(result=result, after=announce)

    def error_of(self, error: CodePlaneError) -> RpcError:
        """Return an error with its code in the dialect."""
        return seed_error(error)

    async def handle_request(self, request: Request) -> JsonValue | Answer:
        """Answer a request whose id was not used before on this connection: it is the request's nonce."""
        nonce = repr(request.id)
        if nonce in self._ids:
            raise InvalidArgument(f"the id {request.id!r} was used before", hint="give every request an id of its own")
        if len(self._ids) >= _MAX_IDS:
            raise RateLimited(f"{_MAX_IDS} requests came over this connection", hint="connect again")
        self._ids.add(nonce)
        method = _METHODS.get(request.method)
        if method is not None:
            return await method(self, extension_params(request.method, request.params))
        if (exploring := self._explorations.methods.get(request.method)) is not None:
            return await exploring(request.params)
        if request.method in _MODES:
            return await self._search(request.method, request.params)
        raise RpcError(METHOD_NOT_FOUND, f"there is no method {request.method[:100]}")

    async def handle_notification(self, notification: Notification) -> None:
        """Cancel what runs in a session; others mean nothing here."""
        if notification.method == "session/cancel":
            session = self._sessions.get(parse_seed(SeedSession, notification.params).session_id)
            if (stop := self._asking.get(session.thread_id)) is not None:
                stop.set()
            await session.cancel()
            await self._explorations.cancel(session.thread_id)

    async def end(self) -> None:
        """Follow nothing any more."""
        await self._explorations.end()
        await self._index.end()
        await self._roots.end()
        await self._sessions.end()

    async def _new(self, params: JsonObject) -> Answer:
        asked = parse_seed(SeedNewSession, params)
        session_id = await self._create(asked.cwd)

        async def follow() -> None:
            self._sessions.get(session_id).follow()

        return Answer(result={"session_id": session_id}, after=follow)

    async def _create(self, cwd: str | None) -> str:
        thread = await self._sessions.create(NewSession(cwd=cwd or str(self._root)))
        return str(thread["thread_id"])

    async def _open_session(self) -> str:
        """Open a session for a request that names none."""
        session_id = await self._create(None)
        self._sessions.get(session_id).follow()
        return session_id

    async def _load(self, params: JsonObject) -> Answer:
        asked = parse_seed(SeedOpenSession, params)
        request = OpenSession(sessionId=asked.session_id, cwd=asked.cwd or str(self._root))
        session, _ = await self._sessions.reopen(request, from_start=True)
        await self._sessions.replay(session)

        async def follow() -> None:
            session.follow()

        return Answer(result={"session_id": session.thread_id}, after=follow)

    async def _prompt(self, params: JsonObject) -> JsonValue:
        asked = parse_seed(SeedPrompt, params)
        with self._alone(asked.session_id):
            prompt = Prompt(sessionId=asked.session_id, prompt=asked.prompt)
            session, turn = await self._sessions.send(prompt)
            ended = await session.wait(str(turn["turn_id"]))
        if ended.failure is not None:
            raise ended.failure
        return {"stop_reason": ended.stop_reason}

    async def _ask_model(self, params: JsonObject) -> JsonValue:
        asked = parse_seed(SeedLlmCall, params)
        self._sessions.get(asked.session_id)
        check(asked)

        async def run(call_id: str) -> JsonValue:
            async def tell(output: JsonValue) -> None:
                update: JsonObject = {"session_update": "tool_call_update", "call_id": call_id, "status": "started"}
                await self._outlet.show(asked.session_id, {**update, "output": output})

            task = asyncio.ensure_future(LlmCall(self._door, asked, tell).run())
            stopped = asyncio.ensure_future(self._asking[asked.session_id].wait())
            try:
                await asyncio.wait({task, stopped}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                stopped.cancel()
                if not (has_answered := task.done()):
                    task.cancel()
            if not has_answered:
                raise OpCanceled("the question was cancelled in the client", hint="ask again")
            return task.result()

        with self._alone(asked.session_id):
            kind = asked.expects_type or "Text"
            return await self._operate(asked.session_id, LLM_CALL, shown_arguments(asked), kind, run)

    @contextmanager
    def _alone(self, session_id: str) -> Iterator[None]:
        """Let one request of a session reach a model at a time."""
        with self._questions.alone(session_id):
            self._asking[session_id] = asyncio.Event()
            try:
                yield
            finally:
                self._asking.pop(session_id, None)

    async def _search(self, name: str, params: JsonObject) -> JsonValue:
        asked = parse_seed(SeedSearch, params)

        async def run(call_id: str) -> JsonValue:
            found: list[JsonValue] = []
            wanted: JsonObject = {
                "query": asked.query,
                "mode": _MODES[name],
                "paths": list(asked.filters.paths),
                "languages": list(asked.filters.languages),
                "tests": asked.filters.tests,
                "context": asked.context_lines if asked.include_text else 0,
                "limit": min(_FIRST, asked.k),
                "most": asked.k,
            }
            async for item in self._door.stream("search.stream", wanted):
                page = item.model_dump(mode="json")
                results, pagination = page["results"], page["pagination"]
                assert isinstance(results, list) and isinstance(pagination, dict)
                hits: list[JsonValue] = []
                hits += [_hit(hit, include_text=asked.include_text) for hit in results][: asked.k - len(found)]
                found += hits
                if pagination.get("next_cursor") and hits and len(found) < asked.k:
                    await self._show_partial(asked.session_id, call_id, hits, first=len(found) - len(hits))
            return found

        return await self._operate(asked.session_id, name, params, _HITS, run)

    async def _show_partial(self, session_id: str, call_id: str, hits: list[JsonValue], *, first: int) -> None:
        """Send what a search has found beyond what was sent before; the end of the call has all of it."""
        update: JsonObject = {"session_update": "tool_call_update", "call_id": call_id, "status": "started"}
        meta: JsonObject = {**_typed(_HITS, hits), "partial": True, "first": first}
        await self._outlet.show(session_id, {**update, "output": hits, "_meta": meta})

    async def _span(self, params: JsonObject) -> JsonValue:
        asked = parse_seed(SeedSpan, params)
        if asked.end_line < asked.start_line:
            raise InvalidArgument("end_line is before start_line")

        async def run(_: str) -> JsonValue:
            wanted: JsonObject = {
                "path": asked.path,
                "start_line": max(1, asked.start_line - asked.context),
                "end_line": asked.end_line + asked.context,
            }
            read = (await self._door.call("read_files", {"ranges": [wanted]}))["files"]
            assert isinstance(read, list)
            file = read[0]
            if (problem := file.get("error")) is not None:
                raise InvalidArgument(
                    f"{asked.path}: {problem.get('message') if isinstance(problem, dict) else problem}"
                )
            text, is_cut = inline(file["content"])
            return {
                "path": file["path"],
                "start_line": file["start"],
                "end_line": file["end"],
                "text": text,
                "truncated": is_cut or file["truncated"],
                "encoding": "utf-8" if file["encoding"] == "utf-8" else "unknown-lossy",
            }

        return await self._operate(asked.session_id, "content.get_span", params, "SpanText", run)

    async def _status(self, params: JsonObject) -> JsonValue:
        return await self._index.status()

    async def _subscribe(self, params: JsonObject) -> Answer:
        asked = parse_seed(SeedSubscription, params)
        self._sessions.get(asked.session_id)
        return await self._index.subscribe(asked.session_id, asked.workspace_id, follows=asked.follow)

    async def _add_root(self, params: JsonObject) -> JsonValue:
        asked: SeedRoot = parse_seed(SeedRoot, params)
        if asked.session_id is None:
            return await self._roots.add(asked.path)
        self._sessions.get(asked.session_id)
        return await self._roots.add_in(asked.session_id, asked.path)

    async def _operate(
        self, session_id: str, name: str, arguments: JsonObject, kind: str, run: Callable[[str], Awaitable[JsonValue]]
    ) -> JsonObject:
        """Run an operation of the engine, and show it in its session as a tool call."""
        self._sessions.get(session_id)
        call_id = str(uuid4())
        shown: JsonObject = {key: value for key, value in arguments.items() if key != "session_id"}
        call: JsonObject = {"session_update": "tool_call", "call_id": call_id, "name": name, "arguments": shown}
        update: JsonObject = {"session_update": "tool_call_update", "call_id": call_id}
        await self._outlet.show(session_id, call)
        await self._outlet.show(session_id, {**update, "status": "started"})
        try:
            payload = await run(call_id)
        except CodePlaneError as error:
            await self._outlet.show(session_id, failure(call_id, error))
            raise
        typed = _typed(kind, payload)
        await self._outlet.show(session_id, {**update, "status": "completed", "output": payload, "_meta": typed})
        return {"call_id": call_id, **typed, "payload": payload}


def _typed(kind: str, payload: JsonValue) -> JsonObject:
    return {
        "type": kind,
        "schema_version": SCHEMA_VERSION,
        "checksum": xxhash.xxh32(canonical(payload)).intdigest(),
    }


def _hit(hit: JsonObject, *, include_text: bool) -> JsonObject:
    before, after = hit.get("before"), hit.get("after")
    above, below = before if isinstance(before, list) else [], after if isinstance(after, list) else []
    line = int(str(hit["line"]))
    place: JsonObject = {
        "path": hit["path"],
        "start_line": line - len(above),
        "end_line": line + len(below),
        "line": line,
        "score": hit["score"],
    }
    if not include_text:
        return place
    text, is_cut = inline("\n".join(map(str, [*above, hit.get("snippet") or "", *below])))
    return {**place, "text": text, "truncated": is_cut}


_Method = Callable[[SeedDialect, JsonObject], Awaitable[JsonValue | Answer]]
_METHODS: Mapping[str, _Method] = {
    "session/new": SeedDialect._new,
    "session/load": SeedDialect._load,
    "session/prompt": SeedDialect._prompt,
    "llm.call": SeedDialect._ask_model,
    "content.get_span": SeedDialect._span,
    "index.status": SeedDialect._status,
    "index.subscribe": SeedDialect._subscribe,
    "index.add_root": SeedDialect._add_root,
}

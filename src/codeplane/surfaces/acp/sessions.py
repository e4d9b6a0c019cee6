"""The sessions of one connection: opened, listed, prompted and closed, whatever the version of the protocol."""

import os
from pathlib import Path

from codeplane.kernel.errors import InvalidArgument, ThreadNotFound, WorkspaceNotFound
from codeplane.kernel.ids import new_id
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.surfaces.acp.cursor import META, Cursor, meta_field
from codeplane.surfaces.acp.door import AcpDoor
from codeplane.surfaces.acp.editor_files import EditorFiles
from codeplane.surfaces.acp.options import SessionOptions
from codeplane.surfaces.acp.prompt import prompt_text
from codeplane.surfaces.acp.requests import ListSessions, NewSession, OpenSession, Prompt
from codeplane.surfaces.acp.session import AcpSession, Outlet
from codeplane.surfaces.acp.session_servers import SessionServers
from codeplane.surfaces.acp.updates import Text

MAX_SESSIONS = 64
_LISTED = 50
# For the end of a turn to be sent, when its session is closed.
_LAST_SEC = 5.0


class Sessions:
    """What a client does with threads."""

    def __init__(
        self,
        door: AcpDoor,
        outlet: Outlet,
        *,
        root: Path,
        options: SessionOptions,
        files: EditorFiles | None = None,
    ) -> None:
        """`files` reads what an editor has open."""
        self._files = files
        self._door = door
        self._outlet = outlet
        self._root = root
        self.options = options
        self._open: dict[str, AcpSession] = {}
        self._servers = SessionServers(door)

    def get(self, session_id: str) -> AcpSession:
        """Return an open session; ThreadNotFound for others."""
        if session_id not in self._open:
            raise ThreadNotFound(
                f"there is no open session {session_id[:100]!r}", hint="open it first: session/new, load or resume"
            )
        return self._open[session_id]

    async def create(self, request: NewSession) -> JsonObject:
        """Open a new thread; return it."""
        self._check_folder(request.cwd)
        self._check_room()
        thread = await self._door.call("thread.create", self._door.new_thread)
        thread_id = str(thread["thread_id"])
        self._open[thread_id] = self._session(thread_id)
        await self._servers.offer(thread_id, request.mcp_servers)
        return thread

    async def reopen(self, request: OpenSession, *, from_start: bool) -> tuple[AcpSession, JsonObject]:
        """Open a thread that is there, at the cursor that the client names, at its beginning or at its end."""
        self._check_folder(request.cwd)
        thread = await self._door.call("thread.show", {"thread_id": request.session_id})
        thread_id = str(thread["thread_id"])
        if thread_id != request.session_id:
            # Ids can be shortened elsewhere; a client has only whole ones.
            raise ThreadNotFound(f"there is no session {request.session_id!r}")
        # Where the client has it open already, that goes on until this one is where it is wanted.
        session = self._session(thread_id)
        cursor = meta_field(request.meta, "cursor")
        if cursor is not None:
            await session.skip_to(Cursor.parse(cursor))
        elif not from_start:
            await session.skip_to(None)
        if (earlier := self._open.pop(thread_id, None)) is not None:
            await earlier.end()
        self._check_room()
        self._open[thread_id] = session
        await self._servers.offer(thread_id, request.mcp_servers)
        return session, thread

    def servers_answer(self, session: AcpSession) -> JsonObject:
        """Return what the answer that opens a session says of the client's MCP servers."""
        return self._servers.answer(session.thread_id)

    async def begin_servers(self, session: AcpSession) -> None:
        """Ask for the MCP servers that the client brings along for a session."""

        async def say(words: str) -> None:
            shown = Text(role="thought", text=f"{words}\n", message_id="mcp-servers")
            await self._outlet.send(session.thread_id, shown, session.cursor)

        await self._servers.begin(session.thread_id, say)

    async def replay(self, session: AcpSession) -> None:
        """Send what is in a session that was opened again; one that cannot be shown is not open."""
        try:
            await session.replay()
        except BaseException:
            # Nobody follows it: a prompt in it would never be answered.
            self._open.pop(session.thread_id, None)
            await self._servers.end(session.thread_id)
            await session.end()
            raise

    async def listing(self, request: ListSessions) -> JsonObject:
        """Return a page of the client's threads."""
        if request.cwd is not None and not self._is_within(request.cwd):
            return {"sessions": []}
        asked: JsonObject = {"limit": _LISTED, **({"cursor": request.cursor} if request.cursor else {})}
        page = await self._door.call("thread.list", asked)
        results, pagination = page["results"], page["pagination"]
        assert isinstance(results, list) and isinstance(pagination, dict)
        sessions: list[JsonValue] = [
            {
                "sessionId": thread["thread_id"],
                "cwd": str(self._root),
                "title": thread["title"] or None,
                "updatedAt": thread["updated_at"],
                "_meta": {META: {"cursor": Cursor(sequence=thread["last_sequence"]).text}},
            }
            for thread in results
        ]
        following = pagination.get("next_cursor")
        return {"sessions": sessions, **({"nextCursor": following} if following else {})}

    async def close(self, session_id: str) -> None:
        """Cancel what runs in a session, and follow it no longer."""
        session = self.get(session_id)
        await session.cancel()
        await session.settle(_LAST_SEC)
        await self._servers.end(session_id)
        self._open.pop(session_id, None)
        await session.end()

    async def delete(self, session_id: str) -> None:
        """Take a session out of the list; the thread is archived, and nothing of it is lost."""
        if session_id in self._open:
            await self.close(session_id)
        await self._door.call("thread.archive", {"thread_id": session_id})

    async def send(self, request: Prompt) -> tuple[AcpSession, JsonObject]:
        """Send a prompt; return its session and turn."""
        session = self.get(request.session_id)
        unsaved = await self._files.unsaved(session.thread_id, request.prompt) if self._files is not None else {}
        text = prompt_text(request.prompt, self._root, unsaved)
        message_id = meta_field(request.meta, "messageId")
        if message_id is not None and not (isinstance(message_id, str) and 0 < len(message_id) <= 200):
            raise InvalidArgument("`_meta.codeplane.messageId` has to be a text of at most 200 characters")
        message: JsonObject = {"user_text": text, "client_message_id": message_id or new_id("cmsg")}
        command, _, rest = text.strip().partition(" ")
        if command.startswith("/") and (skill := command[1:]) in await self._skills():
            message |= {"skills": [skill], "user_text": rest.strip() or text}
        await self._servers.settle(session.thread_id)
        return session, await session.send_turn(message)

    async def commands(self) -> list[JsonObject]:
        """Return the commands that a prompt may begin with: the skills that may be used."""
        return [
            {"name": name, "description": words[:500] or name, "input": {"hint": "what to do"}}
            for name, words in (await self._skills()).items()
        ]

    async def end(self) -> None:
        """Follow nothing any more."""
        await self._servers.end_all()
        for session in [*self._open.values()]:
            await session.end()
        self._open.clear()

    async def _skills(self) -> dict[str, str]:
        listed = (await self._door.call("skill.list", {}))["skills"]
        assert isinstance(listed, list)
        return {
            str(skill["name"]): str(skill["description"]).replace("\n", " ")
            for skill in listed
            if skill["state"] == "ready"
        }

    def _session(self, thread_id: str) -> AcpSession:
        return AcpSession(thread_id, door=self._door, outlet=self._outlet, root=self._root)

    def _check_room(self) -> None:
        if len(self._open) >= MAX_SESSIONS:
            raise InvalidArgument(
                f"{MAX_SESSIONS} sessions are open on this connection", hint="close some first: session/close"
            )

    def _check_folder(self, cwd: str) -> None:
        if not self._is_within(cwd):
            raise WorkspaceNotFound(
                f"{cwd} is not in the repository that is served here, {self._root}",
                hint="start `cpl acp` in that folder, or with --repo",
            )

    def _is_within(self, cwd: str) -> bool:
        return Path(os.path.realpath(cwd)).is_relative_to(self._root)

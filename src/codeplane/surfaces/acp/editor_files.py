"""Files that a prompt links to, as the client's editor has them: what is not saved yet goes along with the prompt."""

import asyncio
from collections.abc import Iterable, Mapping
from pathlib import Path

import xxhash

from codeplane.kernel.errors import CodePlaneError
from codeplane.kernel.redaction import MARK
from codeplane.surfaces.acp.door import AcpDoor
from codeplane.surfaces.acp.prompt import fenced, linked_file
from codeplane.surfaces.acp.requests import Block
from codeplane.surfaces.json_rpc.message import RpcError
from codeplane.surfaces.json_rpc.peer import ConnectionGone, Peer

_MAX_FILES = 16
_MAX_BYTES = 32_768
# An editor has its text at hand; one that does not answer keeps no prompt waiting.
_WAIT_SEC = 3.0


class EditorFiles:
    """Reads linked files through `fs/read_text_file` of a client that offers it."""

    def __init__(self, door: AcpDoor, peer: Peer, *, root: Path) -> None:
        self._door = door
        self._peer = peer
        self._root = root

    async def unsaved(self, session_id: str, blocks: Iterable[Block]) -> Mapping[str, str]:
        """Return notes, by path, on linked files whose text in the editor differs from the disk."""
        linked = [file for block in blocks if (file := linked_file(block, self._root)) is not None]
        paths = list(dict.fromkeys(linked))[:_MAX_FILES]
        texts = await asyncio.gather(*(self._differing(session_id, path) for path in paths))
        notes: dict[str, str] = {}
        left = _MAX_BYTES
        for path, text in zip(paths, texts, strict=True):
            if text is None:
                continue
            size = len(text.encode("utf-8", "replace"))
            if not text or size > left:
                notes[path] = f"{path} is not saved in the editor; its text there, {size} bytes, is not shown."
                continue
            left -= size
            # One truth about the repository: what is not on disk is never taken for it.
            notes[path] = fenced(f"{path} as the editor has it, not saved; tools read what is on disk", text)
        return notes

    async def _differing(self, session_id: str, path: str) -> str | None:
        """The editor's text of a file that the caller may read, where it differs from what is on disk."""
        try:
            # A caller that may not read all of the file does not get it from the editor either.
            found = (await self._door.call("read_files", {"paths": [path], "include_metadata": True}))["files"]
        except CodePlaneError:
            return None
        file = found[0] if isinstance(found, list) and found else None
        if not isinstance(file, dict) or not isinstance(metadata := file.get("metadata"), dict) or file.get("error"):
            return None
        if file.get("is_link") or MARK in str(file["content"]):
            return None
        try:
            async with asyncio.timeout(_WAIT_SEC):
                answer = await self._peer.request(
                    "fs/read_text_file", {"sessionId": session_id, "path": str(self._root / path)}
                )
        except (RpcError, ConnectionGone, TimeoutError):
            return None
        text = answer.get("content") if isinstance(answer, dict) else None
        if not isinstance(text, str) or "\0" in text:
            return None
        # As the hash of a file: editors give every line the same end.
        plain = text.encode("utf-8", "surrogatepass").replace(b"\r\n", b"\n")
        return None if metadata.get("hash") == xxhash.xxh3_128_hexdigest(plain) else text

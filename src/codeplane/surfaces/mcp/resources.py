"""The ledger and the documentation as MCP resources."""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol
from urllib.parse import quote, unquote

import mcp_types as types

from codeplane.kernel.actor import Caller
from codeplane.kernel.conveyor import Conveyor
from codeplane.kernel.errors import NotFound
from codeplane.kernel.json import JsonObject
from codeplane.kernel.operation import Result

_DOCS = "codeplane://docs/"
_STREAM = "codeplane://ledger/streams/"
_RECENT = "codeplane://ledger/recent"
_TASKS = "codeplane://ledger/tasks"
_EVENTS = 100

Content = types.TextResourceContents | types.BlobResourceContents


class ResourceSource(Protocol):
    """A source of resources."""

    def list_resources(self) -> list[types.Resource]:
        """Return the resources with a fixed URI."""
        ...

    def templates(self) -> list[types.ResourceTemplate]:
        """Return the URI templates."""
        ...

    async def read(self, uri: str, caller: Caller) -> Content | None:
        """Return the content at a URI; None if it is not of this source."""
        ...


class Resources:
    """The resources of all sources."""

    def __init__(self, sources: Sequence[ResourceSource]) -> None:
        self._sources = sources

    def list_resources(self) -> list[types.Resource]:
        """Return the resources with a fixed URI."""
        return [resource for source in self._sources for resource in source.list_resources()]

    def templates(self) -> list[types.ResourceTemplate]:
        """Return the URI templates."""
        return [template for source in self._sources for template in source.templates()]

    async def read(self, uri: str, caller: Caller) -> types.ReadResourceResult:
        """Return the content at a URI; NotFound when no source has it."""
        for source in self._sources:
            content = await source.read(uri, caller)
            if content is not None:
                return types.ReadResourceResult(contents=[content])
        raise NotFound(f"there is no resource {uri}")


class LedgerResources:
    """The log and its tasks, read through operations."""

    def __init__(self, conveyor: Conveyor) -> None:
        self._conveyor = conveyor

    def list_resources(self) -> list[types.Resource]:
        """Return the latest events and the tasks."""
        return [
            types.Resource(name="ledger", uri=_RECENT, description="the latest events", mime_type="text/plain"),
            types.Resource(name="tasks", uri=_TASKS, description="tasks, newest first", mime_type="text/plain"),
        ]

    def templates(self) -> list[types.ResourceTemplate]:
        """Return the template of a stream of the log."""
        return [
            types.ResourceTemplate(
                name="ledger stream",
                uri_template=_STREAM + "{stream}",
                description="events of one stream, such as task/task_…",
                mime_type="text/plain",
            )
        ]

    async def read(self, uri: str, caller: Caller) -> Content | None:
        """Return the text of the operation behind a URI."""
        if uri == _TASKS:
            result = await self._ask("task.list", {"limit": _EVENTS}, caller)
        elif uri == _RECENT:
            result = await self._ask("ledger.events", {"newest": True, "limit": _EVENTS}, caller)
        elif stream := _name_in_uri(uri, _STREAM):
            result = await self._ask("ledger.events", {"newest": True, "limit": _EVENTS, "stream": stream}, caller)
            # A stream is there from its first event on; "nothing happened" would be an answer about one that exists.
            if not getattr(result, "results", None):
                return None
        else:
            return None
        return types.TextResourceContents(uri=uri, text=result.text(), mime_type="text/plain")

    async def _ask(self, operation: str, arguments: JsonObject, caller: Caller) -> Result:
        outcome = await self._conveyor.call(operation, arguments, caller)
        if outcome.error is not None:
            raise outcome.error
        assert outcome.result is not None
        return outcome.result


class DocResources:
    """The documentation that is installed with CodePlane."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def list_resources(self) -> list[types.Resource]:
        """Return every page."""
        return [
            types.Resource(name=name, uri=_DOCS + quote(name), description=_title(path), mime_type="text/markdown")
            for name, path in self._pages().items()
        ]

    def templates(self) -> list[types.ResourceTemplate]:
        """Return none, because every page is listed."""
        return []

    async def read(self, uri: str, caller: Caller) -> Content | None:
        """Return a page's Markdown."""
        page = self._pages().get(_name_in_uri(uri, _DOCS) or "")
        if page is None:
            return None
        return types.TextResourceContents(uri=uri, text=page.read_text(encoding="utf-8"), mime_type="text/markdown")

    def _pages(self) -> dict[str, Path]:
        # Read through this table alone, an address cannot reach a file that is no page.
        pages = sorted(self._folder.rglob("*.md"))
        return {path.relative_to(self._folder).with_suffix("").as_posix(): path for path in pages}


def _name_in_uri(uri: str, prefix: str) -> str | None:
    """Return the unquoted name after a URI's prefix; None for other URIs."""
    if not uri.startswith(prefix):
        return None
    try:
        return unquote(uri.removeprefix(prefix), errors="strict")
    except UnicodeDecodeError:
        return None


def _title(path: Path) -> str:
    with path.open(encoding="utf-8") as lines:
        return next((line.lstrip("# ").strip() for line in lines if line.startswith("#")), path.stem)

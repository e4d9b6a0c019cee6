"""Signing in to an MCP server in a browser, with a page of this machine to come back to."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

from codeplane.adapters.oauth import REDIRECT_PATH, SignIn
from codeplane.kernel.errors import ToolSignInNeeded

if TYPE_CHECKING:
    from mcp.client.auth import AuthorizationCodeResult

_WAIT_SEC = 600.0
_MAX_LINE = 16_384
_PAGE = "You can close this page and go back to the terminal."


@asynccontextmanager
async def listen_for_sign_in(show: Callable[[str], None], *, port: int = 0) -> AsyncIterator[SignIn]:
    """A page of this machine that the sign-in comes back to; `show` is given the address to open."""
    came_back: asyncio.Future[dict[str, str]] = asyncio.get_running_loop().create_future()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(10):
                request = (await reader.readline()).decode("latin-1").split(" ")
            target = urlsplit(request[1]) if len(request) > 1 else urlsplit("")
            is_ours = target.path == REDIRECT_PATH
            if is_ours and not came_back.done():
                came_back.set_result({name: values[0] for name, values in parse_qs(target.query).items()})
            body = (_PAGE if is_ours else "There is nothing here.").encode()
            status = "200 OK" if is_ours else "404 Not Found"
            head = f"HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {len(body)}\r\nConnection: close"
            writer.write(f"{head}\r\n\r\n".encode() + body)
            await writer.drain()
        except (TimeoutError, ValueError, ConnectionError):
            pass
        finally:
            writer.close()

    async def wait() -> "AuthorizationCodeResult":
        from mcp.client.auth import AuthorizationCodeResult

        async with asyncio.timeout(_WAIT_SEC):
            values = await came_back
        if "code" not in values:
            reason = values.get("error_description") or values.get("error") or "no code came back"
            raise ToolSignInNeeded(f"the sign-in was refused: {reason[:300]}")
        return AuthorizationCodeResult(code=values["code"], state=values.get("state"), iss=values.get("iss"))

    async def show_address(url: str) -> None:
        show(url)

    server = await asyncio.start_server(answer, "127.0.0.1", port, limit=_MAX_LINE)
    async with server:
        here = server.sockets[0].getsockname()[1]
        yield SignIn(redirect_uri=f"http://127.0.0.1:{here}{REDIRECT_PATH}", show=show_address, wait=wait)

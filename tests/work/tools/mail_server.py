"""A stub of Gmail and Calendar as an MCP server over HTTP, with an OAuth server of its own.

`user` tokens come from a sign-in in a browser, `bot` tokens from client credentials; what is sent is kept with the
account that sent it.
"""

import base64
import hashlib
import json
import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

BOT_ID, BOT_SECRET = "bot-client", "s3cr3t-of-the-bot-0123456789"
ACCOUNTS = {"user": "ada@example.com", "bot": "bot@example.com"}
TEXT = {"type": "string"}


def tool(name: str, fields: list[str], description: str, **hints: bool) -> dict[str, Any]:
    schema = {"type": "object", "properties": dict.fromkeys(fields, TEXT), "required": fields}
    return {"name": name, "description": description, "inputSchema": schema, "annotations": hints}


TOOLS = [
    tool("gmail_search", ["query"], "Search mail.", readOnlyHint=True),
    tool("gmail_send", ["to", "body"], "Send a mail.", readOnlyHint=False, destructiveHint=False),
    tool("calendar_list", ["day"], "List events.", readOnlyHint=True),
    tool("calendar_create", ["day", "title"], "Create an event.", readOnlyHint=False, destructiveHint=False),
]


class MailServer(ThreadingHTTPServer):
    """State of the stub; tests turn its knobs."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        # Tokens by what they are, with the account; codes with their challenge.
        self.access: dict[str, str] = {}
        self.refresh: dict[str, str] = {}
        self.codes: dict[str, str] = {}
        self.expires_in = 3600
        self.refreshes = 0
        self.sent: list[tuple[str, str, dict[str, str]]] = []
        self.secrets_seen: list[str] = []
        self.metadata: dict[str, Any] = {}
        self.body_bytes = 0
        self.encoding = ""

    def metadata_document(self) -> dict[str, Any]:
        return {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "registration_endpoint": f"{self.url}/register",
            "response_types_supported": ["code"],
            "grant_types_supported": ["authorization_code", "refresh_token", "client_credentials"],
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["none", "client_secret_basic", "client_secret_post"],
            **self.metadata,
        }

    def issue(self, account: str) -> dict[str, Any]:
        token, refresh = secrets.token_urlsafe(24), secrets.token_urlsafe(24)
        self.access[token], self.refresh[refresh] = account, account
        return {"access_token": token, "token_type": "Bearer", "expires_in": self.expires_in, "refresh_token": refresh}


class _Handler(BaseHTTPRequestHandler):
    server: MailServer
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:
        return

    def do_GET(self) -> None:
        path, query = urlsplit(self.path).path, parse_qs(urlsplit(self.path).query)
        if path.startswith("/.well-known/oauth-protected-resource"):
            self._json(200, {"resource": f"{self.server.url}/mcp", "authorization_servers": [self.server.url]})
        elif path.startswith("/.well-known/oauth-authorization-server"):
            self._json(200, self.server.metadata_document())
        elif path == "/authorize":
            code = secrets.token_urlsafe(12)
            self.server.codes[code] = query["code_challenge"][0]
            back = urlencode({"code": code, "state": query["state"][0], "iss": self.server.url})
            self.send_response(302)
            self.send_header("Location", f"{query['redirect_uri'][0]}?{back}")
            self.send_header("Content-Length", "0")
            self.end_headers()
        else:
            self._json(405 if path == "/mcp" else 404, {})

    def do_DELETE(self) -> None:
        self._json(200, {})

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        if self.path == "/register":
            given = json.loads(body)
            self._json(201, {**given, "client_id": "registered", "token_endpoint_auth_method": "none"})
        elif self.path == "/token":
            self._token({name: values[0] for name, values in parse_qs(body.decode()).items()})
        elif self.path == "/mcp":
            self._mcp(json.loads(body))
        else:
            self._json(404, {})

    def _token(self, form: dict[str, str]) -> None:
        server = self.server
        if form["grant_type"] == "authorization_code":
            hashed = hashlib.sha256(form["code_verifier"].encode()).digest()
            challenge = base64.urlsafe_b64encode(hashed).decode().rstrip("=")
            if server.codes.pop(form["code"], None) == challenge:
                return self._json(200, server.issue("user"))
        if form["grant_type"] == "refresh_token" and form["refresh_token"] in server.refresh:
            server.refreshes += 1
            return self._json(200, server.issue(server.refresh.pop(form["refresh_token"])))
        if form["grant_type"] == "client_credentials":
            given = base64.b64decode(self.headers["Authorization"].removeprefix("Basic ")).decode()
            server.secrets_seen.append(given)
            if given == f"{BOT_ID}:{BOT_SECRET}":
                return self._json(200, server.issue("bot"))
        self._json(400, {"error": "invalid_grant"})

    def _mcp(self, message: dict[str, Any]) -> None:
        account = self.server.access.get(self.headers.get("Authorization", "").removeprefix("Bearer "))
        if account is None:
            self.send_response(401)
            where = f"{self.server.url}/.well-known/oauth-protected-resource"
            self.send_header("WWW-Authenticate", f'Bearer resource_metadata="{where}"')
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        if "id" not in message:
            return self._json(202, None)
        method = message["method"]
        if method == "initialize":
            result: Any = {
                "protocolVersion": "2025-11-25",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "mail", "version": "1"},
            }
        elif method == "tools/list":
            result = {"tools": TOOLS}
        elif method == "tools/call":
            name, arguments = message["params"]["name"], message["params"]["arguments"]
            self.server.sent.append((ACCOUNTS[account], name, arguments))
            said = f"{name} as {ACCOUNTS[account]}" + "z" * self.server.body_bytes
            result = {"content": [{"type": "text", "text": said}]}
        else:
            error = {"code": -32601, "message": "no such method"}
            return self._json(200, {"jsonrpc": "2.0", "id": message["id"], "error": error})
        self._json(200, {"jsonrpc": "2.0", "id": message["id"], "result": result})

    def _json(self, status: int, value: Any) -> None:
        data = b"" if value is None else json.dumps(value).encode()
        self.send_response(status)
        if data:
            self.send_header("Content-Type", "application/json")
        if self.server.encoding and self.path == "/mcp":
            self.send_header("Content-Encoding", self.server.encoding)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


@contextmanager
def mail_server() -> Iterator[MailServer]:
    """The stub on a port of its own."""
    with MailServer() as server:
        thread = threading.Thread(target=server.serve_forever, name="mail", daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()

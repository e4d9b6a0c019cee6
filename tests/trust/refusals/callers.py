"""Who calls: which token is shown and how, and over which ways such a caller can exist. Data, and nothing else."""

from collections.abc import Mapping
from dataclasses import dataclass

WIRES = frozenset({"connect-json", "connect-binary", "grpc-web", "grpc"})
WEB = frozenset({"mcp-http-modern", "mcp-http-legacy", "connect-json", "connect-binary", "grpc-web"})
MCP = frozenset({"mcp-http-modern", "mcp-http-legacy"})
EMBEDDED = frozenset({"embedded"})
ALL = WIRES | MCP | EMBEDDED


@dataclass(frozen=True, kw_only=True)
class Who:
    """A caller: which token it shows and how, and over which ways it can exist."""

    ways: frozenset[str]
    token: str | None = None
    surface: str = "connect"
    client: str = "tester"
    # Each as a header is written; `{token}` is the token.
    authorization: tuple[str, ...] = ("Bearer {token}",)
    headers: tuple[tuple[str, str], ...] = ()
    query: str = ""


def _holder(name: str) -> Who:
    return Who(ways=ALL, token=name)


_ISSUED = [
    "reader",
    "spawner",
    "writer",
    "tooler",
    "sheller",
    "whole",
    "trusted",
    "careful",
    "pathed",
    "pathless",
    "tooled",
    "toolless",
    "granted",
    "ungranted",
    "session",
    "eager",
    "unread",
]
FALSE = {
    "revoked": "UNAUTHORIZED",
    "parted_session": "UNAUTHORIZED",
    "expired": "TOKEN_EXPIRED",
    "expired_session": "TOKEN_EXPIRED",
    "revoked_device": "UNAUTHORIZED",
    "expired_device": "TOKEN_EXPIRED",
    "truncated": "UNAUTHORIZED",
    "headless": "UNAUTHORIZED",
    "unsigned": "UNAUTHORIZED",
    "alg_none": "UNAUTHORIZED",
    "alg_None": "UNAUTHORIZED",
    "hs256_pem": "UNAUTHORIZED",
    "hs256_raw": "UNAUTHORIZED",
    "forged": "UNAUTHORIZED",
    "foreign_key": "UNAUTHORIZED",
    "keyless": "UNAUTHORIZED",
    "retold": "UNAUTHORIZED",
    "wrong_audience": "UNAUTHORIZED",
    "two_audiences": "UNAUTHORIZED",
    "wrong_issuer": "UNAUTHORIZED",
    "never_issued": "UNAUTHORIZED",
    "another_agent": "UNAUTHORIZED",
    "from_the_future": "UNAUTHORIZED",
    "without_end": "UNAUTHORIZED",
    "long_ago": "TOKEN_EXPIRED",
    "odd_claim": "UNAUTHORIZED",
    "odd_capability": "UNAUTHORIZED",
    "oversized": "UNAUTHORIZED",
    "respelt": "UNAUTHORIZED",
    "garbage": "UNAUTHORIZED",
    "device_cut": "UNAUTHORIZED",
    "device_longer": "UNAUTHORIZED",
    "device_made_up": "UNAUTHORIZED",
    "owner_cut": "UNAUTHORIZED",
    "owner_longer": "UNAUTHORIZED",
    "owner_in_capitals": "UNAUTHORIZED",
}
WHO: Mapping[str, Who] = {
    "owner": Who(ways=WIRES | EMBEDDED | {"cli"}, token="owner"),
    "nobody": Who(ways=WIRES | EMBEDDED, authorization=()),
    "device": Who(ways=WIRES | EMBEDDED, token="device"),
    "new_device": Who(ways=WIRES | EMBEDDED, token="$new_device"),
    "replaced_device": Who(ways=WIRES | EMBEDDED, token="$replaced_device"),
    "agent": Who(ways=MCP | EMBEDDED | {"mcp-stdio"}, surface="mcp", authorization=()),
    "tokenless": Who(ways=MCP | EMBEDDED, surface="mcp", authorization=()),
    "namesake": Who(ways=MCP | EMBEDDED, surface="mcp", client="agent_granted", authorization=()),
    "posing_owner": Who(ways=MCP | EMBEDDED, surface="mcp", client="owner", authorization=()),
    "owner_as_agent": Who(ways=MCP | EMBEDDED, token="owner", surface="mcp"),
    "device_as_agent": Who(ways=MCP | EMBEDDED, token="device", surface="mcp"),
    **{name: _holder(name) for name in (*_ISSUED, *FALSE)},
    # gRPC itself takes no metadata of that size.
    "oversized": Who(ways=ALL - {"grpc"}, token="oversized"),
    # What only a wire can carry.
    "two_headers": Who(ways=WIRES | MCP, token="owner", authorization=("Bearer {token}", "Bearer {token}")),
    "good_and_bad": Who(ways=WIRES | MCP, token="owner", authorization=("Bearer {token}", "Bearer other")),
    "bad_and_good": Who(ways=WIRES | MCP, token="owner", authorization=("Basic b3duZXI6", "Bearer {token}")),
    "two_in_one": Who(ways=WIRES | MCP, token="owner", authorization=("Bearer {token}, Bearer other",)),
    "two_words": Who(ways=WIRES | MCP, token="owner", authorization=("Bearer {token} {token}",)),
    "basic": Who(ways=WIRES | MCP, token="owner", authorization=("Basic {token}",)),
    "bare": Who(ways=WIRES | MCP, token="owner", authorization=("{token}",)),
    "blank": Who(ways=WIRES, authorization=("",)),
    "in_the_url": Who(
        ways=frozenset({"connect-json"}), token="owner", authorization=(), query="?token={token}&authorization={token}"
    ),
    "page": Who(ways=WEB, token="owner", headers=(("origin", "https://evil.example"),)),
    "null_page": Who(ways=WEB, token="owner", headers=(("origin", "null"),)),
    "near_page": Who(ways=WEB, token="owner", headers=(("origin", "http://localhost.evil.example"),)),
    "neighbour_page": Who(ways=WEB, token="owner", headers=(("origin", "http://127.0.0.1:1"),)),
    "rebound": Who(ways=WEB, token="owner", headers=(("host", "evil.example"),)),
    "rebound_user": Who(ways=WEB, token="owner", headers=(("host", "127.0.0.1@evil.example"),)),
    "own_page": Who(ways=WEB, token="whole", headers=(("origin", "$own_origin"),)),
}
# Ways that share all but their outermost layer with another one: some rows, and each caller with each error once.
SAMPLED = frozenset({"connect-binary", "grpc-web", "grpc", "mcp-http-legacy"})
STREAMS = frozenset({"witness.ticks", "work.watch", "ledger.follow"})
STREAMING = frozenset({"connect-json", "grpc", "embedded"})
# Refused before there is a call, so that the ledger has none.
BEFORE_THE_DOOR = frozenset(
    {"two_headers", "good_and_bad", "bad_and_good", "two_in_one", "two_words"}
    | {name for name in WHO if name.endswith("page") or name.startswith("rebound")}
)

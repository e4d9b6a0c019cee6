"""Who calls: a repository on which every kind of caller was let in, and some sent away, before it is served."""

import asyncio
import base64
import hashlib
import hmac
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from codeplane.kernel.actor import Caller
from codeplane.kernel.clock import SECOND_NS
from codeplane.kernel.json import JsonObject
from codeplane.kernel.workspace import Workspace
from codeplane.wiring.app import Plane, load_workspace_config, prepare_home
from tests.harness import git, make_repo
from tests.kernel.plane import running_here
from tests.trust.refusals.witness import WitnessOperations

DAYS = 40
FILES = {
    "README.md": "# shop\n",
    "src/app.py": "def greet(name: str) -> str:\n    return name\n",
    "src/inner/deep.py": "from src.app import greet\n\nprint(greet('x'))\n",
    "docs/guide.md": "greet\n",
    "release/notes.md": "1.0\n",
    "tests/test_app.py": "def test_nothing() -> None:\n    assert True\n",
}
# What no caller is shown, though somebody brought rules that say so.
SECRETS = {
    ".cplignore": "!.env\n!*\n",
    ".env": "DB_PASSWORD=hunter2-correct-horse\n",
    "src/.ENV.local": "TOKEN=tok4prod9876\n",
    "src/server.key": "0123456789abcdef\n",
    ".env.d/values": "x\n",
}
# Links that lead where their names do not say.
LINKS = {
    "src/to_docs": "../docs",
    "src/to_release": "../release",
    "src/to_git": "../.git",
    "src/to_own": "../.codeplane",
    "src/to_etc": "/etc",
    "src/to_above": "../..",
    "src/to_empty": "../.codeplane/empty",
}
EIGHT = (
    "read_files",
    "write_files",
    "execute_tools",
    "execute_shell",
    "spawn_agents",
    "p2p_mesh",
    "context_sharing",
    "streaming_tasks",
)
TOKENS: Mapping[str, JsonObject] = {
    "reader": {"capabilities": ["read_files"]},
    "spawner": {"capabilities": ["read_files", "spawn_agents"]},
    "writer": {"capabilities": ["read_files", "write_files"]},
    "tooler": {"capabilities": ["read_files", "write_files", "execute_tools"]},
    "sheller": {"capabilities": ["read_files", "execute_shell"]},
    "whole": {"capabilities": list(EIGHT)},
    "trusted": {"capabilities": list(EIGHT)},
    "careful": {"capabilities": list(EIGHT), "approval_mode": "always"},
    "pathed": {"capabilities": list(EIGHT), "allowed_paths": ["src/**"]},
    "pathless": {"capabilities": list(EIGHT), "allowed_paths": []},
    "tooled": {"capabilities": list(EIGHT), "allowed_tools": ["witness.read", "git.*"]},
    "toolless": {"capabilities": list(EIGHT), "allowed_tools": []},
    "granted": {"capabilities": ["read_files"]},
    "ungranted": {"capabilities": ["read_files"]},
    # Asked about nothing but shell commands, in a world that lets it.
    "eager": {"capabilities": list(EIGHT), "approval_mode": "automatic"},
    "unread": {"capabilities": list(EIGHT), "approval_mode": "automatic"},
    "revoked": {"capabilities": list(EIGHT)},
    "parted": {"capabilities": list(EIGHT)},
}


class WoundClock:
    """A clock that begins in the past and is wound to the present once."""

    def __init__(self) -> None:
        self._behind_ns = DAYS * 86_400 * SECOND_NS

    def now_ns(self) -> int:
        return time.time_ns() - self._behind_ns

    def monotonic_ns(self) -> int:
        return time.monotonic_ns() + DAYS * 86_400 * SECOND_NS - self._behind_ns

    def wind(self) -> None:
        """From now on it is now."""
        self._behind_ns = 0


@dataclass(frozen=True, kw_only=True)
class Cast:
    """Tokens by who holds them, and what the table names by `$`."""

    root: Path
    tokens: Mapping[str, str]
    facts: Mapping[str, str]


def cast(folder: Path) -> Cast:
    """Make the repository and everyone who calls."""
    root = make_repo(folder / "shop", FILES)
    for name, leads_to in LINKS.items():
        (root / name).symlink_to(leads_to)
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "links")
    _plant(root)
    git(folder, "clone", "--quiet", "--bare", str(root), str(folder / "origin.git"))
    git(root, "remote", "add", "origin", str(folder / "origin.git"))
    git(root, "fetch", "--quiet", "origin")
    for path, text in SECRETS.items():
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_text(text)
    return asyncio.run(_made(root))


def _plant(root: Path) -> None:
    """Make the branch `planted`, which tracks a file in `.codeplane`, and `ordinary`, which tracks another.

    `doubtful` is the first as a branch, and what is checked out as a tag.
    """
    blob = git(root, "rev-parse", "HEAD:README.md").strip()
    for branch, path in (("planted", ".codeplane/config.yaml"), ("ordinary", "docs/plain.md")):
        git(root, "update-index", "--add", "--cacheinfo", f"100644,{blob},{path}")
        tree = git(root, "write-tree").strip()
        git(root, "branch", branch, git(root, "commit-tree", tree, "-p", "HEAD", "-m", branch).strip())
        git(root, "reset", "--quiet")
    git(root, "branch", "doubtful", "planted")
    git(root, "tag", "doubtful", "HEAD")


async def _made(root: Path) -> Cast:
    workspace, clock = Workspace(root=root.resolve()), WoundClock()
    prepare_home(workspace)
    (workspace.home / "empty").mkdir()
    loaded = load_workspace_config(workspace, ["approvals.wait_sec=0", "logging.outputs=[]"], {})
    async with running_here(workspace, loaded=loaded, operations=[WitnessOperations()], clock=clock) as plane:
        desk = _Desk(plane)
        tokens, facts = await _before(desk)
        clock.wind()
        await _now(desk, tokens, facts)
        _falsified(plane, tokens)
        tokens["owner"] = plane.token
    return Cast(root=root, tokens=tokens, facts=facts)


class _Desk:
    """Where the owner lets people in."""

    def __init__(self, plane: Plane) -> None:
        self._plane = plane

    async def asked(self, operation: str, token: str | None = None, /, **arguments: object) -> JsonObject:
        """The envelope of a call by the owner, or by whoever holds the token."""
        caller = Caller(surface="connect", client="cast", token=token or self._plane.token)
        outcome = await self._plane.conveyor.call(operation, arguments, caller)  # type: ignore[arg-type]  # JSON
        envelope: JsonObject = json.loads(outcome.to_json())
        return envelope

    async def done(self, operation: str, token: str | None = None, /, **arguments: object) -> SimpleNamespace:
        """The result of a call that has to succeed."""
        envelope = await self.asked(operation, token, **arguments)
        assert "error" not in envelope, envelope
        return SimpleNamespace(**envelope["result"])  # type: ignore[arg-type]  # an object, since it succeeded

    async def paired(self, name: str) -> SimpleNamespace:
        """A new device."""
        code = (await self.done("pairing.create")).code
        return await self.done("pairing.bind", code=code, device_name=name)


async def _before(desk: _Desk) -> tuple[dict[str, str], dict[str, str]]:
    """What was let in so long ago that its time is over."""
    tokens = {
        "expired_device": (await desk.paired("old")).token,
        "expired": (await desk.done("agent.token", agent="expired", capabilities=list(EIGHT))).token,
    }
    tokens["expired_session"] = (await desk.done("agent.session", tokens["expired"])).token
    await desk.done("capability.grant", agent="ungranted", capabilities=["spawn_agents"], duration_sec=60)
    # By the agent that will ask for it again, whose own token is issued again.
    asker = (await desk.done("agent.token", agent="whole", capabilities=list(EIGHT))).token
    asked = await desk.asked("witness.destroy", asker, name="old")
    details = asked["error"]["details"]  # type: ignore[index,call-overload]  # it waits for a person
    return tokens, {"expired_action": str(details["action_id"]), "expired_key": str(details["idempotency_key"])}  # type: ignore[index,call-overload]  # an object


async def _now(desk: _Desk, tokens: dict[str, str], facts: dict[str, str]) -> None:
    for name, arguments in TOKENS.items():
        made = await desk.done("agent.token", agent=name, **arguments)
        tokens[name] = made.token
        facts[f"token_of_{name}"] = made.token_id
    for device in ("device", "revoked_device"):
        made = await desk.paired(device)
        tokens[device] = made.token
        facts[device] = made.device_id
    await desk.done("device.revoke", device_id=facts["revoked_device"])
    tokens["session"] = (await desk.done("agent.session", tokens["writer"])).token
    tokens["parted_session"] = (await desk.done("agent.session", tokens["parted"])).token
    for name in ("revoked", "parted"):
        await desk.done("agent.revoke", agent=name)
    bounds = {"allowed_paths": ["src/**"], "allowed_tools": ["witness.touch", "write_files"]}
    await desk.done("capability.grant", agent="granted", capabilities=["write_files"], **bounds)
    await desk.done("capability.grant", agent="granted", capabilities=["spawn_agents"])
    gone = await desk.done("capability.grant", agent="ungranted", capabilities=["write_files"])
    await desk.done("capability.revoke", grant_id=gone.grant_id)
    facts["revoked_grant"] = gone.grant_id
    facts["closed_code"] = (await desk.done("pairing.create")).code


def _falsified(plane: Plane, tokens: dict[str, str]) -> None:
    """Tokens that nobody issued, each wrong in one way."""
    good, (key_id, private) = tokens["whole"], plane.trust.identity.keys.signer()
    claims = jwt.decode(good, options={"verify_signature": False})
    public = private.public_key()
    spellings = (
        public.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo),
        public.public_bytes_raw(),
    )
    header, payload, signature = good.split(".")

    def signed(changes: JsonObject, *, key: Ed25519PrivateKey = private, kid: str | None = key_id) -> str:
        whole = {name: value for name, value in {**claims, **changes}.items() if value is not None}
        return jwt.encode(whole, key, algorithm="EdDSA", headers={"kid": kid} if kid else None)

    def unsigned(algorithm: str) -> str:
        head = _encoded({"alg": algorithm, "typ": "JWT", "kid": key_id})
        return f"{head}.{payload}."

    wider = _encoded({**claims, "sub": "agent_reader"})
    tokens |= {
        "truncated": good[:-8],
        "headless": f".{payload}.{signature}",
        "unsigned": f"{header}.{payload}.",
        "alg_none": unsigned("none"),
        "alg_None": unsigned("None"),
        "hs256_pem": _hmac(claims, spellings[0], key_id),
        "hs256_raw": _hmac(claims, spellings[1], key_id),
        "forged": signed({}, key=Ed25519PrivateKey.generate()),
        "foreign_key": signed({}, key=Ed25519PrivateKey.generate(), kid="key_other"),
        "keyless": signed({}, kid=None),
        "retold": f"{header}.{wider}.{signature}",
        "wrong_audience": signed({"aud": ["elsewhere"]}),
        "two_audiences": signed({"aud": ["codeplane", "elsewhere"]}),
        "wrong_issuer": signed({"iss": "elsewhere"}),
        "never_issued": signed({"jti": "tok_00000000000000000000"}),
        "another_agent": signed({"sub": "agent_reader"}),
        "from_the_future": signed({"iat": claims["exp"] + 3600, "exp": claims["exp"] + 7200, "jti": "tok_future00"}),
        "without_end": signed({"exp": None}),
        "long_ago": signed({"exp": 1_000_000_000, "iat": 999_999_000}),
        "odd_claim": signed({"admin": True}),
        "odd_capability": signed({"capabilities": ["everything"]}),
        "oversized": f"{header}.{'x' * 9000}.{signature}",
        "respelt": good[:-1] + _sibling(good[-1]),
        "garbage": "garbage",
        "device_cut": tokens["device"][:-1],
        "device_longer": tokens["device"] + "x",
        "device_made_up": "cpd_" + "A" * 43,
        "owner_cut": plane.token[:-1],
        "owner_longer": plane.token + "x",
        "owner_in_capitals": plane.token.upper(),
    }


def _hmac(claims: JsonObject, key: bytes, key_id: str) -> str:
    """What a verifier takes for good that lets the token choose its algorithm."""
    signing = f"{_encoded({'alg': 'HS256', 'typ': 'JWT', 'kid': key_id})}.{_encoded(claims)}"
    seal = hmac.new(key, signing.encode(), hashlib.sha256).digest()
    return f"{signing}.{base64.urlsafe_b64encode(seal).rstrip(b'=').decode()}"


def _encoded(part: JsonObject) -> str:
    return base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode()


def _sibling(letter: str) -> str:
    """Another letter for the same bits: of a signature's last one only some count."""
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    return alphabet[alphabet.index(letter) ^ 1]

"""Where the table is asked: each world behind a server and in this process, with what `$` stands for there."""

import json
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace

from codeplane.client.client import Client
from codeplane.kernel.actor import Caller
from codeplane.kernel.ids import new_id
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.kernel.workspace import Workspace
from tests.harness import Server, git, start, until
from tests.trust.refusals.callers import WHO
from tests.trust.refusals.cast import Cast
from tests.trust.refusals.table import Ask
from tests.trust.refusals.ways import SERVED, Answer, Credential, Embedded, Way
from tests.trust.refusals.worlds import POLICIES, WORLDS
from tests.trust.untrusted.engine import engine

Desk = Callable[[str, JsonObject, str | None], JsonObject]
_QUIET = ("approvals.wait_sec=0", "index.watch=false")
_OWN = ("config.yaml", "owner.token", "server.key", "agent.keys", "policy")


@dataclass(frozen=True, kw_only=True)
class Seen:
    """How things stand at a moment."""

    ran: Mapping[str, int]
    files: str
    position: int


@dataclass(kw_only=True)
class Place:
    """One CodePlane, the ways into it, and what is found there."""

    world: str
    root: Path
    cast: Cast
    desk: Desk
    origin: str = ""
    ways: dict[str, Way] = field(default_factory=dict)
    _kept: dict[str, str] = field(default_factory=dict)

    def ask(self, way: str, ask: Ask, *, fresh: bool) -> Answer:
        """Make the call of a row; `fresh`: what it uses up is made for it."""
        shown = self.credential(ask.who)
        arguments = self._filled(dict(ask.arguments), fresh=fresh)
        assert isinstance(arguments, dict)
        return self.ways[way].call(shown, ask.operation, arguments)

    def prepare(self, asks: Iterator[Ask]) -> None:
        """Have everything at hand that calls name, so that nothing but the calls happens between two looks."""
        for ask in asks:
            self._filled(dict(ask.arguments), fresh=False)
            if (token := WHO[ask.who].token) is not None:
                self._token(token)

    def seen(self) -> "Seen":
        """What ran, what the files are, and how far the log has come."""
        ran = self.owner("witness.count").counts
        ledger = self.owner("status", include=["ledger"]).ledger
        return Seen(ran=ran, files=_digest(self.root), position=ledger["position"])

    def events(self, after: int) -> list[JsonObject]:
        """What the log got since."""
        found: list[JsonObject] = []
        cursor: JsonObject = {}
        while True:
            page = self.owner("ledger.events", after=after, limit=500, **cursor)
            found += page.results
            following = page.pagination.get("next_cursor")
            if not following:
                return found
            cursor = {"cursor": following}

    def owner(self, operation: str, **arguments: JsonValue) -> SimpleNamespace:
        """The result of a call by the owner that has to succeed."""
        return self.done(operation, "owner", **arguments)

    def done(self, operation: str, who: str | None, **arguments: JsonValue) -> SimpleNamespace:
        """The result of a call that has to succeed."""
        envelope = self.desk(operation, dict(arguments), None if who is None else self.cast.tokens[who])
        assert "error" not in envelope, envelope
        return SimpleNamespace(**envelope["result"])  # type: ignore[arg-type]  # an object, since it succeeded

    def close(self) -> None:
        """Leave by every way."""
        for way in self.ways.values():
            way.close()

    def fill(self, arguments: JsonObject) -> JsonObject:
        """The arguments with what `$` stands for, all of it new."""
        filled = self._filled(dict(arguments), fresh=True)
        assert isinstance(filled, dict)
        return filled

    def credential(self, name: str) -> Credential:
        """What a caller shows here."""
        found = WHO[name]
        token = ""
        if found.token is not None:
            token = self._token(found.token)
        surface = "embedded" if name == "owner" else found.surface
        return Credential(
            authorization=() if surface == "embedded" and "embedded" in self.ways else tuple(
                value.format(token=token) for value in found.authorization
            ),
            headers=tuple((key, self.origin if value == "$own_origin" else value) for key, value in found.headers),
            query=found.query.format(token=token),
            client=found.client,
            surface=surface,
        )  # fmt: skip

    def _token(self, name: str) -> str:
        if not name.startswith("$"):
            return self.cast.tokens[name]
        filled = self._filled(name, fresh=name == "$new_device")
        assert isinstance(filled, str)
        return filled

    def _filled(self, value: JsonValue, *, fresh: bool) -> JsonValue:
        if isinstance(value, dict):
            return {name: self._filled(one, fresh=fresh) for name, one in value.items()}
        if isinstance(value, list):
            return [self._filled(one, fresh=fresh) for one in value]
        if not isinstance(value, str) or "$" not in value:
            return value
        if "$unique" in value:
            return value.replace("$unique", new_id("one"))
        name = value.removeprefix("$")
        if name in self.cast.facts:
            return self.cast.facts[name]
        if fresh and name in _USED_UP:
            return self._fresh(name)
        if name not in self._kept:
            self._kept[name] = self._fresh(name)
        return self._kept[name]

    def _fresh(self, name: str) -> str:
        return _MAKING[name](self)


def _action(place: Place, operation: str = "witness.destroy", who: str = "whole", **arguments: JsonValue) -> JsonObject:
    """A question that waits, with its key."""
    envelope = place.desk(operation, {"name": "keyed", **arguments}, place.cast.tokens[who])
    assert envelope["error"]["error"] == "APPROVAL_PENDING", envelope  # type: ignore[index,call-overload]  # refused
    details: JsonObject = envelope["error"]["details"]  # type: ignore[index,call-overload,assignment]  # as it waits
    return details


def _until_status(place: Place, action_id: str, status: str) -> None:
    until(lambda: place.owner("approval.show", action_id=action_id).status == status)


def _rejected(place: Place, what: str) -> str:
    action = _action(place)
    place.owner("approval.reject", action_id=str(action["action_id"]))
    return str(action[what])


def _shifted(place: Place) -> str:
    action = _action(place, "witness.shifting")
    place.owner("approval.approve", action_id=str(action["action_id"]))
    _until_status(place, str(action["action_id"]), "REJECTED")
    return str(action["idempotency_key"])


def _executed(place: Place, what: str) -> str:
    action = _action(place, name="kept")
    place.owner("approval.approve", action_id=str(action["action_id"]))
    _until_status(place, str(action["action_id"]), "EXECUTED")
    return str(action[what])


def _answer(place: Place) -> str:
    known = place.owner("approval.trusted").items
    if not known:
        action = _action(place, "witness.send", "trusted")
        place.owner("approval.approve", action_id=str(action["action_id"]), trust=True)
        _until_status(place, str(action["action_id"]), "EXECUTED")
        known = place.owner("approval.trusted").items
    return str(known[0]["answer_id"])


def _code(place: Place) -> str:
    return str(place.owner("pairing.create").code)


def _paired(place: Place, code: str | None = None) -> SimpleNamespace:
    return place.done("pairing.bind", None, code=code or _code(place), device_name="further")


def _used(place: Place) -> str:
    code = _code(place)
    _paired(place, code)
    return code


def _burnt(place: Place) -> str:
    """A code during which ten wrong ones were tried."""
    code = _code(place)
    for _ in range(10):
        place.desk("pairing.bind", {"code": "ABCD-EFGH", "device_name": "x"}, None)
    return code


def _tried(place: Place) -> str:
    """A wrong code that was tried before."""
    place.desk("pairing.bind", {"code": "ABCD-EFGH", "device_name": "x"}, None)
    return "ABCD-EFGH"


def _replaced(place: Place) -> str:
    """A device's token after its next one was used."""
    old = str(_paired(place).token)
    newer = place.desk("device.rotate", {}, old)["result"]["token"]  # type: ignore[index,call-overload]  # succeeds
    place.desk("witness.read", {}, str(newer))
    return old


def _task_action(place: Place) -> str:
    """A question in a task of its own, so that an answer for all of it is for nothing else."""
    session = str(place.done("session.create", "tooler").session_id)
    return str(_action(place, "witness.send", "tooler", session_id=session)["action_id"])


def _written(place: Place, who: str = "whole") -> str:
    key = new_id("key")
    place.done("witness.write", who, name="kept", idempotency_key=key)
    return key


def _session(place: Place, **limits: JsonValue) -> str:
    return str(place.done("session.create", "whole", limits=dict(limits)).session_id)


def _work(place: Place) -> str:
    """Work of the owner's that waits for a person."""
    steps: JsonValue = [{"operation": "witness.send", "arguments": {"name": "work"}}]
    work_id = str(place.owner("work.start", steps=steps).work_id)
    until(lambda: place.owner("work.show", work_id=work_id).state == "WAITING")
    return work_id


def _mutation(place: Place) -> str:
    """A file that the owner wrote."""
    edit: JsonValue = {"path": f"docs/{new_id('one')}.txt", "content": "x\n"}
    return str(place.owner("write_files", edits=[edit]).delta["mutation_id"])


def _read_session(place: Place) -> SimpleNamespace:
    """A session of the owner's in which something was read."""
    made = place.owner("session.create")
    place.owner("read_files", session_id=made.session_id, paths=["README.md"])
    return made


def _agent(place: Place) -> str:
    name = new_id("a").replace("_", "-")
    place.owner("agent.token", agent=name)
    return name


def _grant(place: Place) -> str:
    return str(place.owner("capability.grant", agent="somebody", capabilities=["write_files"]).grant_id)


def _answering(place: Place) -> str:
    """A client that passes answers on."""
    name = new_id("c").replace("_", "-")
    place.owner("client.allow", name=name, secret_hash=sha256(name.encode()).hexdigest())
    return name


_MAKING: Mapping[str, Callable[[Place], str]] = {
    "action": lambda place: str(_action(place)["action_id"]),
    "pending_action": lambda place: str(_action(place)["action_id"]),
    "pending_key": lambda place: str(_action(place)["idempotency_key"]),
    "settled_action": lambda place: _rejected(place, "action_id"),
    "rejected_key": lambda place: _rejected(place, "idempotency_key"),
    "executed_action": lambda place: _executed(place, "action_id"),
    "done": lambda place: _executed(place, "idempotency_key"),
    "shifted_key": _shifted,
    "whole_key": _written,
    "owner_key": lambda place: _written(place, "owner"),
    "device_key": lambda place: _written(place, "device"),
    "answer": _answer,
    "task_action": _task_action,
    "tried_code": _tried,
    "replaced_device": _replaced,
    "code": _code,
    "used_code": _used,
    "burnt_code": _burnt,
    "device_id": lambda place: str(_paired(place).device_id),
    "new_device": lambda place: str(_paired(place).token),
    "session": lambda place: _session(place),
    "closed_session": lambda place: _session(place),
    "owner_session": lambda place: str(_read_session(place).session_id),
    "owner_task": lambda place: str(_read_session(place).task["task_id"]),
    "owner_mutation": _mutation,
    "work": _work,
    "spent_session": lambda place: _session(place, max_mutations=0),
    "agent": _agent,
    "grant": _grant,
    "client": _answering,
}
_USED_UP = frozenset({"action", "new_device", "task_action", "answer", "code", "device_id", "agent", "grant", "client"}
                     | {"closed_session", "owner_mutation", "work"})  # fmt: skip


def _digest(root: Path) -> str:
    """All files, git's own and those of ours that decide."""
    found = sha256()
    own = Workspace(root=root).home
    ours = [path for name in _OWN for path in ((own / name), *sorted((own / name).rglob("*")))]
    files = [path for path in sorted(root.rglob("*")) if own not in (path, *path.parents)]
    for path in (*files, *ours):
        found.update(f"\0{path.relative_to(root)}\0".encode())
        if path.is_symlink():
            found.update(str(path.readlink()).encode())
        elif path.is_file():
            found.update(path.read_bytes())
    return found.hexdigest()


def _copy(cast: Cast, folder: Path, world: str) -> Path:
    root = folder / world
    shutil.copytree(cast.root, root, symlinks=True)
    shutil.copytree(cast.root.parent / "origin.git", folder / f"{world}.git")
    git(root, "remote", "set-url", "origin", str(folder / f"{world}.git"))
    if (text := POLICIES.get(world)) is not None:
        policy = Workspace(root=root).policy
        policy.mkdir(exist_ok=True)
        (policy / "own.rego").write_text(text)
    return root


@contextmanager
def served(cast: Cast, folder: Path, world: str) -> Iterator[Place]:
    """A world behind a server."""
    root = _copy(cast, folder, world)
    program = (sys.executable, "-m", "tests.trust.refusals.served")
    with engine() as search:
        server = start(root, program=program, overrides=[*_QUIET, search, *WORLDS[world]])
        place = Place(world=world, root=root, cast=cast, desk=_client(server), origin=server.url)
        try:
            place.ways |= {found.name: found for found in (made(server) for made in SERVED)}
            _read(place, "mcp-http-modern")
            yield place
        finally:
            place.close()
            server.stop()


def _read(place: Place, way: str) -> None:
    """Have agents read what others wrote, in the world in which they have; over MCP, as most do."""
    if place.world != "untrusted":
        return
    for who in ("device_as_agent", "eager", "agent"):
        # An agent with a token marks those without as well, so that the last of them is asked about its search.
        answer = place.ask(way, Ask(who=who, operation="web.search", arguments={"query": "x"}), fresh=False)
        assert answer.error == ("APPROVAL_PENDING" if who == "agent" else None), answer


def _client(server: Server) -> Desk:
    def desk(operation: str, arguments: JsonObject, token: str | None) -> JsonObject:
        return Client(server.host, server.port, token=token).call(operation, arguments)

    return desk


@contextmanager
def embedded(cast: Cast, folder: Path, world: str) -> Iterator[Place]:
    """A world in this process."""
    root = _copy(cast, folder, world)
    with engine() as search:
        yield from _embedded(cast, root, world, search)


def _embedded(cast: Cast, root: Path, world: str, search: str) -> Iterator[Place]:
    way = Embedded(root, [*_QUIET, search, *WORLDS[world]])

    def desk(operation: str, arguments: JsonObject, token: str | None) -> JsonObject:
        outcome = way.outcome(operation, arguments, Caller(surface="connect", client="desk", token=token))
        envelope: JsonObject = json.loads(outcome.to_json())
        return envelope

    place = Place(world=world, root=root, cast=cast, desk=desk, ways={way.name: way})
    try:
        _read(place, way.name)
        yield place
    finally:
        place.close()


def statuses(events: list[JsonObject]) -> Counter[str]:
    """How calls ended, as the log has it; some events stand for many calls."""
    found: Counter[str] = Counter()
    for event in events:
        payload = event["payload"]
        if event["type"] in ("call.finished", "call.refused") and isinstance(payload, dict):
            count = payload.get("count", 1)
            assert isinstance(count, int)
            found[str(payload["status"])] += count
    return found

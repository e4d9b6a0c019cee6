"""Policies on a folder and documents of calls, as short as tests want to write them."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from codeplane.adapters.rego import Rego
from codeplane.kernel.clock import Clock
from codeplane.kernel.config import PolicyConfig
from codeplane.kernel.event_log import EventLog
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.trust.policy.policy import Policy
from tests.kernel.plane import ManualClock

PATIENCE_SEC = 30.0
HEAD = "package codeplane.policy\n\n"


def of_call(
    risk: str = "EXFILTRATION",
    kind: str = "agent",
    name: str = "git.push",
    *,
    mode: str = "trust",
    allow: tuple[str, ...] = (),
    untrusted: bool = False,
    grant: JsonObject | None = None,
    **parts: JsonValue,
) -> JsonObject:
    """The document of a call."""
    document: JsonObject = {
        "actor": {"kind": kind, "id": f"{kind}-1", "owner": "owner"},
        "operation": {"name": name, "family": name.partition(".")[0], "capability": "", "mutates": risk != "READ"},
        "risk": risk,
        "identity": "IDENTITY_BOT",
        "effects": [],
        "paths": [],
        "remotes": [],
        "remote_names": [],
        "kinds": [],
        "resources": [],
        "arguments": {},
        "context": {
            "mode": mode,
            "allow": list(allow),
            "surface": "mcp",
            "client": "test",
            "session_id": "s",
            "task_id": "t",
            "workspace": "",
            "untrusted": untrusted,
            "grant": grant,
            "origin": None,
        },
        "cut": [],
    }
    return document | parts


def write(folder: Path, **texts: str | bytes) -> Path:
    """Put policies into a folder, by the names of their files without the ending."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / f"{name}.rego").write_bytes(text.encode() if isinstance(text, str) else text)
    return folder


@contextmanager
def policy(
    folder: Path,
    *,
    clock: Clock | None = None,
    log: EventLog | None = None,
    timeout_ms: float = 5000.0,
    mine: str | None = None,
) -> Iterator[Policy]:
    """The policy of a folder, after a text was put there; patient, since the machine may be busy."""
    place = folder / ".codeplane" / "policy"
    if mine is not None:
        write(place, mine=mine)
    opened = Policy(
        folder=place,
        engine=Rego(timeout_ms=timeout_ms, compile_sec=PATIENCE_SEC),
        config=PolicyConfig(timeout_ms=timeout_ms),
        clock=clock or ManualClock(),
        log=log,
    )
    try:
        yield opened
    finally:
        opened.close()


def own(folder: Path) -> Path:
    """Where a folder's own policies are."""
    return folder / ".codeplane" / "policy"

"""The settings and policies under which the table is asked, and those under which nothing is served."""

from collections.abc import Mapping
from dataclasses import dataclass

# On a busy machine a decision may take long, and one that takes too long is a denial of another kind.
_PATIENT = "policy.timeout_ms=10000"
# Settings and policies of the worlds; "main" is what most rows are asked in.
WORLDS: Mapping[str, tuple[str, ...]] = {
    "main": (_PATIENT, "devices.pairing_tries=1000", 'web.deny=["denied.example"]', "approvals.max_pending=5000"),
    "broken": (_PATIENT, "server.require_token=true"),
    "strict": (
        _PATIENT,
        "trust.mode=always",
        'trust.agent_capabilities=["read_files"]',
        "devices.pairing_tries=1",
        "shell.enabled=false",
        "web.enabled=false",
        "refactor.enabled=false",
        "limits.max_mutations=0",
    ),
    # Nothing asks here by mode, list and rule; but some have read what others wrote.
    "untrusted": ("trust.mode=automatic", 'trust.allow=["witness.send", "git.push", "git.fetch", "web.search"]'),
}
POLICIES: Mapping[str, str] = {
    "main": """package codeplane.policy

deny contains "nobody does this" if input.operation.name == "witness.forbidden"

deny contains "not on a Friday" if {
	input.operation.name == "witness.write"
	input.arguments.name == "friday"
}

deny contains "release is closed" if {
	input.risk != "READ"
	some path in input.paths
	startswith(path, "release/")
}

deny contains "the owner's alone" if {
	input.operation.name == "witness.owners"
	input.actor.kind != "owner"
}

deny contains "no sudo here" if {
	input.operation.name == "run_bash"
	contains(input.arguments.command, "sudo")
}

ask contains "not without me" if {
	input.operation.name == "witness.asked"
	input.actor.kind != "owner"
}

allow contains "everything else" if input.operation.name == "witness.shell"
""",
    "untrusted": 'package codeplane.policy\n\nallow contains "all is well" if input.risk != "READ"\n',
    "broken": "package codeplane.policy\n\ndeny contains reason if {\n",
}


@dataclass(frozen=True, kw_only=True)
class Start:
    """Settings with which nothing is served, and those with which it is."""

    settings: tuple[str, ...]
    passes: tuple[str, ...]


_FAR = ("server.tls=self_signed", "server.require_token=true")
STARTS: tuple[Start, ...] = tuple(
    Start(settings=(f"server.host={host}", *more), passes=(f"server.host={host}", *_FAR))
    for host in ("0.0.0.0", "192.168.1.5", '"::"', '"2001:db8::1"', '"::ffff:192.168.1.5"', "8.8.8.8")
    for more in ((), _FAR[:1], _FAR[1:])
) + tuple(
    Start(settings=(f"server.host={host}", *_FAR), passes=("server.host=localhost",))
    for host in ("example.com", "localhost.evil.example", "127.1", "0x7f000001", '"[::1]"', '""', "0177.0.0.1")
)  # fmt: skip

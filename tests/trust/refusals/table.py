"""The refusals: who, what, the name of the error, and the twin that passes the same gate. Data, and nothing else.

A text that begins with `$` stands for something of the running repository; `$unique` is another one each time.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from codeplane.kernel.json import JsonObject, JsonValue
from tests.trust.refusals.callers import FALSE
from tests.trust.refusals.spellings import ADDRESSES, BEYOND, GUARDED, LINKED


@dataclass(frozen=True, kw_only=True)
class Ask:
    """A call, in one of the worlds; `ends` is None where it has to succeed."""

    who: str
    operation: str
    arguments: JsonObject = field(default_factory=dict)
    world: str = "main"
    ends: str | None = None


@dataclass(frozen=True, kw_only=True)
class Row:
    """A refusal and its twin."""

    id: str
    ask: Ask
    twin: Ask


def _row(
    mark: str,
    who: str,
    operation: str,
    error: str,
    arguments: JsonObject | None = None,
    *,
    twin: Ask | None = None,
    by: str = "owner",
    world: str = "main",
) -> Row:
    """Without a twin of its own, the same call by another one in the ordinary world."""
    given = arguments or {}
    passes = twin or Ask(who=by, operation=operation, arguments=given)
    ask = Ask(who=who, operation=operation, arguments=given, world=world, ends=error)
    return Row(id=f"{mark}: {who} {operation}{' in ' + world if world != 'main' else ''}", ask=ask, twin=passes)


def _edit(path: str, **more: JsonValue) -> JsonObject:
    return {"edits": [{"path": path, "content": "x\n", **more}]}


def _at(path: str, operation: str) -> JsonObject:
    return _edit(path) if operation == "write_files" else {"path": path}


def _own_file(who: str, operation: str = "write_files") -> Ask:
    return Ask(who=who, operation=operation, arguments=_at("src/$unique.txt", operation))


def _unidentified() -> Iterable[Row]:
    for operation, arguments in (
        ("witness.read", {}),
        ("witness.write", {}),
        ("witness.destroy", {}),
        ("witness.shell", {}),
        ("witness.ticks", {}),
        ("status", {}),
        ("session.create", {}),
        ("ledger.events", {}),
        ("audit.list", {}),
        ("approval.list", {}),
        ("device.list", {}),
        ("policy.summary", {}),
        ("pairing.create", {}),
        ("read_files", {"paths": ["README.md"]}),
    ):
        yield _row("no token", "nobody", operation, "UNAUTHORIZED", dict(arguments))
    yield _row("no token", "nobody", "write_files", "UNAUTHORIZED", _edit("a.txt"), twin=_own_file("owner"))
    yield _row("no token", "nobody", "approval.approve", "UNAUTHORIZED", {"action_id": "$action"})
    for who, error in FALSE.items():
        by = "device" if "device" in who else "owner" if who.startswith("owner") else "whole"
        yield _row("false token", who, "witness.write", error, by=by)
    for operation in ("witness.read", "witness.write", "device.rotate"):
        by = "new_device" if operation == "device.rotate" else "device"
        yield _row("replaced token", "replaced_device", operation, "UNAUTHORIZED", by=by)
    for who in ("revoked", "expired", "forged", "alg_none", "hs256_pem", "revoked_device", "expired_device"):
        by = "device" if "device" in who else "whole"
        yield _row("false token", who, "witness.read", FALSE[who], by=by)
    for who in ("revoked", "expired", "forged", "garbage"):
        bind: JsonObject = {"code": "$code", "device_name": "phone"}
        yield _row("false token", who, "pairing.bind", FALSE[who], bind, by="nobody")
    for who in ("two_headers", "good_and_bad", "bad_and_good", "two_in_one", "two_words", "basic", "bare"):
        yield _row("headers", who, "witness.read", "UNAUTHORIZED", by="owner")
        yield _row("headers", who, "witness.write", "UNAUTHORIZED", by="whole")
    for who in ("blank", "in_the_url"):
        yield _row("headers", who, "witness.write", "UNAUTHORIZED", by="owner")
    for who in ("page", "null_page", "near_page", "neighbour_page", "rebound", "rebound_user"):
        yield _row("elsewhere", who, "witness.write", "ORIGIN_DENIED", by="own_page")
        yield _row("elsewhere", who, "witness.read", "ORIGIN_DENIED", by="own_page")


PEOPLES: tuple[tuple[str, JsonObject, str], ...] = (
    ("approval.approve", {"action_id": "$action"}, "owner"),
    ("approval.approve", {"action_id": "$task_action", "for_task": True}, "device"),
    ("approval.reject", {"action_id": "$action"}, "device"),
    ("approval.forget", {"answer_id": "$answer"}, "owner"),
    ("untrusted.clear", {}, "owner"),
    ("client.allow", {"name": "editor", "secret_hash": "0" * 64}, "owner"),
    ("client.revoke", {"name": "$client"}, "device"),
    ("pairing.create", {}, "device"),
    ("pairing.bind", {"code": "$code", "device_name": "phone"}, "nobody"),
    ("device.revoke", {"device_id": "$device_id"}, "device"),
    ("device.rotate", {}, "new_device"),
    ("agent.token", {"agent": "friend"}, "owner"),
    ("agent.revoke", {"agent": "$agent"}, "device"),
    ("agent.rotate_keys", {}, "owner"),
    ("capability.grant", {"agent": "tester", "capabilities": ["p2p_mesh"]}, "owner"),
    ("notification.list", {}, "device"),
    ("work.resume", {"work_id": "$work"}, "device"),
    ("notification.read", {"all": True}, "owner"),
)


def _for_people() -> Iterable[Row]:
    for who in ("agent", "posing_owner", "owner_as_agent", "device_as_agent", "whole", "session"):
        for operation, arguments, by in PEOPLES:
            mark = "for a person, with more" if "for_task" in arguments else "for a person"
            yield _row(mark, who, operation, "POLICY_DENIED", arguments, by=by)
    yield _row("for the owner", "device", "untrusted.clear", "POLICY_DENIED", by="owner")
    allow: JsonObject = {"name": "editor", "secret_hash": "1" * 64}
    yield _row("for the owner", "device", "client.allow", "POLICY_DENIED", allow, by="owner")
    yield _row("for a device", "owner", "device.rotate", "POLICY_DENIED", by="new_device")
    yield _row("for an agent", "owner", "agent.session", "POLICY_DENIED", by="whole")
    yield _row("for an agent", "agent", "agent.session", "POLICY_DENIED", by="whole")
    yield _row("once", "session", "agent.session", "POLICY_DENIED", by="writer")
    yield _row(
        "holds all", "owner", "capability.request", "INVALID_ARGUMENT", {"capabilities": ["read_files"]}, by="agent"
    )


def _capabilities() -> Iterable[Row]:
    denied = "CAPABILITY_DENIED"
    needs: tuple[tuple[str, str], ...] = (
        ("witness.write", "write_files"),
        ("witness.tools", "execute_tools"),
        ("witness.command", "execute_shell"),
        ("witness.spawn", "spawn_agents"),
        ("witness.mesh", "p2p_mesh"),
        ("witness.share", "context_sharing"),
        ("witness.tasks", "streaming_tasks"),
    )
    holds = {
        "reader": {"read_files"},
        "writer": {"read_files", "write_files"},
        "session": {"read_files", "write_files"},
        "tooler": {"read_files", "write_files", "execute_tools"},
        "sheller": {"read_files", "execute_shell"},
        "ungranted": {"read_files"},
    }
    for who, held in holds.items():
        for operation, capability in needs:
            if capability not in held:
                yield _row("capability", who, operation, denied, by="whole")
    for operation in ("witness.spawn", "witness.mesh"):
        for who in ("agent", "namesake", "owner_as_agent", "device_as_agent"):
            yield _row("capability", who, operation, denied, by="granted" if "spawn" in operation else "device")
    for who in ("agent", "whole"):
        yield _row("no such capability", who, "witness.nameless", denied, by="whole", twin=_own_file("owner"))
    asked: tuple[tuple[str, JsonObject, str], ...] = (
        ("git.commit", {"message": "x", "allow_empty": True}, "writer"),
        ("git.create_branch", {"name": "$unique"}, "writer"),
        ("git.fetch", {}, "owner"),
        ("git.push", {"remote": "origin", "ref": "main"}, "owner"),
        ("run_bash", {"command": "true"}, "owner"),
        ("test.run", {"targets": ["tests/test_app.py"], "wait": False}, "tooler"),
        ("workspace.attach", {"path": "docs"}, "owner"),
        ("refactor.rename", {"symbol": "greet", "new_name": "salute_$unique"}, "writer"),
        ("checkpoint", {"message": "x", "tests": "none"}, "owner"),
    )
    for operation, arguments, by in asked:
        passes = _own_file("tooler") if operation in ("workspace.attach", "checkpoint") else None
        yield _row("capability", "reader", operation, denied, arguments, by=by, twin=passes)
    yield _row("capability", "reader", "write_files", denied, _edit("src/a.txt"), twin=_own_file("writer"))
    yield _row("capability", "sheller", "write_files", denied, _edit("src/a.txt"), twin=_own_file("writer"))
    web = {"url": "https://example.com/"}
    passes = Ask(who="tooler", operation="web.open", arguments=dict(web), ends="APPROVAL_PENDING")
    yield _row("capability", "writer", "web.open", denied, dict(web), twin=passes)
    yield _row("capability", "writer", "shell.output", denied, {"execution_id": "exec_none"}, twin=_own_file("writer"))
    for operation in ("witness.write", "session.create", "status", "audit.list", "device.list"):
        passes = Ask(who="tooled", operation="git.status")
        yield _row("tool", "tooled", operation, denied, twin=passes)
        yield _row("tool", "toolless", operation, denied, by="whole")
    yield _row("tool", "tooled", "write_files", denied, _edit("src/a.txt"), twin=_own_file("whole"))
    yield _row("tool", "granted", "witness.write", denied, twin=_own_file("granted", "witness.touch"))
    for operation in ("witness.tools", "witness.command"):
        yield _row("anywhere", "pathed", operation, denied, by="whole")
    yield _row("anywhere", "pathed", "run_bash", denied, {"command": "true"}, by="owner")
    yield _row("anywhere", "pathed", "test.run", denied, {"targets": ["tests"], "wait": False}, by="tooler")
    yield _row("not its own", "agent", "capability.revoke", "GRANT_NOT_FOUND", {"grant_id": "$grant"}, by="owner")
    yield _row("not its own", "whole", "capability.revoke", "GRANT_NOT_FOUND", {"grant_id": "$grant"}, by="device")
    yield _row(
        "ended", "owner", "capability.revoke", "GRANT_NOT_FOUND", {"grant_id": "$revoked_grant"},
        twin=Ask(who="owner", operation="capability.revoke", arguments={"grant_id": "$grant"}),
    )  # fmt: skip


def _paths() -> Iterable[Row]:
    for number, path in enumerate((*GUARDED, "a\0.txt")):
        mark = f"guarded {number} {ascii(path)[1:-1]}"
        for who in ("owner", "agent" if number % 2 else "pathed"):
            yield _row(mark, who, "write_files", "PATH_DENIED", _edit(path), twin=_own_file(who))
        yield _row(mark, "whole", "witness.touch", "PATH_DENIED", {"path": path}, twin=_own_file("whole"))
    for path in LINKED:
        for who in ("owner", "agent"):
            yield _row(f"link {path}", who, "write_files", "PATH_DENIED", _edit(path), twin=_own_file(who))
    for number, path in enumerate(BEYOND):
        mark = f"beyond {number} {ascii(path)[1:-1]}"
        for operation in ("witness.touch", "write_files"):
            yield _row(
                mark, "pathed", operation, "PATH_DENIED", _at(path, operation), twin=_own_file("pathed", operation)
            )
    for who, twin in (("pathless", "whole"), ("granted", "granted")):
        yield _row("beyond", who, "witness.touch", "PATH_DENIED", {"path": "docs/a.txt"}, twin=_own_file(twin))
        yield _row("beyond", who, "write_files", "PATH_DENIED", _edit("docs/b.txt"), twin=_own_file(twin))


def _other_writers() -> Iterable[Row]:
    """The same places by other means than an edit's own path."""
    denied, ours = "PATH_DENIED", ".codeplane/policy/mine.rego"
    edits: tuple[tuple[str, JsonObject], ...] = (
        ("moved to", {"path": "README.md", "new_path": ours}),
        ("moved from", {"path": ".codeplane/owner.token", "new_path": "token.txt"}),
        ("moved to hooks", {"path": "README.md", "new_path": ".git/hooks/post-commit"}),
        ("deleted", {"path": ".codeplane/owner.token", "action": "delete"}),
        ("linked to", {"path": "src/inwards", "link_to": "../.codeplane"}),
        ("linked out", {"path": "src/outwards", "link_to": "/etc/passwd"}),
        ("patched", {"path": ".git/config", "old_text": "bare", "new_text": "x"}),
    )
    for mark, edit in edits:
        for who in ("owner", "agent"):
            yield _row(mark, who, "write_files", denied, {"edits": [edit]}, twin=_own_file(who))
    both: JsonObject = {"edits": [{"path": "src/fine.txt", "content": "x"}, {"path": ours, "content": "x"}]}
    yield _row("one of two", "owner", "write_files", denied, both, twin=_own_file("owner"))
    dry = {**_edit(".codeplane/owner.token"), "dry_run": True}
    yield _row("only looked at", "agent", "write_files", denied, dry, twin=_own_file("agent"))
    for to_path in (".codeplane/policy/app.py", ".git/hooks/app.py", "../app.py"):
        move: JsonObject = {"from_path": "src/app.py", "to_path": to_path, "apply": True}
        passes = Ask(
            who="owner", operation="refactor.move", arguments={"from_path": "src/app.py", "to_path": "src/$unique.py"}
        )
        for who in ("owner", "agent"):
            yield _row(f"to {to_path}", who, "refactor.move", denied, move, twin=passes)
    beside = Ask(who="owner", operation="git.worktree_add", arguments={"path": "../$unique", "branch": "$unique"})
    for who in ("agent", "whole", "writer", "session"):
        for path in ("../tree", "/tmp/tree", "src/../../tree"):
            given: JsonObject = {"path": path, "branch": "$unique"}
            yield _row(f"at {path}", who, "git.worktree_add", denied, given, twin=beside)
    for path in (".codeplane/tree", ".git/tree", "src/to_own/tree", "src/to_git/tree", "src/to_above/tree"):
        passes = Ask(
            who="owner", operation="git.worktree_add", arguments={"path": "trees/$unique", "branch": "$unique"}
        )
        for who in ("owner", "agent"):
            given = {"path": path, "branch": "$unique"}
            yield _row(f"at {path}", who, "git.worktree_add", denied, given, twin=passes)
    for path in (".codeplane/owner.token", ".git/config", "../out.txt"):
        yield _row(f"at {path}", "agent", "git.stage", denied, {"paths": [path]}, twin=_staged())
        yield _row(f"at {path}", "owner", "git.discard", denied, {"paths": [path]}, twin=_staged())
        yield _row(
            f"at {path}", "agent", "git.checkout", denied, {"ref": "HEAD", "paths": [path]},
            twin=Ask(who="agent", operation="git.checkout", arguments={"ref": "HEAD", "paths": ["README.md"]}),
        )  # fmt: skip
        commit: JsonObject = {"message": "x", "paths": [path]}
        yield _row(
            f"at {path}", "agent", "git.commit", denied, commit,
            twin=Ask(who="agent", operation="git.commit", arguments={"message": "x", "allow_empty": True}),
        )  # fmt: skip
        passes = Ask(who="agent", operation="read_files", arguments={"paths": ["README.md"]})
        yield _row(f"at {path}", "agent", "read_files", denied, {"paths": [path]}, twin=passes)
    for cwd in ("..", "/", ".git", ".codeplane", "src/to_own", "src/to_git", "src/to_etc", "~"):
        passes = Ask(who="owner", operation="run_bash", arguments={"command": "true", "cwd": "src"})
        for who in ("owner", "whole"):
            yield _row(f"in {cwd}", who, "run_bash", denied, {"command": "true", "cwd": cwd}, twin=passes)
    for path in (".codeplane", ".git", ".", "/"):
        yield _row(f"of {path}", "owner", "workspace.attach", denied, {"path": path}, twin=_own_file("owner"))
        yield _row(f"of {path}", "agent", "workspace.attach", denied, {"path": path}, twin=_own_file("agent"))


def _secrets() -> Iterable[Row]:
    """Secrets files, though the work tree's own rules un-ignore them."""
    denied = "PATH_DENIED"
    read = Ask(who="agent", operation="read_files", arguments={"paths": ["README.md"]})
    for path in (".env", "src/../.env", "src/.ENV.local", "src/server.key", ".env.d/values"):
        for who in ("owner", "agent", "whole"):
            yield _row(f"secret {path}", who, "read_files", denied, {"paths": [path]}, twin=read)
            yield _row(f"secret {path}", who, "write_files", denied, _edit(path), twin=_own_file(who))
        yield _row(f"secret {path}", "agent", "git.blame", denied, {"path": path}, twin=read)
    for who in ("owner", "agent"):
        yield _row("secret folder", who, "workspace.attach", denied, {"path": ".env.d"}, twin=_own_file(who))
    edits: tuple[tuple[str, JsonObject], ...] = (
        ("moved from", {"path": ".env", "new_path": "src/env.txt"}),
        ("moved to", {"path": "README.md", "new_path": ".env.local"}),
        ("deleted", {"path": ".env", "action": "delete"}),
        ("linked to", {"path": "src/env.txt", "link_to": "../.env"}),
        ("rules", {"path": ".cplignore", "content": "!.env"}),
    )
    for mark, edit in edits:
        for who in ("owner", "agent"):
            yield _row(f"secret {mark}", who, "write_files", denied, {"edits": [edit]}, twin=_own_file(who))
    for who in ("agent", "whole"):
        stored = Ask(who="owner", operation="git.unstage", arguments={"paths": [".env"]})
        for operation, arguments in (
            ("git.stage", {"paths": [".env"]}),
            ("git.commit", {"message": "x", "paths": [".env"]}),
        ):
            yield _row("secret to git", who, operation, denied, dict(arguments), twin=stored)
        placeholder = _edit("src/$unique.txt", content="x = '[redacted]'\n")
        by_owner = Ask(who="owner", operation="write_files", arguments=placeholder)
        yield _row("placeholder", who, "write_files", "PLACEHOLDER_WRITTEN", placeholder, twin=by_owner)


def _staged() -> Ask:
    return Ask(who="agent", operation="git.stage", arguments={"paths": ["README.md"]})


def _asking() -> Iterable[Row]:
    pending = "APPROVAL_PENDING"
    agents = ("agent", "posing_owner", "owner_as_agent", "device_as_agent", "whole", "careful")
    for operation in ("witness.destroy", "witness.send", "witness.shell", "witness.asked"):
        for who in agents:
            yield _row("asks", who, operation, pending, {"name": "$unique"})
    for operation in ("witness.shell", "witness.asked"):
        yield _row("asks", "device", operation, pending, {"name": "$unique"})
    yield _row("asks", "careful", "witness.write", pending, by="whole")
    yield _row("asks", "careful", "write_files", pending, _edit("src/careful.txt"), twin=_own_file("whole"))
    for who in ("agent", "sheller", "device"):
        yield _row("asks", who, "run_bash", pending, {"command": "true"})
    for who in ("agent", "whole"):
        yield _row("asks", who, "ledger.retain", pending)
        yield _row("asks", who, "git.push", pending, {"remote": "origin", "ref": "main"})
        yield _row("asks", who, "git.fetch", pending)
        yield _row("asks", who, "session.configure", pending, {"limits_delta": {"add_mutations": 1}})
        yield _row("asks", who, "session.create", pending, {"limits": {"max_mutations": 100_000}})
        more: JsonObject = {"capabilities": ["execute_shell", "p2p_mesh"]}
        low: JsonObject = {"capabilities": ["streaming_tasks"], "approval_mode": "trust"}
        passes = Ask(who=who, operation="capability.request", arguments=low)
        yield _row("asks", who, "capability.request", pending, more, twin=passes)
    beyond: JsonObject = {"capabilities": ["streaming_tasks"], "allowed_paths": ["docs/**"], "approval_mode": "trust"}
    within: JsonObject = {**beyond, "allowed_paths": ["src/**"]}
    passes = Ask(who="pathed", operation="capability.request", arguments=within)
    yield _row("more than its token", "pathed", "capability.request", "CAPABILITY_DENIED", beyond, twin=passes)
    keyed: tuple[tuple[str, str, str], ...] = (
        ("rejected", "REJECTED", "$rejected_key"),
        ("expired", "EXPIRED", "$expired_key"),
        ("changed since", "EXPIRED", "$shifted_key"),
    )
    for mark, error, key in keyed:
        operation = "witness.shifting" if "shifted" in key else "witness.destroy"
        name = "old" if "expired" in key else "keyed"
        given: JsonObject = {"name": name, "idempotency_key": key}
        passes = Ask(who="whole", operation="witness.destroy", arguments={"name": "kept", "idempotency_key": "$done"})
        yield _row(mark, "whole", operation, error, given, twin=passes)
    for who in ("owner", "device"):
        fresh = Ask(who=who, operation="approval.approve", arguments={"action_id": "$action"})
        for action, error in (
            ("$expired_action", "EXPIRED"),
            ("$settled_action", "APPROVAL_SETTLED"),
            ("$executed_action", "APPROVAL_SETTLED"),
            ("act_none", "APPROVAL_NOT_FOUND"),
            ("act_", "APPROVAL_NOT_FOUND"),
        ):
            for operation in ("approval.approve", "approval.reject"):
                passes = Ask(who=who, operation=operation, arguments={"action_id": "$action"})
                yield _row(f"decides {action}", who, operation, error, {"action_id": action}, twin=passes)
        wrong: JsonObject = {"action_id": "$pending_action", "preview_hash": "sha256:0"}
        yield _row("another preview", who, "approval.approve", "INVALID_ARGUMENT", wrong, twin=fresh)
        forgets = Ask(who=who, operation="approval.forget", arguments={"answer_id": "$answer"})
        yield _row("unknown", who, "approval.forget", "APPROVAL_NOT_FOUND", {"answer_id": "ans_none"}, twin=forgets)
    shows = Ask(who="whole", operation="approval.show", arguments={"action_id": "$pending_action"})
    yield _row("unknown", "whole", "approval.show", "APPROVAL_NOT_FOUND", {"action_id": "act_none"}, twin=shows)
    others: JsonObject = {"action_id": "$pending_action"}
    yield _row("another's question", "agent", "approval.show", "APPROVAL_NOT_FOUND", others, twin=shows)


def _keys() -> Iterable[Row]:
    conflict = "IDEMPOTENCY_CONFLICT"
    # Each with a key of its own: another's is as good as none.
    for who in ("owner", "whole", "device"):
        again = Ask(who=who, operation="witness.write", arguments={"name": "kept", "idempotency_key": f"${who}_key"})
        given: JsonObject = {"name": "other", "idempotency_key": f"${who}_key"}
        yield _row("the key's arguments", who, "witness.write", conflict, given, twin=again)
    pending: JsonObject = {"name": "other", "idempotency_key": "$pending_key"}
    done = Ask(who="whole", operation="witness.destroy", arguments={"name": "kept", "idempotency_key": "$done"})
    for who in ("whole", "agent"):
        yield _row("the question's arguments", who, "witness.destroy", conflict, dict(pending), twin=done)
    secrets: tuple[tuple[str, JsonObject], ...] = (
        ("pairing.create", {}),
        ("pairing.bind", {"code": "$code", "device_name": "phone"}),
        ("agent.token", {"agent": "friend"}),
    )
    for operation, arguments in secrets:
        keyed: JsonObject = {**arguments, "idempotency_key": "$unique"}
        passes = Ask(who="owner", operation=operation, arguments=dict(arguments))
        yield _row("a secret is not kept", "owner", operation, "INVALID_ARGUMENT", keyed, twin=passes)


def _policies() -> Iterable[Row]:
    denied = "POLICY_DENIED"
    for who in ("owner", "device", "agent", "whole", "owner_as_agent"):
        yield _row("forbidden", who, "witness.forbidden", denied, twin=Ask(who=who, operation="witness.write"))
        yield _row(
            "friday", who, "witness.write", denied, {"name": "friday"}, twin=Ask(who=who, operation="witness.write")
        )
        linked: JsonObject = {"path": "src/to_release/notes.md"}
        yield _row("closed by a link", who, "witness.touch", denied, linked, twin=_own_file(who, "witness.touch"))
        release: JsonObject = {"path": "release/notes.md"}
        yield _row("closed", who, "witness.touch", denied, release, twin=_own_file(who, "witness.touch"))
    for who in ("device", "agent", "whole", "owner_as_agent", "session"):
        yield _row("the owner's", who, "witness.owners", denied)
    for who in ("owner", "device", "agent", "whole"):
        yield _row("sudo", who, "run_bash", denied, {"command": "sudo true"}, twin=_runs())
        yield _row("network", who, "run_bash", denied, {"command": "true", "network": True}, twin=_runs())
    changes: tuple[tuple[str, JsonObject], ...] = (
        ("witness.write", {}),
        ("witness.destroy", {}),
        ("witness.shell", {}),
        ("session.create", {}),
        ("git.create_branch", {"name": "$unique"}),
    )
    for operation, arguments in changes:
        for who in ("owner", "device", "whole"):
            reads = Ask(who=who, operation="witness.read", world="broken")
            passes = Ask(who="owner", operation=operation, arguments=arguments) if who == "owner" else reads
            yield _row("broken policy", who, operation, denied, arguments, twin=passes, world="broken")
    owners: tuple[tuple[str, JsonObject], ...] = (
        ("pairing.create", {}),
        ("agent.token", {"agent": "friend"}),
        ("ledger.retain", {}),
    )
    for operation, arguments in owners:
        yield _row("broken policy", "owner", operation, denied, arguments, world="broken")
    bind: JsonObject = {"code": "ABCD-EFGH", "device_name": "phone"}
    passes = Ask(who="nobody", operation="pairing.bind", arguments={"code": "$code", "device_name": "phone"})
    yield _row("broken policy", "nobody", "pairing.bind", denied, bind, twin=passes, world="broken")
    yield _row("broken policy", "owner", "write_files", denied, _edit("a.txt"), twin=_own_file("owner"), world="broken")
    for who in ("tokenless", "posing_owner", "namesake"):
        for operation in ("witness.read", "status", "witness.write"):
            # `cpl mcp` shows the owner's token by itself.
            reads = Ask(who="whole", operation="witness.read", world="broken")
            yield _row("tokens required", who, operation, "UNAUTHORIZED", twin=reads, world="broken")


def _runs() -> Ask:
    return Ask(who="owner", operation="run_bash", arguments={"command": "true"})


def _strict() -> Iterable[Row]:
    for who in ("whole", "writer", "session"):
        yield _row("always", who, "witness.write", "APPROVAL_PENDING", by=who, world="strict")
    yield _row("always", "whole", "session.create", "APPROVAL_PENDING", by="whole", world="strict")
    for who in ("agent", "owner_as_agent", "namesake"):
        for operation in ("witness.write", "witness.tools", "witness.command", "witness.share", "witness.tasks"):
            yield _row("settings", who, operation, "CAPABILITY_DENIED", by=who, world="strict")
    disabled = "OPERATION_DISABLED"
    for who in ("owner", "device", "whole"):
        command: JsonObject = {"command": "true"}
        yield _row("no shell", who, "run_bash", disabled, command, twin=_runs(), world="strict")
        page: JsonObject = {"url": "https://example.com/"}
        asks = Ask(who="whole", operation="web.open", arguments=page, ends="APPROVAL_PENDING")
        yield _row("no web", who, "web.open", disabled, page, twin=asks, world="strict")
        yield _row("no web", who, "web.search", disabled, {"query": "x"}, twin=asks, world="strict")
        moves: JsonObject = {"from_path": "src/app.py", "to_path": "src/$unique.py"}
        yield _row("no refactoring", who, "refactor.move", disabled, moves, by=who, world="strict")
    yield _row("no budget", "owner", "witness.budgeted", "TASK_BUDGET_EXCEEDED", world="strict")
    yield _row("no budget", "device", "witness.budgeted", "TASK_BUDGET_EXCEEDED", by="device", world="strict")
    yield _row("no budget", "owner", "write_files", "TASK_BUDGET_EXCEEDED", _edit("src/b.txt"), world="strict",
               twin=_own_file("owner"))  # fmt: skip
    bind: JsonObject = {"code": "$tried_code", "device_name": "phone"}
    passes = Ask(who="nobody", operation="pairing.bind", arguments={"code": "$code", "device_name": "phone"})
    yield _row("too often", "nobody", "pairing.bind", "RATE_LIMITED", bind, twin=passes, world="strict")
    yield _row("too often", "owner", "pairing.bind", "RATE_LIMITED", bind, twin=passes, world="strict")
    for who in ("owner", "whole", "agent"):
        spent: JsonObject = {"session_id": "$spent_session"}
        passes = Ask(who=who, operation="witness.budgeted", arguments={"session_id": "$session"})
        yield _row("spent", who, "witness.budgeted", "TASK_BUDGET_EXCEEDED", spent, twin=passes)
        gone: JsonObject = {"session_id": "session_none"}
        yield _row("no session", who, "witness.write", "SESSION_NOT_FOUND", gone, twin=passes)


def _pairing() -> Iterable[Row]:
    binds = Ask(who="nobody", operation="pairing.bind", arguments={"code": "$code", "device_name": "phone"})
    codes = ("ABCD-EFGH", "$used_code", "$closed_code", "$burnt_code", "0", "' OR 1=1 --")
    for code in codes:
        for who in ("nobody", "owner"):
            given: JsonObject = {"code": code, "device_name": "phone"}
            yield _row(f"code {code}", who, "pairing.bind", "PAIRING_REFUSED", given, twin=binds)
    for name in ("", " phone", "pho\u202ene", "x" * 81, "a\x1b[2Jb"):
        given = {"code": "$code", "device_name": name}
        yield _row(f"name {ascii(name)[:20]}", "nobody", "pairing.bind", "INVALID_ARGUMENT", given, twin=binds)
    for who in ("owner", "device"):
        passes = Ask(who=who, operation="device.revoke", arguments={"device_id": "$device_id"})
        unknown: JsonObject = {"device_id": "dev_none"}
        yield _row("unknown", who, "device.revoke", "DEVICE_NOT_FOUND", unknown, twin=passes)
    revokes = Ask(who="owner", operation="agent.revoke", arguments={"agent": "$agent"})
    yield _row("unknown", "owner", "agent.revoke", "NOT_FOUND", {"agent": "stranger"}, twin=revokes)
    issues = Ask(who="owner", operation="agent.token", arguments={"agent": "friend", "allowed_paths": ["src/**"]})
    for pattern in ("../**", "/etc/**", "src\\**", "a\0b", "src/../**", "[a-z]/**", ""):
        bounded: JsonObject = {"agent": "friend", "allowed_paths": [pattern]}
        mark = f"bounds {pattern!a}"
        yield _row(mark, "owner", "agent.token", "INVALID_ARGUMENT", bounded, twin=issues)
    for name in ("Friend", "../x", "a b", "", "-a", "\u0430gent"):
        yield _row(f"named {name!a}", "owner", "agent.token", "INVALID_ARGUMENT", {"agent": name}, twin=issues)


def _addresses() -> Iterable[Row]:
    public: JsonObject = {"url": "https://example.com/"}
    for url in ADDRESSES:
        asks = Ask(who="whole", operation="web.open", arguments=public, ends="APPROVAL_PENDING")
        yield _row(f"address {ascii(url)[1:-1]}", "whole", "web.open", "ADDRESS_DENIED", {"url": url}, twin=asks)
    for url in ADDRESSES[:3]:
        for who in ("owner", "agent", "device"):
            asks = Ask(who="agent", operation="web.open", arguments=public, ends="APPROVAL_PENDING")
            yield _row(f"address {url}", who, "web.open", "ADDRESS_DENIED", {"url": url}, twin=asks)


def _untrusted() -> Iterable[Row]:
    """Outward calls of agents that have read untrusted content, where mode, list and rule let all others run."""
    outward: tuple[tuple[str, JsonObject], ...] = (
        ("witness.send", {"name": "$unique"}),
        ("git.push", {"remote": "origin", "ref": "main"}),
        ("git.fetch", {}),
        ("web.search", {"query": "$unique"}),
    )
    for operation, arguments in outward:
        passes = Ask(who="unread", operation=operation, arguments=arguments, world="untrusted")
        for who in ("agent", "posing_owner", "namesake", "owner_as_agent", "device_as_agent", "eager"):
            # The last twin marks whoever makes it, which is the last thing that happens there.
            yield _row("untrusted", who, operation, "APPROVAL_PENDING", arguments, twin=passes, world="untrusted")


def _others() -> Iterable[Row]:
    """What others did, for those to whom nobody has shown it."""
    seen: tuple[tuple[str, JsonObject, str], ...] = (
        ("task.show", {"task": "$owner_task"}, "NOT_FOUND"),
        ("session.replay", {"in_session": "$owner_session"}, "NOT_FOUND"),
        ("mutation.show", {"mutation_id": "$owner_mutation"}, "NOT_FOUND"),
        ("work.show", {"work_id": "$work"}, "WORK_NOT_FOUND"),
    )
    for who in ("agent", "reader", "writer", "session", "spawner"):
        for operation, arguments, error in seen:
            yield _row("of others", who, operation, error, arguments, by="whole")
        watched: JsonObject = {"work_id": "$work"}
        yield _row("of others", who, "work.cancel", "WORK_NOT_FOUND", watched, by="owner")
        yield _row("of others", who, "work.watch", "WORK_NOT_FOUND", watched, twin=_ticks("whole"))
        followed: JsonObject = {"streams": {"policy": 0}}
        yield _row("of others", who, "ledger.follow", "CAPABILITY_DENIED", followed, twin=_ticks("whole"))
    # Who may see the work of others may not end it.
    yield _row("of others", "whole", "work.cancel", "WORK_NOT_FOUND", {"work_id": "$work"}, by="owner")
    for who in ("agent", "writer", "session"):
        for operation in ("undo", "redo"):
            named: JsonObject = {"mutation_id": "$owner_mutation"}
            passes = Ask(who="whole", operation="undo", arguments=named)
            yield _row("of others", who, operation, "CANNOT_UNDO", named, twin=passes)
        for operation, more in (("session.close", {}), ("session.configure", {"limits_delta": {"add_mutations": -1}})):
            given: JsonObject = {"session_id": "$closed_session", **more}
            yield _row("of others", who, operation, "POLICY_DENIED", given, by="whole")
    for who in ("agent", "writer"):
        shared: JsonObject = {"capabilities": ["context_sharing"]}
        low: JsonObject = {"capabilities": ["streaming_tasks"], "approval_mode": "trust"}
        if who == "agent":
            passes = Ask(who=who, operation="capability.request", arguments=low)
            yield _row("of others", who, "capability.request", "APPROVAL_PENDING", shared, twin=passes)
        steps: JsonObject = {"steps": [{"operation": "witness.read"}]}
        yield _row("capability", who, "work.start", "CAPABILITY_DENIED", steps, by="spawner")
    yield _row("asks", "careful", "work.start", "APPROVAL_PENDING", steps, by="spawner")


def _ticks(who: str) -> Ask:
    return Ask(who=who, operation="witness.ticks")


def _learnt_late() -> Iterable[Row]:
    closed = "POLICY_DENIED"
    for who in ("owner", "agent"):
        yield _row("closed", who, "write_files", closed, _edit("release/$unique.txt"), twin=_own_file(who))
        given: JsonObject = {"path": "src/to_release/tree", "branch": "$unique"}
        yield _row("closed by a link", who, "git.worktree_add", closed, given, twin=_own_file(who))
        yield _row("closed by a link", who, "write_files", closed, _edit("src/to_release/x.txt"), twin=_own_file(who))
    moved: JsonObject = {"edits": [{"path": "docs/guide.md", "new_path": "release/guide.md"}]}
    yield _row("closed, moved to", "agent", "write_files", closed, moved, twin=_own_file("agent"))
    move: JsonObject = {"from_path": "src/app.py", "to_path": "release/app.py", "apply": True}
    yield _row("closed", "agent", "refactor.move", closed, move, twin=_own_file("agent"))
    tree: JsonObject = {"path": "src/to_empty", "branch": "$unique"}
    for who in ("owner", "device", "whole", "agent"):
        planted: JsonObject = {"path": "src/$unique", "branch": "$unique", "ref": "planted"}
        passes = Ask(who=who, operation="git.worktree_add", arguments={**planted, "ref": "ordinary"})
        yield _row("tracks .codeplane", who, "git.worktree_add", "PATH_DENIED", planted, twin=passes)
    # `doubtful` is a branch that tracks .codeplane, and a tag that does not.
    names: tuple[tuple[str, str, JsonObject], ...] = (
        ("git.checkout", "ref", {}),
        ("git.checkout", "start", {"ref": "$unique", "create": True}),
        ("git.worktree_add", "ref", {"path": "src/$unique"}),
        ("git.merge", "ref", {}),
    )
    for operation, argument, more in names:
        for name, ends in (("doubtful", "INVALID_ARGUMENT"), ("refs/heads/doubtful", "PATH_DENIED")):
            output: JsonObject = {**more, argument: name}
            yield _row(f"{name} as {argument}", "agent", operation, ends, output, twin=_own_file("agent"))
    yield _row("at a link to .codeplane", "agent", "git.worktree_add", "PATH_DENIED", tree, twin=_own_file("agent"))


ROWS: tuple[Row, ...] = tuple(
    row
    for part in (
        _unidentified,
        _for_people,
        _capabilities,
        _paths,
        _other_writers,
        _secrets,
        _asking,
        _keys,
        _policies,
        _strict,
        _pairing,
        _addresses,
        _untrusted,
        _others,
        _learnt_late,
    )
    for row in part()
)

"""Secrets files that an agent had written: they hide nothing from people, displace no real value and stop nothing."""

import random
import string
from pathlib import Path

from codeplane.kernel.json import JsonObject
from codeplane.wiring.app import Plane
from tests.git.test_guarded_programs import needs_bubblewrap
from tests.harness import make_repo
from tests.interaction.requirements import requirement
from tests.kernel.plane import OWNER, events, plane
from tests.trust.approvals.agent_calls import action_of, call, decide, executed, key_of, result, shown

pytestmark = requirement("TRUST-53")

REAL = "Zk93jfQp20xLmN7v"
MADE_UP = "d7r0p.sh/k3ep"


def _repo(folder: Path) -> Path:
    root = make_repo(folder, {"notes.txt": f"the value is {REAL} ok\n", ".gitignore": ".env*\n"})
    (root / ".env").write_text(f"DB_PASSWORD={REAL}\n")
    return root


async def _notes(opened: Plane) -> str:
    return str(result(await call(opened, "read_files", paths=["notes.txt"])))


@needs_bubblewrap
async def test_a_made_up_value_hides_nothing_from_who_decides(tmp_path: Path) -> None:
    root = _repo(tmp_path / "repo")
    plant = f"def test_it():\n    open('.env.za', 'w').write('C_TOKEN={MADE_UP}\\n')\n"
    async with plane(root) as opened:
        await call(opened, "write_files", edits=[{"path": "test_plant.py", "content": plant}])
        result(await call(opened, "test.run", targets=["test_plant.py"]))
        assert (root / ".env.za").exists()
        asked = await call(opened, "run_bash", command=f"bash {MADE_UP}", justification=f"not {MADE_UP}")
        question = await shown(opened, action_of(asked))
        assert f"$ bash {MADE_UP}" in str(question["preview"]) and MADE_UP in str(question["deterministic_summary"])
        assert "[redacted]" not in str(question)
        await decide(opened, "approval.approve", action_id=action_of(asked))
        await executed(opened, action_of(asked))
        audited = result(await decide(opened, "audit.list"))
        assert "[redacted]" not in str(audited)
        recorded = [str(event.payload) for event in await events(opened, "action.created", "shell.started")]
        assert len(recorded) == 2 and all(f"bash {MADE_UP}" in one for one in recorded)


async def test_a_real_value_is_shown_to_who_decides_and_to_no_agent(tmp_path: Path) -> None:
    root = _repo(tmp_path / "repo")
    async with plane(root) as opened:
        asked = await call(opened, "run_bash", command=f"echo {REAL}")
        assert asked.error is not None and REAL not in str(asked.error.to_wire())
        action = action_of(asked)
        assert REAL in str(await shown(opened, action))
        await decide(opened, "approval.reject", action_id=action, reason=f"{REAL} is ours")
        again = await call(opened, "run_bash", command=f"echo {REAL}", idempotency_key=key_of(asked))
        assert again.error is not None and again.error.name == "REJECTED" and REAL not in str(again.error.to_wire())
        reads: tuple[tuple[str, JsonObject], ...] = (
            ("approval.list", {}),
            ("approval.show", {"action_id": action}),
            ("ledger.events", {"limit": 500}),
            ("trace.list", {}),
            ("trace.show", {}),
            ("audit.list", {}),
            ("status", {}),
        )
        for name, arguments in reads:
            output = await call(opened, name, **arguments)
            answer = output.to_json(with_text=True)
            assert REAL not in answer, name
        recorded = await opened.conveyor.call("ledger.events", {"limit": 500}, OWNER)
        assert REAL in recorded.to_json(with_text=True)


async def test_no_file_displaces_the_values_of_another(tmp_path: Path) -> None:
    root = _repo(tmp_path / "repo")
    async with plane(root) as opened:
        assert REAL not in await _notes(opened)
        for number in range(6):
            values = "".join(f"X{i}_TOKEN=q{number}z{i}R{i * 7919}kW\n" for i in range(2100))
            (root / f".env.z{number}").write_text(values)
            assert REAL not in await _notes(opened)
        # As many as before, and others: what is looked for is what is there now.
        (root / ".env").write_text("DB_PASSWORD=another9secret\n")
        assert REAL not in await _notes(opened)
    async with plane(root) as opened:
        (root / "notes.txt").write_text("another9secret\n")
        assert "another9secret" not in await _notes(opened)
        assert ".env.z" in (root / ".codeplane" / "logs" / "server.jsonl").read_text()


async def test_large_values_stop_nothing(tmp_path: Path) -> None:
    root = _repo(tmp_path / "repo")
    draw = random.Random(1)
    for number in range(4):
        values = ["".join(draw.choices(string.ascii_letters, k=4000)) for _ in range(240)]
        (root / f".env.x{number}").write_text("".join(f"X{i}_TOKEN={value}\n" for i, value in enumerate(values)))
        # At the start, and then while it serves.
        async with plane(root) as opened:
            assert "[redacted]" in await _notes(opened)
            (root / f".env.y{number}").write_text(f"A_TOKEN={values[0][::-1]}\n")
            assert "[redacted]" in await _notes(opened)

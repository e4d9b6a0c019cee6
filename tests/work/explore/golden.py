"""Golden traces: what an exploration of a small repository streams, without what a day or chance decides.

`python -m tests.work.explore.golden` records them again.
"""

import asyncio
import json
import tempfile
from pathlib import Path

from codeplane.kernel.json import JsonObject, JsonValue
from tests.harness import make_repo
from tests.work.explore.explore_plane import Explored, explore_plane

GOLDEN = Path(__file__).parents[2] / "fixtures" / "traces" / "golden"

TREES: dict[str, dict[str, str]] = {
    "swift": {
        "README.md": "# Kite\n\nA kite that flies in three lines of Swift, for tests.\n",
        "Package.swift": '// swift-tools-version:5.5\nimport PackageDescription\nlet package = Package(name: "Kite")\n',
        "Sources/Kite/Kite.swift": "public struct Kite {\n    public let height: Int\n}\n",
    },
    "ts": {
        "README.md": "# Lamp\n\nA lamp that is switched on in two lines of TypeScript, for tests.\n",
        "package.json": '{"name": "lamp", "main": "src/index.ts"}\n',
        "src/index.ts": "import { on } from './on';\nexport const lamp = on(1);\n",
        "src/on.ts": "export function on(power: number): number {\n  return power;\n}\n",
    },
    "rust": {
        "README.md": "# Moss\n\nMoss that grows in a library and a program of Rust, for tests.\n",
        "Cargo.toml": '[package]\nname = "moss"\nversion = "0.1.0"\n',
        "src/lib.rs": "pub fn grow(by: u32) -> u32 {\n    by + 1\n}\n",
        "src/main.rs": 'fn main() {\n    println!("{}", moss::grow(1));\n}\n',
    },
}


async def record(name: str, folder: Path) -> Explored:
    """Explore one of the trees, one operation at a time so that the order is always the same."""
    # In a folder that is called like the package, as a checkout would be.
    called = TREES[name]["README.md"].split()[1].lower()
    async with explore_plane(make_repo(folder / called, TREES[name])) as plane:
        await plane.ask("orchestrate.explore.setConcurrency", max_in_flight_ops=1)
        return await plane.explore()


def normalise(explored: Explored) -> list[str]:
    """The envelopes as lines, with ids by their first occurrence and without times and commits."""
    names: dict[str, str] = {}

    def plain(value: JsonValue, key: str = "") -> JsonValue:
        if isinstance(value, dict):
            return {name: plain(inner, name) for name, inner in value.items() if name not in ("ts", "checksum")}
        if isinstance(value, list):
            return [plain(inner, key) for inner in value]
        if key == "headCommit":
            return "commit"
        if key == "payload" and isinstance(value, str):
            return plain(json.loads(value))
        is_id = key.endswith(("Id", "id", "cancelOps", "dependsOn")) and isinstance(value, str)
        return names.setdefault(str(value), f"id{len(names) + 1}") if is_id else value

    lines: list[JsonValue] = [plain(envelope) for envelope in explored.envelopes]
    return [json.dumps(line, ensure_ascii=False, sort_keys=True) for line in lines]


def write() -> None:
    """Record all traces again."""
    GOLDEN.mkdir(parents=True, exist_ok=True)
    for name in TREES:
        with tempfile.TemporaryDirectory() as folder:
            lines = normalise(asyncio.run(record(name, Path(folder))))
        (GOLDEN / f"{name}.jsonl").write_text("\n".join(lines) + "\n")


def load(name: str) -> list[JsonObject]:
    """A recorded trace."""
    return [json.loads(line) for line in (GOLDEN / f"{name}.jsonl").read_text().splitlines()]


if __name__ == "__main__":
    write()

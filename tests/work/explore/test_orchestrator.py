"""The specification's suites that concern explorations, by its names."""

import json
from pathlib import Path

import pytest

from tests.harness import make_repo
from tests.interaction.requirements import requirement
from tests.kernel.plane import AGENT
from tests.trust.approvals.agent_calls import refused
from tests.work.explore.explore_plane import SHOP, START, explore_plane
from tests.work.explore.golden import TREES, load, normalise, record

pytestmark = requirement("EXR-09")


class TestGoldenTraces:
    """Fixtures/Traces/golden: the same repository gives the same trace."""

    @pytest.mark.parametrize("name", TREES)
    async def test_an_exploration_is_as_it_was_recorded(self, name: str, tmp_path: Path) -> None:
        assert [json.loads(line) for line in normalise(await record(name, tmp_path))] == load(name)


class TestSchemaAndChecksum:
    """Every result has its type, schema version and a checksum that holds."""

    async def test_types_are_named_and_payloads_decode(self, tmp_path: Path) -> None:
        async with explore_plane(make_repo(tmp_path / "shop", SHOP)) as plane:
            explored = await plane.explore(goals=["money"])
            types = {explored.ops[str(value["opId"])]["kind"]: value["type"] for value in explored.cases("result")}
            assert types == {
                "gitStatus": "GitStatus",
                "listDir": "DirListing",
                "indexRepo": "IndexStatus",
                "countLines": "LineCount",
                "entryPoints": "EntryPoint[]",
                "mapRepo": "RepoMap",
                "mostUsed": "SymbolUse[]",
                "grep": "SearchResult[]",
                "semantic": "SearchResult[]",
                "summarize": "Summary[]",
                "readSpan": "SpanText",
            }
            for kind, kind_type in types.items():
                for value in explored.results(str(kind)):
                    assert isinstance(value, list) == str(kind_type).endswith("[]")


class TestTruncationAndEncoding:
    """Inline text is bounded, its line ends are unified, and unknown encodings are said."""

    async def test_long_and_odd_files(self, tmp_path: Path) -> None:
        repo = make_repo(tmp_path / "odd", {"a.py": "a = 1\n"})
        line = b"A caf\xe9 whose bytes are of another encoding than most. " * 3
        (repo / "README.md").write_bytes(b"# Long\r\n\r\n" + (line + b"\r\n") * 200)
        async with explore_plane(repo) as plane:
            explored = await plane.explore()
            (value,) = [
                found for found in explored.cases("result") if found["type"] == "SpanText" and found["truncated"]
            ]
            span = json.loads(str(value["payload"]))
            assert span["encoding"] == "unknown-lossy" and "\r" not in span["text"] and span["text"].endswith("…")
            assert span["endLine"] == len(span["text"].split("\n")) and span["lineCount"] == 202
            assert len(span["text"].encode()) <= 8192 and len(span["text"].split("\n")) <= 120


class TestSymlinkEscape:
    """What leads out of the workspace is not followed."""

    async def test_a_linked_folder_is_not_explored_as_part_of_the_repository(self, tmp_path: Path) -> None:
        outside = tmp_path / "outside"
        outside.mkdir()
        (outside / "secret.py").write_text("secret = 'must not be shown'\n")
        repo = make_repo(tmp_path / "shop", SHOP)
        (repo / "out").symlink_to(outside)
        async with explore_plane(repo) as plane:
            explored = await plane.explore()
            assert "must not be shown" not in str(explored.envelopes) and "secret.py" not in str(explored.envelopes)
            plane.caller = AGENT
            # It is another folder, which the owner has to open first.
            assert refused(await plane.ask(START, root="out")) == "APPROVAL_PENDING"

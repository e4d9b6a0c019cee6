"""Texts that no program takes are refused as arguments, before anything is started."""

from pathlib import Path

from codeplane.kernel.json import JsonObject
from tests.harness import git, make_repo
from tests.interaction.requirements import requirement
from tests.kernel.plane import AGENT, OWNER, plane

REFUSED: tuple[tuple[str, JsonObject], ...] = (
    ("git.log", {"author": "a\0b"}),
    ("git.log", {"grep": "a\0b"}),
    ("test.run", {"pattern": "a\0b"}),
    ("test.run", {"tags": ["a\0b"]}),
    ("index.export", {"name": "."}),
    ("index.export", {"name": ".."}),
    ("index.import", {"name": ".."}),
)


@requirement("DOOR-03")
async def test_nul_and_names_of_dots_alone_are_invalid_arguments(tmp_path: Path) -> None:
    repo = make_repo(tmp_path / "shop")

    async def names() -> list[str]:
        async with plane(repo) as opened:
            outcomes = [await opened.conveyor.call(name, arguments, OWNER) for name, arguments in REFUSED]
            assert (await opened.conveyor.call("index.export", {"name": ".a.b"}, OWNER)).error is None
            assert (await opened.conveyor.call("git.log", {"author": "Test", "grep": "fir"}, AGENT)).error is None
            return [outcome.error.name if outcome.error is not None else "" for outcome in outcomes]

    assert await names() == ["INVALID_ARGUMENT"] * len(REFUSED)
    assert not (repo / ".codeplane" / "exports.part").exists()


async def test_a_stash_before_the_first_commit_is_refused_in_plain_words(tmp_path: Path) -> None:
    repo = tmp_path / "shop"
    repo.mkdir()
    git(repo, "init", "--quiet")
    (repo / "a.txt").write_text("a\n")

    async def refusal_text() -> str:
        async with plane(repo) as opened:
            outcome = await opened.conveyor.call("git.stash_push", {"include_untracked": True}, AGENT)
            return f"{outcome.error.name}: {outcome.error.message}" if outcome.error is not None else ""

    assert (await refusal_text()).startswith("GIT_REFUSED: there is no commit yet")

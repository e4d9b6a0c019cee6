"""Skills in folders: the public format, its bounds, and what is refused."""

from pathlib import Path

import pytest

from codeplane.adapters.skill_folders import SkillFolders
from codeplane.kernel.skill import Skill
from tests.interaction.requirements import requirement

pytestmark = requirement("SKILL-01")

_PLAIN = "---\nname: review\ndescription: Reviews a change.\n---\n# Review\nLook at the diff.\n"


def _skill(folder: Path, text: str = _PLAIN) -> Path:
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(text)
    return folder


def _find(root: Path) -> dict[str, Skill]:
    return {skill.name: skill for skill in SkillFolders.of(root / "repo", root / "home").find_skills()}


@pytest.mark.parametrize("place", [".agents/skills", ".codeplane/skills", ".claude/skills"])
def test_skills_of_the_repository_are_found(tmp_path: Path, place: str) -> None:
    folder = _skill(tmp_path / "repo" / place / "review")
    (folder / "scripts").mkdir()
    (folder / "scripts" / "lint.sh").write_text("true\n")
    found = _find(tmp_path)["review"]
    assert (found.description, found.instructions) == ("Reviews a change.", "# Review\nLook at the diff.")
    assert found.is_project and found.files == ("scripts/lint.sh",) and not found.problem


def test_the_owners_own_skill_comes_before_one_of_the_repository(tmp_path: Path) -> None:
    _skill(tmp_path / "repo/.agents/skills/review")
    _skill(tmp_path / "home/.codeplane/skills/review")
    assert not _find(tmp_path)["review"].is_project


def test_any_change_of_a_skill_is_another_hash(tmp_path: Path) -> None:
    folder = _skill(tmp_path / "repo/.agents/skills/review")
    hashes = {_find(tmp_path)["review"].hash}
    (folder / "run.sh").write_text("a")
    hashes.add(_find(tmp_path)["review"].hash)
    (folder / "run.sh").rename(folder / "run2.sh")
    hashes.add(_find(tmp_path)["review"].hash)
    (folder / "run2.sh").write_text("b")
    hashes.add(_find(tmp_path)["review"].hash)
    assert len(hashes) == 4


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("# no front matter", "front matter"),
        ("---\nname: review\n", "does not end"),
        ("---\n- a\n---\n", "no names"),
        ("---\nname: [\n---\n", "not YAML"),
        ("---\nname: other\ndescription: d\n---\n", "its folder is review"),
        ("---\nname: Review\ndescription: d\n---\n", "lower-case"),
        ("---\nname: review\n---\n", "description"),
        (f"---\nname: review\ndescription: {'d' * 4097}\n---\n", "description"),
        ("---\nname: review\ndescription: d\nallowed-tools: 7\n---\n", "allowed-tools"),
        (f"---\nname: review\ndescription: d\n---\n{'x' * 140_000}", "131072 bytes"),
    ],
)
def test_a_skill_that_cannot_be_read_says_why(tmp_path: Path, text: str, problem: str) -> None:
    _skill(tmp_path / "repo/.agents/skills/review", text)
    assert problem in _find(tmp_path)["review"].problem


def test_links_are_refused(tmp_path: Path) -> None:
    outside = _skill(tmp_path / "outside/review")
    skills = tmp_path / "repo/.agents/skills"
    skills.mkdir(parents=True)
    (skills / "review").symlink_to(outside)
    assert "link" in _find(tmp_path)["review"].problem
    (skills / "review").unlink()
    folder = _skill(skills / "review")
    (folder / "secret").symlink_to("/etc/passwd")
    assert _find(tmp_path)["review"].problem == "secret is a link"
    (folder / "secret").unlink()
    (folder / "more").symlink_to(tmp_path)
    assert _find(tmp_path)["review"].problem == "more is a link"


def test_a_folder_of_skills_outside_of_the_repository_is_not_its_own(tmp_path: Path) -> None:
    _skill(tmp_path / "outside/review")
    (tmp_path / "repo/.agents").mkdir(parents=True)
    (tmp_path / "repo/.agents/skills").symlink_to(tmp_path / "outside")
    assert _find(tmp_path) == {}


def test_a_skill_that_is_too_large_is_refused(tmp_path: Path) -> None:
    folder = _skill(tmp_path / "repo/.agents/skills/review")
    (folder / "data").write_bytes(b"x" * (16 * 1024 * 1024))
    assert "more than" in _find(tmp_path)["review"].problem


@pytest.mark.parametrize(
    ("written", "tools"),
    [
        ("Read Grep", ("Read", "Grep")),
        ("Read, Bash(git log:*), search", ("Read", "Bash(git log:*)", "search")),
        ("[Read, Edit]", ("Read", "Edit")),
        ("''", ()),
    ],
)
def test_lists_of_tools_are_read_as_they_are_written(tmp_path: Path, written: str, tools: tuple[str, ...]) -> None:
    text = f"---\nname: review\ndescription: d\nallowed-tools: {written}\n---\n"
    _skill(tmp_path / "repo/.agents/skills/review", text)
    assert _find(tmp_path)["review"].allowed_tools == tools

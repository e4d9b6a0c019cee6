"""Past changes: files by the messages of the commits that changed them."""

from pathlib import Path

import pytest

from codeplane.adapters.git_cli import clean_environment
from codeplane.git.read.change_history import Change, read_changes
from codeplane.git.read.reader import GitReader
from codeplane.index.fulltext import Document, FullText
from codeplane.query.search.past_changes import NO_CHANGES, PastChanges, PastChangesReader
from codeplane.query.search.ranking import rank
from tests.harness import git, make_repo
from tests.interaction.requirements import requirement
from tests.query.asking import Ask, result, with_plane
from tests.query.search.hits import paths

DAY = 86_400
REPORT = "Quotes are lost\n\nrender does not escape the quotes of a row, so that commas in cells split exported rows"


def change(title: str, *files: str, body: str = "", day: int = 0) -> Change:
    return Change(time=day * DAY, title=title, body=body, files=files)


@requirement("RNK-11")
def test_a_file_has_the_value_of_the_commit_that_is_most_alike() -> None:
    changes = PastChanges(
        [
            change("Escape quotes in CSV exports", "export.py"),
            change("Escape newlines", "export.py", "log.py"),
            change("Sort users by name", "users.py"),
        ]
    )
    found = changes.files_like({"quotes", "escape", "csv"}, {"quotes"})
    assert set(found) == {"export.py", "log.py"} and found["export.py"] > found["log.py"]
    assert changes.files_like({"nothing"}, set()) == {} == NO_CHANGES.files_like({"escape"}, {"escape"})


@requirement("RNK-11")
def test_new_commits_titles_and_few_files_count_more() -> None:
    many = [f"part{number}.py" for number in range(20)]
    changes = PastChanges(
        [
            change("Fix quotes", "new.py", day=900),
            change("Fix quotes", "old.py"),
            change("Fix it", "body.py", body="The quotes were lost.", day=900),
            change("Fix quotes", *many, day=900),
            change("Fix quotes", *(f"all{number}.py" for number in range(31)), day=900),
        ]
    )
    found = changes.files_like({"quotes"}, {"quotes"})
    assert found["new.py"] > found["old.py"] and found["new.py"] > found["body.py"] and found["new.py"] > found[many[0]]
    assert "all0.py" not in found


@requirement("RNK-11")
def test_history_decides_between_files_that_have_the_same_words(tmp_path: Path) -> None:
    full_text = FullText(tmp_path / "text")
    files = [f"shop/{name}.py" for name in ("alpha", "omega")]
    full_text.add(
        Document(path=path, text=b"def render(row): return escape(row)\n", names=["render"]) for path in files
    )
    full_text.commit(1)
    question = REPORT
    assert rank(full_text, question, limit=2)[0].path == "shop/alpha.py"
    changes = PastChanges([change("Escape each row once", "shop/omega.py"), change("Rename things", "shop/alpha.py")])
    first, second = rank(full_text, question, limit=2, changes=changes)
    assert first.path == "shop/omega.py" and first.score > first.by_words == pytest.approx(second.by_words)
    # A short question shares words with messages by chance.
    assert rank(full_text, "render does not escape", limit=1, changes=changes)[0].path == "shop/alpha.py"
    # A file that has no word of the question is not found by its history.
    elsewhere = PastChanges([change("Escape each row once", "shop/none.py")])
    assert [file.path for file in rank(full_text, question, limit=3, changes=elsewhere)] == files
    full_text.close()


def commit(root: Path, files: dict[str, str], message: str) -> str:
    for name, text in files.items():
        (root / name).write_text(text)
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", message)
    return git(root, "rev-parse", "HEAD").strip()


@requirement("RNK-11")
async def test_commits_are_read_as_git_has_them(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo", {"a.py": "a = 1\n"})
    commit(
        root, {"a.py": "a = 2\n", "ä b.py": "b = 1\n"}, "Add b\n\nIt was missing.\n\nSigned-off-by: Jo <jo@example.com>"
    )
    head = commit(root, {"a.py": "a = 3\n"}, "Mark\x01 it\n\nBreaks the format.")
    reader = GitReader(root=root, environment=clean_environment)
    marked, added, first = await read_changes(reader, head)
    assert (added.title, set(added.files)) == ("Add b", {"a.py", "ä b.py"})
    assert "missing" in added.body and "Jo" not in added.body
    assert first.title == "first" and marked.files == ()
    changes = PastChangesReader(reader)
    assert set((await changes.up_to(head)).files_like({"missing"}, ())) == {"a.py", "ä b.py"}
    assert await changes.up_to(head) is await changes.up_to(head)
    assert (await changes.up_to(None)).is_known


@requirement("RNK-11")
def test_search_ranks_by_what_earlier_commits_changed(tmp_path: Path) -> None:
    comment = "# Quotes of a row are not lost: escape commas in cells, so that exported ones split."
    text = f"{comment}\ndef render(row, quotes):\n    return escape(row)\n"
    root = make_repo(tmp_path / "repo", {"alpha.py": text, "omega.py": text})
    question = REPORT

    async def body(ask: Ask) -> None:
        assert paths(result(await ask("search", query=question)))[0] == "alpha.py"
        commit(root, {"omega.py": text + "\n"}, "Escape each row once")
        found = result(await ask("search", query=question, fresh="strict"))
        assert paths(found)[0] == "omega.py" and not found.get("partial")
        assert paths(result(await ask("search", query=question, mode="hybrid")))[0] == "omega.py"

    with_plane(root, body)

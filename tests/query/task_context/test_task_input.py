"""What a text says about files: hunks of diffs, places of failures, prose."""

from codeplane.query.task_context.path_finder import PathFinder
from codeplane.query.task_context.task_input import TaskInput, parse_input
from tests.interaction.requirements import requirement

PATHS = ("src/click/core.py", "src/click/utils.py", "tests/test_core.py", "docs/utils.py", "README.md")
BEFORE = b"one\ntwo\nthree\nfour\n"
DIFF = "@@ -1,3 +1,3 @@\n one\n-two\n+zwei\n three\n"


def parsed(text: str, *paths: str, content: bytes | None = None) -> TaskInput:
    return parse_input(text, paths, PathFinder(PATHS), lambda path: content)


@requirement("NXT-01")
def test_lines_of_a_diff_are_counted_as_the_file_is() -> None:
    text = f"--- a/src/click/core.py\n+++ b/src/click/core.py\n{DIFF}"
    assert parsed(text, content=BEFORE).given == {"src/click/core.py": ((2, 2),)}
    longer = "@@ -1,1 +1,3 @@\n one\n+new\n+lines\n"
    made = parsed(f"+++ b/src/click/core.py\n{longer}", content=b"one\nnew\nlines\n")
    assert made.given == {"src/click/core.py": ((2, 2), (3, 3))}


@requirement("NXT-01")
def test_a_diff_without_a_header_is_of_the_only_file_given() -> None:
    task = parsed(f"Say it in German\n{DIFF}Thank you", "src/click/core.py", content=BEFORE)
    assert task.given == {"src/click/core.py": ((2, 2),)}
    assert task.prose == "Say it in German\nThank you" and task.changed_text == "two\nzwei"
    assert parsed(DIFF, content=BEFORE).given == {}


@requirement("NXT-01")
def test_removed_lines_that_look_like_headers_belong_to_their_hunk() -> None:
    task = parsed("--- a/README.md\n+++ b/README.md\n@@ -1,2 +1,1 @@\n title\n--- a rule\nand prose")
    assert task.changed_text == "-- a rule" and task.prose == "and prose"


@requirement("NXT-01")
def test_places_of_failures_in_many_spellings() -> None:
    for line in (
        'File "/usr/lib/python3/site-packages/click/core.py", line 12, in main',
        "src/click/core.py:12: AssertionError",
        "    at main (/app/src/click/core.py:12:5)",
        "C:\\work\\src\\click\\core.py:12",
    ):
        assert parsed(f"panicked at it\n{line}").failed == {"src/click/core.py": ((12, 12),)}, line
    node = parsed("FAILED tests/test_core.py::TestA::test_b - boom")
    assert (node.failed, node.failed_names[0], node.is_failure) == ({"tests/test_core.py": ()}, "test_b", True)


@requirement("NXT-01")
def test_a_name_that_several_files_have_is_none_of_them() -> None:
    finder = PathFinder(PATHS)
    assert finder.find("utils.py") is None
    assert finder.find("click/utils.py") == "src/click/utils.py"
    # The file of that name is in other folders.
    assert finder.find("flask/core.py") is None
    assert finder.find("./core.py") == "src/click/core.py"
    assert finder.find("/") is None


@requirement("NXT-01")
def test_links_pictures_and_comments_of_templates_are_no_prose() -> None:
    task = parsed("Fix it <!-- say why\nyou did --> see https://example.com/a/b.py ![a](b.png) now")
    assert task.prose.split() == ["Fix", "it", "see", "now"]

"""Lines of a diff are told from the names that it begins with."""

from codeplane.edit.line_diff import unified_diff
from codeplane.kernel.file_diff import lines_of_hunks
from tests.interaction.requirements import requirement

pytestmark = requirement("ACP-06")


def test_lines_that_look_like_names_or_hold_other_ends_are_whole() -> None:
    before = "-- a comment of Lua\nlocal a\fb\n@@ odd\n"
    lines = lines_of_hunks(unified_diff("a.lua", before, "++ more\nlocal a\fb\n@@ odd"))
    assert lines[0].startswith("@@ -1,3")
    assert lines[1:] == [
        *("--- a comment of Lua\n", "+++ more\n", " local a\fb\n"),
        *("-@@ odd\n", "+@@ odd\n", "\\ No newline at end of file\n"),
    ]


def test_a_diff_without_hunks_is_empty() -> None:
    assert lines_of_hunks("") == []

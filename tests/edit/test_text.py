"""Texts change where they are edited and nowhere else: bytes, marks, encodings and line ends stay the file's."""

import difflib
import re
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeplane.edit.line_diff import diff_lines, split_lines, unified_diff
from codeplane.edit.nearest_passage import BoundedMatcher
from codeplane.edit.replacements import LineReplacement, line_spans
from codeplane.edit.text import Span, Text
from codeplane.edit.text_match import match_spans
from codeplane.kernel.errors import EditMismatch, InvalidArgument, NotText, TooLarge
from tests.interaction.requirements import requirement

WORDS = st.text(alphabet="ab \té\U0001f600", max_size=6)
LINES = st.lists(st.tuples(WORDS, st.sampled_from(["\n", "\r\n"])), max_size=8)


def written(lines: list[tuple[str, str]], last: str = "") -> str:
    return "".join(line + end for line, end in lines) + last


@requirement("EDT-04")
@given(LINES, WORDS, st.sampled_from(["utf-8", "utf-8-sig", "utf-16-le", "utf-16-be"]))
def test_what_is_not_edited_comes_back_byte_for_byte(lines: list[tuple[str, str]], last: str, encoding: str) -> None:
    marks = {"utf-8-sig": b"", "utf-8": b"", "utf-16-le": b"\xff\xfe", "utf-16-be": b"\xfe\xff"}
    raw = marks[encoding] + written(lines, last).encode(encoding)
    text = Text.of(raw, "a")
    assert text.encode("a") == raw
    assert text.rewrite(text.plain).encode("a") == raw


@requirement("EDT-04")
@given(LINES, WORDS, st.text(alphabet="ab\n", min_size=1, max_size=4), st.text(alphabet="xy\n", max_size=4))
def test_old_and_new_text_are_what_replace_does(lines: list[tuple[str, str]], last: str, old: str, new: str) -> None:
    text = Text(raw=written(lines, last))
    if text.plain.count(old) != 1 or text.plain.find(old) != text.plain.rfind(old):
        return
    (span,) = match_spans(text.plain, old, new, every=False, path="a")
    assert text.replace_spans([span]).plain == text.plain.replace(old, new)


@requirement("EDT-04")
@given(LINES, st.integers(0, 8), st.integers(0, 8), st.text(alphabet="xy\n", max_size=4))
def test_line_ends_outside_an_edit_stay(lines: list[tuple[str, str]], first: int, count: int, new: str) -> None:
    text = Text(raw=written(lines))
    first, end = min(first, len(lines)), min(first + count, len(lines))
    starts = [len(written([(line, "\n") for line, _ in lines[:number]])) for number in range(len(lines) + 1)]
    after = text.replace_spans([Span(start=starts[first], end=starts[end], text=new)]).raw
    assert after.startswith(written(lines[:first]))
    assert after.endswith(written(lines[end:]))


@requirement("EDT-04")
@given(st.lists(WORDS, min_size=1, max_size=8), st.text(alphabet="xy\n", max_size=6))
def test_a_file_of_one_line_end_keeps_it_everywhere(lines: list[str], new: str) -> None:
    text = Text(raw="".join(f"{line}\r\n" for line in lines))
    for after in (text.rewrite(new), text.replace_spans([Span(start=0, end=0, text=new)])):
        assert "\n" not in after.raw.replace("\r\n", "")
    assert text.rewrite(new).plain == new


@requirement("EDT-04")
@given(LINES, LINES)
def test_hunks_lead_from_one_text_to_the_other(before: list[tuple[str, str]], after: list[tuple[str, str]]) -> None:
    old, new = split_lines(written(before)), split_lines(written(after))
    built, at = [], 0
    for hunk in diff_lines(old, new):
        built += [*old[at : hunk.start], *new[hunk.new_start : hunk.new_end]]
        at = hunk.end
    assert built + old[at:] == new


def test_a_mixed_file_keeps_its_mix_and_new_lines_follow_the_line_before() -> None:
    text = Text(raw="a\r\nb\nc\r\n")
    assert text.line_ending == "CRLF"
    assert text.rewrite("a\nb\nx\nc\n").raw == "a\r\nb\nx\nc\r\n"
    assert text.rewrite("a\nx\nb\nc\n").raw == "a\r\nx\r\nb\nc\r\n"


def test_bytes_that_are_not_utf8_stay_and_what_they_cannot_hold_is_refused() -> None:
    text = Text.of(b"caf\xe9 = 1\n", "a")
    (span,) = match_spans(text.plain, "= 1", "= \xfc", every=False, path="a")
    assert text.replace_spans([span]).encode("a") == b"caf\xe9 = \xfc\n"
    with pytest.raises(NotText, match="not UTF-8"):
        text.rewrite("\u20ac").encode("a")
    with pytest.raises(InvalidArgument):
        Text(raw="\ud800").encode("a")
    with pytest.raises(NotText):
        Text.of(b"\0\1\2", "a")


BODY = """\
class A:
    def one(self):
        x = 1\x20\x20
        return x

    def two(self):
        return 2
"""


def replaced(body: str, old: str, new: str, *, every: bool = False) -> str:
    text = Text(raw=body)
    return text.replace_spans(match_spans(text.plain, old, new, every=every, path="a.py")).raw


def test_white_space_at_the_ends_of_lines_is_forgiven() -> None:
    assert replaced(BODY, "x = 1\n        return x\n", "return 1\n").count("        return 1\n") == 1
    assert replaced(BODY, "        x = 1\n        return x", "        return 1").count("        return 1\n") == 1


def test_less_indentation_is_forgiven_and_given_back() -> None:
    after = replaced(BODY, "def two(self):\n    return 2\n", "def two(self):\n    if True:\n        return 3\n")
    assert after.endswith("    def two(self):\n        if True:\n            return 3\n")


def test_more_indentation_is_forgiven_and_taken_away() -> None:
    after = replaced(
        BODY, "        def two(self):\n            return 2", "        def two(self):\n            return 3"
    )
    assert after.endswith("    def two(self):\n        return 3\n")


def test_indentation_that_is_not_shifted_alike_is_not_forgiven() -> None:
    with pytest.raises(EditMismatch, match="not there"):
        replaced(BODY, "def two(self):\nreturn 2\n", "")


def test_a_missing_newline_at_the_end_stays_missing() -> None:
    assert replaced("a\nb", "b\n", "c\n") == "a\nc"
    assert replaced("a\r\nb", "a\nb\n", "c\nd\n") == "c\r\nd"


def test_every_place_on_request() -> None:
    assert replaced("x = x\n", "x", "y", every=True) == "y = y\n"
    with pytest.raises(EditMismatch, match="2 times, at lines 1, 1"):
        replaced("x = x\n", "x", "y")


def test_a_text_that_is_there_twice_shows_both_places() -> None:
    with pytest.raises(EditMismatch) as raised:
        replaced("a = 1\nb = 2\na = 1\n", "a = 1\n", "")
    assert "lines 1, 3" in raised.value.message
    assert raised.value.details["lines"] == [1, 3]
    with pytest.raises(EditMismatch, match="2 times"):
        replaced("  a = 1\nb\n    a = 1\n", "a = 1  \n", "")


def test_a_text_that_is_not_there_shows_what_is_there_now() -> None:
    with pytest.raises(EditMismatch) as raised:
        replaced(BODY, "    def two(self):\n        return 5\n", "")
    assert "nearest is line 6" in raised.value.message
    assert "7:         return 2" in raised.value.message
    with pytest.raises(EditMismatch, match="nearest is line 4"):
        replaced(BODY, "retrun x", "")
    with pytest.raises(EditMismatch, match="the file begins"):
        replaced(BODY, "%%%%", "")
    with pytest.raises(EditMismatch, match="empty"):
        replaced(BODY, "", "x")


METHODS = "".join(
    f"    def step_{name}(self, order):\n        if order is None:\n            return None\n"
    f"        self.log.info('{name}')\n        return self.{name}(order)\n\n"
    for name in ("load", "check", "price", "pack", "send", "bill", "close")
)


@requirement("EDT-04")
@pytest.mark.parametrize(
    "old",
    [
        "    def step_bill(self, ordr):\n        if order is None:\n            return None\n",
        "    def step_bill(self,order):\n        if order is  None:\n            return None\n",
        "        if order is None:\n            return None\n        self.log.info('bil')\n        return self.bil()\n",
        "return self.bil(order)",
        "    def step_bill(self, order):\n        self.log.info('bill')\n        return self.bill(order)\n",
    ],
    ids=["a typo", "other white space", "lines that are everywhere", "one line", "lines left out"],
)
def test_the_nearest_passage_is_the_one_most_alike(old: str) -> None:
    first = METHODS[: METHODS.index("    def step_bill")].count("\n") + 1
    with pytest.raises(EditMismatch) as raised:
        replaced(METHODS, old, "")
    line = raised.value.details["nearest_line"]
    assert isinstance(line, int) and first <= line < first + 5
    assert f"nearest is line {line}, which now reads" in raised.value.message
    assert "self.log.info('bill')" in raised.value.message


@requirement("EDT-04")
def test_a_piece_of_a_long_line_is_found_in_it() -> None:
    body = "".join(f"total_{at} = add(first={at}, second={at + 1})  # the sum of both, in cents\n" for at in range(50))
    with pytest.raises(EditMismatch, match="nearest is line 38, which now reads"):
        replaced(body, "add(frist=37, second=38)", "")


def test_what_a_mismatch_shows_is_bounded() -> None:
    with pytest.raises(EditMismatch) as raised:
        replaced("word " * 10_000 + "\n" + "line\n" * 5_000, "line\nlime\n" * 3_000, "")
    assert len(raised.value.message) < 4000


def by_lines(body: str, *patches: tuple[int, int, str]) -> str:
    text = Text(raw=body)
    wanted = [LineReplacement(start=start, end=end, text=new) for start, end, new in patches]
    return text.replace_spans(line_spans(text.plain, wanted, path="a")).raw


def test_lines_are_replaced_inserted_and_taken_out() -> None:
    assert by_lines("a\nb\nc\n", (2, 2, "x")) == "a\nx\nc\n"
    assert by_lines("a\nb\nc\n", (2, 1, "x\ny\n"), (3, 3, "")) == "a\nx\ny\nb\n"
    assert by_lines("a\nb\nc\n", (4, 3, "d")) == "a\nb\nc\nd\n"
    assert by_lines("a\r\nb\r\n", (1, 1, "x\ny")) == "x\r\ny\r\nb\r\n"
    assert by_lines("", (1, 0, "x")) == "x\n"
    assert by_lines("a\nb", (2, 2, "c\n")) == "a\nc"
    assert by_lines("a\nb", (3, 2, "c\n")) == "a\nb\nc"


@pytest.mark.parametrize("patch", [(0, 1, ""), (1, 4, ""), (5, 4, "x"), (3, 1, "x"), (-1, -1, "x")])
def test_lines_that_are_not_there_are_refused(patch: tuple[int, int, str]) -> None:
    with pytest.raises(EditMismatch, match="has 3 lines"):
        by_lines("a\nb\nc\n", patch)


@pytest.mark.parametrize(
    "patches", [[(1, 2, "x"), (2, 3, "y")], [(1, 3, "x"), (2, 1, "y")], [(2, 1, "x"), (2, 1, "y")]]
)
def test_lines_that_overlap_are_refused(patches: list[tuple[int, int, str]]) -> None:
    with pytest.raises(EditMismatch, match="overlap"):
        by_lines("a\nb\nc\n", *patches)


def test_a_diff_says_what_git_says_of_a_missing_newline() -> None:
    found = unified_diff("a", "x\ny", "x\nz\n")
    assert found.startswith("--- a/a\n+++ b/a\n")
    assert "-y\n\\ No newline at end of file\n+z\n" in found
    assert unified_diff("a", None, "x\n").startswith("--- /dev/null\n+++ b/a\n")


MANY = 100_000


def test_a_text_that_is_there_very_often_is_counted_and_its_first_places_are_named() -> None:
    with pytest.raises(EditMismatch, match=f"there {MANY} times, at lines 1, 2, 3") as raised:
        replaced("x = 1 # padding\n" * MANY, "x = 1", "y")
    assert raised.value.details["lines"] == list(range(1, 101))
    with pytest.raises(EditMismatch, match=f"there {MANY} times, at lines 1, 1, 1"):
        replaced("ab" * MANY, "b", "y")
    with pytest.raises(EditMismatch, match=f"there {MANY} times, at lines 2, 4, 6") as raised:
        replaced("\n  x = 1\n" * MANY, "x = 1 \n", "y\n")
    assert raised.value.details["lines"] == list(range(2, 201, 2))


def test_very_many_places_are_replaced_at_once() -> None:
    body = "x = 1 # padding\n" * MANY
    assert replaced(body, "x = 1", "yy", every=True) == body.replace("x = 1", "yy")
    assert replaced("h\r\n" + "ab" * MANY, "b", "\n", every=True) == "h\r\n" + "a\r\n" * MANY
    assert replaced("    x = 1\n" * MANY, "x = 1 \n", "y\n", every=True) == "    y\n" * MANY
    patches = [(number * 4 + 1, number * 4 + 2, "new") for number in range(MANY // 4)]
    assert by_lines(body, *patches) == ("new\n" + "x = 1 # padding\n" * 2) * (MANY // 4)


def test_more_places_or_more_text_than_a_file_can_hold_is_refused() -> None:
    with pytest.raises(TooLarge, match="300,000 times") as raised:
        replaced("ab" * 300_000, "b", "c", every=True)
    assert raised.value.details == {"limit_places": 250_000}
    with pytest.raises(TooLarge, match="in 10,000 places would be 100,000,000 characters"):
        replaced("x\n" * 10_000, "x", "y" * 10_000, every=True)
    with pytest.raises(TooLarge, match="in 1 place "):
        replaced(" " * 100_000 + "x = 1 \n", "x = 1\n", "y\n" * 1_000)


def test_a_long_text_that_nearly_fits_everywhere_is_not_there() -> None:
    with pytest.raises(EditMismatch, match="old_text is not there; nearest is line"):
        replaced("    x = 1\n" * 120_000, "x = 1 \n" * 70_000 + "z\n", "")
    assert replaced("    x = 1\n" * 70_000 + "    z\n", "x = 1 \n" * 9_000 + "z\n", "y\n").endswith("x = 1\n    y\n")


def test_a_long_text_that_only_white_space_keeps_from_fitting_everywhere_is_given_up() -> None:
    with pytest.raises(EditMismatch, match="too large to be searched for with other white space") as raised:
        replaced("    x = 1\n" * 120_000, "x = 1\n" * 70_000 + " x = 1\n", "")
    assert "exactly as they are in the file" in raised.value.hint


def test_a_placeholder_in_the_old_text_is_explained() -> None:
    with pytest.raises(EditMismatch) as raised:
        replaced("host = 1\ntoken = hidden\n", "token = [redacted]\n", "token = read()\n")
    assert raised.value.hint.startswith("[redacted] is a placeholder for something that is not shown")
    # Where it is in the file itself, it hides nothing.
    with pytest.raises(EditMismatch) as raised:
        replaced("token = '[redacted]'\n", "token = [redacted]\n", "token = read()\n")
    assert raised.value.hint == EditMismatch.default_hint


@given(
    st.lists(st.sampled_from(["a", "b"]), max_size=12), st.lists(st.sampled_from(["a", "b"]), min_size=1, max_size=4)
)
def test_forgiven_places_are_those_of_a_plain_search(lines: list[str], wanted: list[str]) -> None:
    body, old = "".join(f"  {line}\n" for line in lines), "".join(f"{line} \n" for line in wanted)
    exact = "".join(f"  {line}\n" for line in wanted)
    if exact in body:
        assert replaced(body, old, "y\n", every=True) == body.replace(exact, "  y\n")
    else:
        with pytest.raises(EditMismatch, match="not there"):
            replaced(body, old, "y\n", every=True)


@requirement("EDT-04")
def test_the_nearest_place_is_found_far_down_and_in_large_files_by_whole_lines() -> None:
    lines = [f"value_{number} = {number}\n" for number in range(60_000)]
    with pytest.raises(EditMismatch, match="nearest is line 50001"):
        replaced("".join(lines), "value_50000 = 50000\nvalue = 1\n", "")
    with pytest.raises(EditMismatch, match="nearest is line 50001"):
        replaced("".join(lines), "valve_50000 = 50000\n", "")
    long = [f"value_{number} = {number}  # {'.' * 40}\n" for number in range(60_000)]
    with pytest.raises(EditMismatch, match="nearest is line 50001"):
        replaced("".join(long), f"{long[50_000]}value = 1\n", "")
    with pytest.raises(EditMismatch, match="the file begins"):
        replaced("".join(long), "valve_50000 = 50000\n", "")
    anagrams = "".join(f"{'ab' * (number % 90)}{'ba' * (90 - number % 90)}{number % 7}\n" for number in range(1_000))
    with pytest.raises(EditMismatch, match="old_text is not there"):
        replaced(anagrams, "aab" * 30 + "bba" * 30, "")


def test_repeated_lines_are_compared_in_bounded_steps() -> None:
    old, new = ["a\n", "b\n"] * 999 + ["c\n"], ["b\n", "a\n", "a\n"] * 665 + ["d\n"]
    built, at = [], 0
    for hunk in diff_lines(old, new):
        built += [*old[at : hunk.start], *new[hunk.new_start : hunk.new_end]]
        at = hunk.end
    assert built + old[at:] == new
    matcher = BoundedMatcher([1, 2] * 500, [2, 1, 1] * 300, steps=10)
    assert [tag for tag, *_ in matcher.get_opcodes()] == ["replace"]
    assert matcher.steps < 0


def applied(old: list[str], diff: str) -> list[str]:
    """The lines that a unified diff makes of others; every line of its context and deletions has to be there."""
    built, at = [], 0
    for line in diff.splitlines(keepends=True)[2:]:
        if header := re.fullmatch(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@\n", line):
            start, count = int(header[1]), int(header[2] or 1)
            first = start - (count > 0)
            built += old[at:first]
            at = first
            assert len(built) == int(header[3]) - (int(header[4] or 1) > 0)
        elif line.startswith("+"):
            built.append(line[1:])
        else:
            assert line[1:] == old[at]
            built += [line[1:]] if line.startswith(" ") else []
            at += 1
    return built + old[at:]


@given(LINES, LINES)
def test_a_diff_leads_from_one_text_to_the_other(before: list[tuple[str, str]], after: list[tuple[str, str]]) -> None:
    old, new = split_lines(written(before)), split_lines(written(after))
    diff = unified_diff("a", written(before), written(after))
    assert applied(old, diff) == new
    assert diff == "" if old == new else diff.startswith("--- a/a\n+++ b/a\n@@ -")


EDITED = st.lists(st.tuples(st.integers(0, 60), st.sampled_from(["new\n", "other\n", None])), max_size=6)


@given(EDITED)
def test_a_diff_is_what_git_and_difflib_say_of_a_few_edits(edits: list[tuple[int, str | None]]) -> None:
    old = [f"line {number}\n" for number in range(60)]
    new = list(old)
    for at, line in sorted(edits, key=lambda edit: -edit[0]):
        new[at : at + (line is None)] = [line] if line is not None else []
    diff = unified_diff("a", "".join(old), "".join(new))
    assert diff == "".join(difflib.unified_diff(old, new, "a/a", "b/a"))
    assert applied(old, diff) == new


def test_a_diff_is_what_git_prints(tmp_path: Path) -> None:
    old = [f"line {number % 40}\n" for number in range(900)]
    new = [*old[:100], "a\n", "b\n", *old[103:400], *old[410:700], *old[690:]]
    for name, lines in (("old", old), ("new", new)):
        (tmp_path / name).write_text("".join(lines))
    command = ["git", "diff", "--no-index", "--no-color", "--no-indent-heuristic", "old", "new"]
    printed = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False).stdout
    hunks = re.sub(r"(?m)^(@@ .* @@) .*$", r"\1", printed[printed.index("@@") :])
    assert unified_diff("a", "".join(old), "".join(new)) == f"--- a/a\n+++ b/a\n{hunks}"


def test_scattered_edits_in_repeated_lines_are_found_one_by_one() -> None:
    old = [f"line {number % 700}\n" for number in range(1_900)]
    new = [f"changed {number}\n" if number % 19 == 0 else line for number, line in enumerate(old)]
    hunks = diff_lines(old, new)
    assert sum(hunk.insertions for hunk in hunks) == sum(hunk.deletions for hunk in hunks) == 100


def test_a_diff_of_too_much_only_counts() -> None:
    many = "".join(f"{number}\n" for number in range(3_000))
    assert unified_diff("a", None, many) == "--- /dev/null\n+++ b/a\n@@ too many lines to show: 0 go, 3000 come @@\n"
    assert "too many lines to compare: 5000 → 5000" in unified_diff("a", "x\n" * 5_000, "y\n" * 5_000)
    assert "too large to compare: 3000000 → 3000000 characters" in unified_diff("a", "x" * 3_000_000, "y" * 3_000_000)
    assert "-5\n+x\n" in unified_diff("a", many, many.replace("\n5\n", "\nx\n"))

"""Paths of grants: what they reach, and every way around that does not."""

import os
import unicodedata
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from codeplane.trust.capabilities.path_scope import PathScope, UnsafePath, check_pattern, link_resolver
from tests.interaction.requirements import requirement

pytestmark = requirement("TRUST-26")


REACHED = [
    ("src/**", "src/a.py"), ("src/**", "src/a/b/c.py"), ("src/*", "src/a.py"), ("src", "src/a/b.py"), ("src/", "src/x"),
    ("src", "src"), ("README.md", "README.md"), ("*.md", "README.md"), ("**/*.md", "docs/a/b.md"), ("**/*.md", "x.md"),
    ("docs/**/x.txt", "docs/x.txt"), ("docs/**/x.txt", "docs/a/b/x.txt"), ("a?c", "abc"), ("./src/**", "src/a"),
    ("src/**", "./src//a"), ("/workspace/*", "any/where/at/all"), ("/workspace", "x"), ("/workspace/**", "x/y"),
    ("/workspace/src/*", "src/a"), (".", "x/y"), ("**", "x"), ("src/*/", "src/a/b/c"), ("caf\u00e9/**", "cafe\u0301/x"),
    ("cafe\u0301/**", "caf\u00e9/x"), ("a*b*c", "aXbYc"), ("src/**", "src/.hidden"), ("src/**", "src/a:b"),
    ("src/**", "src/a b "), ("*", "anything"),
]  # fmt: skip
REFUSED = [
    ("src/**", "secrets/a"), ("src/*", "src/a/b.py"), ("src", "srcx/a"), ("src/**", "Src/a"), ("src/**", "SRC/a"),
    ("*.md", "docs/a.md"), ("src/**", "src/../secrets/a"), ("src/**", "../src/a"), ("src/**", "src/.. /x"),
    ("src/**", "src\\..\\x"), ("src/**", "src\\a"), ("src/**", "/src/a"), ("src/**", "src/\0a"), ("src/**", "C:/src/a"),
    ("src/**", "src./a"), ("src/**", "src /a"), ("src/**", "sr\u200bc/a"), ("src/**", "\uff53rc/a"), ("src/**", ""),
    ("src/**", "."), ("src/**", "src/..."), ("src/**", "src/ "), ("src/**", "src/:x"), ("*.md", "key.pem:.md"),
    ("*.md", "key.pem:x.md"), ("src/**", "s\u0433c/a"), ("src/**", "a" * 5000), ("docs/x?", "docs/x"),
    ("src/**", "src:x/a"), ("a*", "b"), ("a?", "a/"), ("/etc/*", "etc/passwd"), ("../**", "x"), ("src/[a-z]", "src/a"),
    ("", "x"), ("src\\*", "src/a"),
]  # fmt: skip


@pytest.mark.parametrize(("pattern", "path"), REACHED, ids=repr)
def test_what_a_pattern_reaches(pattern: str, path: str) -> None:
    assert PathScope([pattern]).covers(path)


@pytest.mark.parametrize(("pattern", "path"), REFUSED, ids=repr)
def test_what_it_does_not(pattern: str, path: str) -> None:
    assert not PathScope([pattern]).covers(path)


def test_a_list_that_was_not_given_is_everywhere_and_an_empty_one_nowhere() -> None:
    assert PathScope(None).covers("x")
    assert PathScope(None).is_everywhere
    assert not PathScope([]).covers("x")
    assert not PathScope([]).is_everywhere


def test_case_counts_unless_the_disk_ignores_it() -> None:
    assert PathScope(["Src/**"], ignore_case=True).covers("sRC/a")
    assert not PathScope(["Src/**"]).covers("sRC/a")


@pytest.mark.parametrize(
    "pattern", ["", "/etc", "/", "..", "a/../b", "a\\b", "a\0", "C:/x", "[a]", "{a,b}", "x" * 501, ".. /a", "..."]
)
def test_patterns_that_nobody_can_mean_are_refused_with_the_reason(pattern: str) -> None:
    with pytest.raises(UnsafePath):
        check_pattern(pattern)


@pytest.mark.parametrize("pattern", [pattern for pattern, _ in REACHED])
def test_the_others_are_taken(pattern: str) -> None:
    check_pattern(pattern)


def test_one_bad_pattern_does_not_widen_or_end_the_others() -> None:
    scope = PathScope(["/etc/**", "src/**"])
    assert scope.covers("src/a")
    assert not scope.covers("etc/a")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "repo"
    (root / "src").mkdir(parents=True)
    (root / "secrets").mkdir()
    (tmp_path / "outside").mkdir()
    (root / "src/in").symlink_to("sub")
    (root / "src/sub").mkdir()
    (root / "src/across").symlink_to("../secrets")
    (root / "src/out").symlink_to(tmp_path / "outside")
    (root / "src/up").symlink_to("..")
    (root / "src/loop").symlink_to("loop")
    (root / "src/file").symlink_to("../secrets/key")
    (root / "src/dangling").symlink_to("/nowhere/at/all")
    (root / "elsewhere").symlink_to("src")
    return root


@pytest.mark.parametrize("path", ["src/a", "src/in/x", "src/new/deep/x"])
def test_links_within_are_followed(tree: Path, path: str) -> None:
    assert PathScope(["src/**"]).covers(path, link_resolver(tree))


@pytest.mark.parametrize(
    "path",
    ["src/across/key", "src/out/x", "src/up/secrets/key", "src/up/up/x", "src/file", "src/dangling", "src/dangling/x",
     "elsewhere/a", "src/across", "src/out"],
)  # fmt: skip
def test_links_that_lead_out_are_not(tree: Path, path: str) -> None:
    assert not PathScope(["src/**"]).covers(path, link_resolver(tree))


def test_a_root_that_is_itself_reached_by_a_link_is_no_trick(tree: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tree)
    assert PathScope(["src/**"]).covers("src/a", link_resolver(tmp_path / "link"))
    assert not PathScope(["src/**"]).covers("src/across/a", link_resolver(tmp_path / "link"))


def test_whoever_cannot_be_asked_where_a_path_leads_refuses() -> None:
    def broken(path: str) -> str | None:
        raise OSError("no such disk")

    assert not PathScope(["src/**"]).covers("src/a", broken)
    assert not PathScope(["src/**"]).covers("src/a", lambda path: None)
    assert not PathScope(["src/**"]).covers("src/a", lambda path: "../x")


PART = st.text(alphabet="abAB._ -:*?/\\\u00e9e\u0301\u200b\0~", max_size=8)
PATHS = st.lists(PART, min_size=1, max_size=5).map("/".join)


@given(PATHS)
def test_what_is_covered_stays_below_the_folder_on_every_disk(path: str) -> None:
    assume(PathScope(["src/**"]).covers(f"src/{path}"))
    for read in (
        str,
        str.casefold,
        lambda text: unicodedata.normalize("NFD", text),
        lambda text: text.replace("\\", "/"),
    ):
        assert os.path.normpath(read(f"src/{path}")).split("/")[0] == "src"
    stripped = "/".join(part.rstrip(". ") for part in f"src/{path}".split("/") if part != ".")
    assert os.path.normpath(stripped).split("/")[0] == "src"


@given(PATHS)
def test_nothing_outside_is_covered_however_it_is_written(path: str) -> None:
    scope = PathScope(["src/only/**"])
    if scope.covers(path):
        parts = [part for part in path.split("/") if part not in ("", ".")]
        assert parts[:2] == ["src", "only"]


@given(
    st.lists(st.sampled_from(["a", "b", "*", "**", "?", "ab", "a*"]), min_size=1, max_size=4),
    st.lists(st.sampled_from(["a", "b", "ab", "ba"]), min_size=1, max_size=5),
)
def test_globs_agree_with_a_plain_definition(pattern: list[str], path: list[str]) -> None:
    def fits(glob: str, name: str) -> bool:
        if not glob:
            return not name
        if glob[0] == "*":
            return fits(glob[1:], name) or (bool(name) and fits(glob, name[1:]))
        return bool(name) and glob[0] in (name[0], "?") and fits(glob[1:], name[1:])

    def spans(globs: list[str], names: list[str]) -> bool:
        if not globs:
            return not names
        if globs[0] == "**":
            return spans(globs[1:], names) or (bool(names) and spans(globs, names[1:]))
        return bool(names) and fits(globs[0], names[0]) and spans(globs[1:], names[1:])

    whole = pattern if set(pattern[-1]) & set("*?") else [*pattern, "**"]
    assert PathScope(["/".join(pattern)]).covers("/".join(path)) == spans(whole, path)


def test_no_pattern_explodes() -> None:
    assert not PathScope(["a*" * 200 + "b"]).covers("a" * 4000)
    assert not PathScope(["**/a/" * 90 + "b"]).covers("a/" * 2000 + "c")

"""All contexts of a repository, as the index uses them."""

import pytest

from tests.index.contexts.tree import BAD, GOOD, Tree
from tests.interaction.requirements import requirement

REPO: dict[str, str | bytes | None] = {
    "a/go.mod": "",
    "a/main.go": GOOD,
    "a/long/name.go": GOOD,
    "b/go.mod": "",
    "b/main.go": BAD,
    "c/go.mod": "",
    "d/go.mod": "",
    "d/x.go": GOOD,
    "README.md": GOOD,
}


@requirement("CTX-08")
def test_ids_say_family_and_root_and_stay_when_others_come() -> None:
    before = [each.id for each in Tree(REPO).contexts().valid()]
    after = [each.id for each in Tree({**REPO, "0/go.mod": "", "0/x.go": GOOD}).contexts().valid()]
    assert before == ["go:a", "go:d", "markdown:."]
    assert after == ["go:0", *before]


@requirement("CTX-08")
def test_a_family_has_one_context_several_or_none() -> None:
    contexts = Tree(REPO).contexts()
    assert [contexts.mode_of(family) for family in ("go", "markdown", "rust")] == ["multiple", "single", "none"]


@requirement("CTX-08")
@pytest.mark.parametrize(
    "path",
    [
        "new/go.mod",
        "a/go.mod",
        "x/All.sln",
        "x/.mvn/jvm.config",
        ".codeplane/contexts.yaml",
        "a/main.go",  # what made it valid
        "a/b.go",  # would have been looked at before
        "b/other.go",  # can mend what failed
        "c/first.go",  # fills what was empty
        "new.sql",
    ],
)
def test_changes_that_can_move_a_context_are_noticed(path: str) -> None:
    assert Tree(REPO).contexts().may_change(["a/long/name.go", path])


@requirement("CTX-08")
@pytest.mark.parametrize("path", ["a/long/name.go", "a/long/new.go", "x.c", "top.go", "node_modules/x/package.json"])
def test_changes_that_cannot_are_not(path: str) -> None:
    assert not Tree(REPO).contexts().may_change([path])


def test_nothing_changed_is_no_change() -> None:
    assert not Tree(REPO).contexts().may_change([])


def test_an_empty_repository_has_no_valid_context() -> None:
    contexts = Tree({}).contexts()
    assert contexts.valid() == () and contexts.router.assign([]) == {}

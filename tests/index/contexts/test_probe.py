"""What a look at a few files makes of a candidate."""

from collections.abc import Mapping

import pytest

from codeplane.index.contexts.candidate import Context
from codeplane.index.contexts.probe import LARGE_BYTES, ParseCheck, passes
from tests.index.contexts.tree import BAD, COMMENT, GOOD, Tree
from tests.interaction.requirements import requirement


def only(tree: Tree, family: str, root: str = "") -> Context:
    return next(each for each in tree.contexts().all if (each.family, each.root) == (family, root))


def go(files: Mapping[str, bytes | None]) -> tuple[Context, list[str]]:
    tree = Tree({"go.mod": b"", **files})
    return only(tree, "go"), [path for path in tree.parsed if path.endswith(".go")]


@requirement("CTX-05")
def test_one_good_file_makes_a_context_valid_and_ends_the_probe() -> None:
    context, parsed = go({"b.go": BAD, "aa.go": GOOD, "deep/er.go": GOOD})
    assert (context.status, context.reason) == ("valid", "")
    assert parsed == ["b.go", "aa.go"]


@requirement("CTX-05")
def test_no_good_file_among_five_fails_it_and_says_which() -> None:
    context, parsed = go({**{f"{name}.go": BAD for name in "edcbaf"}, "longer.go": GOOD})
    assert context.status == "failed"
    assert parsed == ["a.go", "b.go", "c.go", "d.go", "e.go"]
    assert "none of 5 sampled files parses: a.go, b.go" in context.reason


@requirement("CTX-05")
def test_no_file_of_the_family_makes_it_empty() -> None:
    assert go({"x.py": GOOD})[0].status == "empty"


@requirement("CTX-05")
def test_files_of_inner_roots_and_excluded_folders_are_not_its_own() -> None:
    tree = Tree({"go.mod": "", "in/go.mod": "", "in/a.go": GOOD, "vendor/b.go": GOOD})
    assert only(tree, "go").status == "empty"
    assert only(tree, "go", "in").status == "valid"


def test_a_detached_one_is_not_looked_at() -> None:
    tree = Tree({"go.work": "use ./a", "b/go.mod": "", "b/x.go": GOOD})
    context = only(tree, "go", "b")
    assert context.status == "detached" and "go.work" in context.reason
    assert "b/x.go" not in tree.parsed


def test_a_file_without_a_grammar_is_held_against_nobody() -> None:
    assert only(Tree({"x.nogrammar.sql": BAD}), "sql").status == "valid"


def test_empty_and_large_files_are_passed_over_while_there_are_others() -> None:
    large = GOOD + b" " * LARGE_BYTES
    files = {f"{at}.go": b"\n" for at in range(8)} | {"9.go": large, "last.go": GOOD}
    context, parsed = go(files)
    assert context.status == "valid" and parsed == ["last.go"]


def test_a_large_file_is_parsed_when_there_is_nothing_else() -> None:
    context, parsed = go({"a.go": GOOD + b" " * LARGE_BYTES})
    assert context.status == "valid" and parsed == ["a.go"]


def test_empty_files_alone_fail() -> None:
    assert go({"a.go": b"", "b.go": b" \n"})[0].status == "failed"


def test_files_that_cannot_be_read_fail() -> None:
    context, parsed = go({"a.go": None})
    assert (context.status, context.reason, parsed) == ("failed", "no file could be read", [])


def test_comments_alone_are_no_code_but_are_data() -> None:
    assert go({"a.go": COMMENT})[0].status == "failed"
    assert only(Tree({"a.sql": COMMENT}), "sql").status == "valid"


@pytest.mark.parametrize(
    ("nodes", "errors", "has_content", "code", "data"),
    [
        (10, 0, True, True, True),
        (100, 9, True, True, False),
        (100, 10, True, False, False),
        (100, 0, False, False, True),
        (1, 0, False, False, False),
        (0, 0, True, True, False),
    ],
)
def test_what_passes(nodes: int, errors: int, has_content: bool, code: bool, data: bool) -> None:
    check = ParseCheck(nodes=nodes, errors=errors, has_content=has_content)
    assert (passes(check, code=True), passes(check, code=False)) == (code, data)


def test_a_context_keeps_what_discovery_had_to_say() -> None:
    context = only(Tree({"package.json": "{", "a.js": GOOD}), "javascript")
    assert context.status == "valid" and "package.json" in context.reason

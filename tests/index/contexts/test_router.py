"""Which context a file belongs to."""

from collections.abc import Mapping
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pathspec import GitIgnoreSpec

from codeplane.index.contexts.candidate import Context, is_inside, relative
from codeplane.index.contexts.contexts import Contexts
from codeplane.index.contexts.family import families_of
from codeplane.index.contexts.router import Router
from codeplane.index.files.ignore import as_text
from codeplane.kernel.errors import IndexNotReady
from tests.index.contexts.tree import BAD, GOOD, Tree
from tests.interaction.requirements import requirement

REPO: dict[str, str | bytes | None] = {
    "package.json": '{"workspaces": ["apps/*"]}',
    "index.js": GOOD,
    "apps/web/package.json": "{}",
    "apps/web/a.ts": GOOD,
    "apps/web-old/b.ts": GOOD,
    "tools/package.json": "{}",
    "tools/t.js": GOOD,
    "pyproject.toml": "",
    "setup.py": GOOD,
    "broken/setup.cfg": "",
    "broken/x.py": BAD,
    "web/[slug]/package.json": "{}",
    "docker-compose.yml": GOOD,
    "build/gen.py": GOOD,
    "main.c": GOOD,
    "a.rb": GOOD,
}


@requirement("CTX-06")
def test_the_deepest_valid_context_owns_a_file() -> None:
    router = Tree(REPO).contexts().router
    owner = router.context_of("apps/web/deep/x.tsx", "javascript")
    assert owner is not None and owner.id == "javascript:apps/web"
    beside = router.context_of("apps/web-old/b.ts", "javascript")
    assert beside is not None and beside.id == "javascript:."


@requirement("CTX-06")
def test_nobody_owns_what_is_detached_failed_excluded_or_of_another_family() -> None:
    router = Tree(REPO).contexts().router
    assert router.context_of("tools/t.js", "javascript") is None
    assert router.context_of("broken/x.py", "python") is None
    assert router.context_of("build/gen.py", "python") is None
    assert router.context_of("a.rb", "ruby") is None
    assert router.context_of("index.js", "python") is None
    assert router.context_of("index.js", "no such family") is None


@requirement("CTX-06")
def test_two_families_each_have_their_owner() -> None:
    router = Tree(REPO).contexts().router
    docker, data = (router.context_of("docker-compose.yml", family) for family in ("docker", "json_yaml"))
    assert docker is not None and data is not None
    assert (docker.id, data.id) == ("docker:.", "json_yaml:.")


@requirement("CTX-06")
def test_every_file_has_a_home_and_those_nobody_owns_the_fallback() -> None:
    router = Tree(REPO).contexts().router
    assigned = router.assign(REPO)
    assert set(assigned) == set(REPO)
    assert assigned["tools/t.js"] == "javascript"
    assert assigned["broken/x.py"] == assigned["build/gen.py"] == "python"
    assert assigned["a.rb"] == "ruby"
    assert assigned["main.c"] == "none"
    assert assigned["setup.py"] == "python:."
    assert router.home_of("tools/t.js").family == "javascript"
    assert router.home_of("main.c").family is None


def test_nothing_is_answered_before_everything_is_probed() -> None:
    contexts = Tree(REPO).contexts().all
    router = Router((*contexts[:-1], replace(contexts[-1], status="pending")))
    assert not router.is_ready
    for ask in (
        lambda: router.context_of("setup.py", "python"),
        lambda: router.home_of("setup.py"),
        lambda: router.assign([]),
    ):
        with pytest.raises(IndexNotReady):
            ask()
    assert Router(contexts).is_ready


NAMES = st.sampled_from(["a", "ab", "[a]", "a b", "ü", "*", "build", "vendor", "{x}", "!n", "\udcff"])
FILES = st.sampled_from(
    ["package.json", "go.mod", "go.work", "setup.py", "x.go", "y.py", "z.ts", "Dockerfile", "docker-compose.yml", "c.c"]
)
PATHS = st.builds(lambda folders, name: "/".join((*folders, name)), st.lists(NAMES, max_size=4), FILES)
CONTENTS = st.sampled_from([GOOD, BAD, b"", b'{"workspaces": ["a/*", "[a]"]}', b"use ./a", b"use (a/ab"])
TREES = st.dictionaries(PATHS, CONTENTS, max_size=25)


def spelled(contexts: tuple[Context, ...], path: str, family: str) -> Context | None:
    """The router as the specification spells it, with the globs of each context."""
    mine = [each for each in contexts if each.family == family and each.status == "valid"]
    for context in sorted(mine, key=lambda each: len(each.root), reverse=True):
        if not is_inside(path, context.root):
            continue
        inner = as_text(relative(path, context.root))
        if GitIgnoreSpec.from_lines(map(as_text, context.exclude)).match_file(inner):
            continue
        if GitIgnoreSpec.from_lines(context.include).match_file(inner):
            return context
    return None


@settings(max_examples=150, deadline=None)
@given(TREES)
def test_answers_are_those_of_the_globs(files: Mapping[str, bytes]) -> None:
    contexts = Tree(files).contexts()
    assigned = contexts.router.assign(files)
    for path in files:
        for family in (*families_of(path), "rust"):
            assert contexts.router.context_of(path, family) == spelled(contexts.all, path, family)
        assert assigned[path] == contexts.router.home_of(path).id


@settings(max_examples=100, deadline=None)
@given(TREES, st.randoms(use_true_random=False))
def test_the_order_of_the_paths_changes_nothing(files: Mapping[str, bytes], random: Random) -> None:
    tree = Tree(files)
    shuffled = [*files, *list(files)[:3]]
    random.shuffle(shuffled)
    again = Contexts.discover(shuffled, tree.read, tree.parse)
    assert again.all == tree.contexts().all
    assert again.router.assign(files) == tree.contexts().router.assign(files)


@settings(max_examples=150, deadline=None)
@given(TREES, PATHS, st.one_of(st.none(), CONTENTS))
def test_a_change_that_needs_no_discovery_changes_no_home(
    files: Mapping[str, bytes], path: str, content: bytes | None
) -> None:
    before = Tree(files).contexts()
    after = {**files, path: content or b""}
    if content is None:
        after.pop(path)
    if not before.may_change([path]):
        assert before.router.assign(after) == Tree(after).contexts().router.assign(after)

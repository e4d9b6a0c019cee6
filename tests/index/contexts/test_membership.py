"""What is punched out of a context."""

import pytest
from pathspec import GitIgnoreSpec

from codeplane.index.contexts.candidate import Candidate, is_inside
from codeplane.index.contexts.membership import UNIVERSAL_GLOBS, Territory, escape, exclude_specs
from tests.interaction.requirements import requirement


def roots(*names: str, family: str = "python") -> list[Candidate]:
    return [Candidate(family=family, root=name, tier=2) for name in names]


@requirement("CTX-04")
def test_a_root_punches_itself_out_of_every_root_around_it() -> None:
    specs = exclude_specs(roots("", "apps", "apps/api", "appsy"))
    assert specs["python", ""] == (*UNIVERSAL_GLOBS, "apps/**", "apps/api/**", "appsy/**")
    assert specs["python", "apps"] == (*UNIVERSAL_GLOBS, "api/**")
    assert specs["python", "apps/api"] == UNIVERSAL_GLOBS


@requirement("CTX-04")
def test_another_familys_roots_punch_nothing() -> None:
    specs = exclude_specs([*roots(""), *roots("web", family="javascript")])
    assert specs["python", ""] == UNIVERSAL_GLOBS


@requirement("CTX-04")
def test_detached_roots_punch_too() -> None:
    detached = Candidate(family="go", root="x", tier=2, status="detached", reason="not listed")
    specs = exclude_specs([*roots("", family="go"), detached])
    assert "x/**" in specs["go", ""]


@requirement("CTX-04")
@pytest.mark.parametrize("name", ["[slug]", "a*", "b?", "!c", "#d", "e f ", "ü/[...x]", "back\\slash", "(group)"])
def test_odd_names_mean_only_themselves(name: str) -> None:
    spec = GitIgnoreSpec.from_lines([f"{escape(name)}/**"])
    assert spec.match_file(f"{name}/x.py")
    assert not any(spec.match_file(f"{other}/x.py") for other in ("s", "ab", "bx", "c", "d", "e f", "ü/x", "group"))


def test_inside_is_by_whole_segments() -> None:
    assert is_inside("a/b.py", "a") and is_inside("a", "a") and is_inside("x", "")
    assert not is_inside("ab/c.py", "a") and not is_inside("a", "a/b")


def test_the_deepest_root_has_a_folder_unless_it_is_excluded() -> None:
    territory = Territory([("go", ""), ("go", "a/b"), ("go", "vendor/mine")])
    assert territory.root_of("a/b/c", "go") == "a/b"
    assert territory.root_of("a/bc", "go") == ""
    assert territory.root_of("a/b/vendor/x", "go") is None
    assert territory.root_of("vendor", "go") is None
    assert territory.root_of("vendor/mine/x", "go") == "vendor/mine"
    assert territory.root_of("a/b", "rust") is None
    assert territory.root_of("/".join("x" * 5000), "go") == ""

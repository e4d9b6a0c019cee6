"""The table of families."""

import pytest

from codeplane.code.languages.project_family import Family
from codeplane.code.languages.registry import PROJECT_FAMILIES
from codeplane.index.contexts.family import families_of, family_of, family_of_language
from tests.interaction.requirements import requirement

NAMES = """javascript python go rust jvm dotnet ruby php swift elixir haskell terraform sql docker markdown json_yaml
protobuf graphql config"""


@requirement("CTX-01")
def test_the_names_are_the_closed_list() -> None:
    assert sorted(family.name for family in PROJECT_FAMILIES) == sorted(NAMES.split())


@requirement("CTX-01")
def test_every_family_says_which_files_are_its_own() -> None:
    assert all(family.include for family in PROJECT_FAMILIES)
    assert all(glob.startswith("**/") for family in PROJECT_FAMILIES for glob in family.include)


@requirement("CTX-01")
def test_every_family_has_markers_or_is_everywhere() -> None:
    assert all(family.packages or family.ambient for family in PROJECT_FAMILIES)


@requirement("CTX-01")
@pytest.mark.parametrize("family", PROJECT_FAMILIES, ids=lambda family: str(family.name))
def test_a_file_of_each_include_glob_is_in_the_family(family: Family) -> None:
    for glob in family.include:
        assert family.name in families_of("a b/" + glob.removeprefix("**/").replace("*", "x"))


@pytest.mark.parametrize(
    ("path", "family"),
    [
        ("a.py", "python"),
        ("deep/er/a.test.tsx", "javascript"),
        ("Gemfile", "ruby"),
        ("x/Dockerfile", "docker"),
        ("x/api.Dockerfile", "docker"),
        ("docker-compose.yml", "docker"),
        ("build.gradle.kts", "jvm"),
        (".terraform.lock.hcl", "terraform"),
        ("Cargo.toml", "json_yaml"),
        (".py", "python"),
        ("a.PY", None),
        ("py", None),
        ("main.c", None),
        ("run.sh", None),
        ("x.py/readme", None),
        ("Makefile", None),
    ],
)
def test_a_file_is_counted_to_one_family_or_none(path: str, family: str | None) -> None:
    assert family_of(path) == family


def test_a_file_can_be_in_two_families() -> None:
    assert families_of("docker-compose.yml") == ("docker", "json_yaml")
    assert families_of("main.c") == ()


@pytest.mark.parametrize(("language", "family"), [("java", "jvm"), ("TypeScript", "javascript"), ("jvm", "jvm")])
def test_a_language_has_a_family(language: str, family: str) -> None:
    assert family_of_language(language) == family


def test_a_language_outside_the_list_has_none() -> None:
    assert family_of_language("c") is None

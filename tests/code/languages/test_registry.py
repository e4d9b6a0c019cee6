"""The tables of languages: complete, unambiguous, and each good for something."""

from pathlib import Path

import pytest

from codeplane.code.languages.registry import languages, query_of
from codeplane.code.model import pack_facts, unpack_facts
from tests.code.facts.reading import check, facts_of
from tests.interaction.requirements import requirement

SAMPLES = Path(__file__).parent.parent / "facts" / "samples"
FAMILIES = """javascript python go rust jvm dotnet ruby php swift elixir haskell terraform sql docker markdown json_yaml
    protobuf graphql config""".split()  # noqa: SIM905  # read as the list it is


def sampled() -> dict[str, Path]:
    """The sample of each language."""
    found = {}
    for path in sorted(SAMPLES.iterdir()):
        language = languages().of(path.name, path.read_bytes()[:200])
        assert language is not None, path
        found[language.name] = path
    return found


@requirement("FCT-14")
def test_every_language_has_a_sample() -> None:
    assert set(sampled()) == set(languages().by_name)


@requirement("FCT-14")
@pytest.mark.parametrize("name", sorted(languages().by_name))
def test_the_sample_is_read_whole(name: str) -> None:
    text = sampled()[name].read_bytes()
    facts = facts_of(name, text)
    check(facts, text)
    assert facts.definitions and not facts.errors and not facts.clipped
    assert unpack_facts(pack_facts(facts)) == facts


@requirement("FCT-14")
@pytest.mark.parametrize("name", sorted(languages().by_name))
def test_the_table_is_sound(name: str) -> None:
    language = languages().by_name[name]
    assert language.family is None or language.family in FAMILIES
    assert query_of(language)
    others = [one for one in languages().by_name.values() if one.name != name]
    for extension in language.extensions:
        assert extension == extension.lower()
        assert all(extension not in one.extensions for one in others)
    for shebang in language.shebangs:
        assert all(shebang not in one.shebangs for one in others)


@requirement("FCT-14")
@pytest.mark.parametrize(
    ("path", "start", "name"),
    [
        ("a/b.py", b"", "python"),
        ("a/B.PY", b"", "python"),
        ("x.d.ts", b"", "typescript"),
        ("x.mjs", b"", "javascript"),
        ("Dockerfile", b"", "dockerfile"),
        ("web.Dockerfile", b"", "dockerfile"),
        ("Gemfile", b"", "ruby"),
        ("run", b"#!/usr/bin/env -S bash\n", "bash"),
        ("run", b"#!/usr/bin/python3\n", "python"),
        ("run", b"", None),
        ("run.unknown", b"#!/bin/sh\n", None),
        ("LICENSE", b"Some text", None),
    ],
)
def test_a_file_is_known_by_its_name_or_first_line(path: str, start: bytes, name: str | None) -> None:
    found = languages().of(path, start)
    assert (found.name if found else None) == name

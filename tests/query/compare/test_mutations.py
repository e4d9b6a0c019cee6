"""Edits whose effect is known: breaking or not is told for each of them, language by language."""

import pytest
from bench.labelled_edits import labelled_edits
from bench.mutations import TEMPLATES, Mutation, Template, mutations
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.interaction.requirements import requirement
from tests.query.compare.versions import compared, every, outline

ALL = list(mutations())
LABELLED = list(labelled_edits())


@requirement("CMP-02")
@pytest.mark.parametrize("language", sorted({one.language for one in TEMPLATES}))
def test_breaking_or_not(language: str) -> None:
    edits = [one for one in ALL if one.language == language]
    wrong = [one.what for one in edits if is_breaking(one) != one.breaking]
    assert len(edits) >= 20
    assert not wrong


@pytest.mark.parametrize("language", sorted({one.language for one in LABELLED}))
def test_breaking_or_not_by_what_the_language_says(language: str) -> None:
    edits = [one for one in LABELLED if one.language == language]
    wrong = [(one.what, one.breaking) for one in edits if is_breaking(one) != one.breaking]
    assert len(edits) >= 5
    assert not wrong


@requirement("CMP-02")
def test_the_edits_are_code() -> None:
    for one in [*ALL, *LABELLED]:
        assert not outline(one.path, one.after).errors, (one.language, one.what)


def is_breaking(one: Mutation) -> bool:
    return any(change.is_broken for change in compared(one.path, one.before, one.after))


@requirement("CMP-02")
@settings(max_examples=60, deadline=None)
@given(st.sampled_from(TEMPLATES), st.lists(st.integers(0, 90), max_size=12), st.integers(0, 3000))
def test_whatever_is_left_of_a_file_is_compared(template: Template, gone: list[int], cut: int) -> None:
    lines = [line for at, line in enumerate(template.text.split("\n")) if at not in gone]
    after = "\n".join(lines)[: max(cut, 1)]
    assert compared(template.path, after, after) == []
    there = compared(template.path, template.text, after)
    back = compared(template.path, after, template.text)
    assert sum(one.change == "removed" for one in every(there)) == sum(one.change == "added" for one in every(back))

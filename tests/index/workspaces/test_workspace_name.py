"""Names of workspaces: folders on every disk, whatever they are made from."""

from pathlib import PurePosixPath, PureWindowsPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeplane.index.workspaces.workspace_name import check_name, is_name, suggest_name
from codeplane.kernel.errors import InvalidArgument
from tests.interaction.requirements import requirement


@requirement("WSP-04")
@given(st.text(max_size=80))
def test_a_name_is_one_plain_folder(text: str) -> None:
    if not is_name(text):
        with pytest.raises(InvalidArgument):
            check_name(text)
        return
    assert text.isascii()
    assert text == text.lower()
    assert PurePosixPath(text).parts == PureWindowsPath(text).parts == (text,)
    assert not text.startswith((".", "-"))
    assert not text.endswith(".")


@requirement("WSP-04")
@given(st.text(max_size=80))
def test_what_is_suggested_is_a_name(text: str) -> None:
    try:
        assert is_name(suggest_name(text))
    except InvalidArgument as refused:
        assert "give it a name" in refused.hint


@requirement("WSP-04")
@pytest.mark.parametrize(
    ("text", "name"),
    [("Django", "django"), ("my project", "my-project"), ("Café", "cafe"), ("..a..b..", "a.b"), ("x" * 99, "x" * 64)],
)
def test_names_are_made_from_folders(text: str, name: str) -> None:
    assert suggest_name(text) == name


@requirement("WSP-04")
@pytest.mark.parametrize("text", ["", "..", "日本", "-", "../.."])
def test_nothing_is_made_of_nothing(text: str) -> None:
    with pytest.raises(InvalidArgument):
        suggest_name(text)

"""The generated reference is what the code says."""

from pathlib import Path

import pytest

from codeplane.surfaces.cli.reference import pages
from tests.interaction.requirements import requirement

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"


@requirement("PRJ-03")
@pytest.mark.parametrize(("name", "text"), pages().items(), ids=lambda value: value if value.endswith(".md") else "")
def test_reference_page_is_up_to_date(name: str, text: str) -> None:
    assert (REFERENCE / name).read_text(encoding="utf-8") == text.rstrip() + "\n", "run: make docs"

"""What a README says first is what the repository is, not a remark before it."""

import pytest

from codeplane.work.explore.readme import opening
from tests.interaction.requirements import requirement

pytestmark = requirement("EXR-01")

_SAID = "A store of keys and values that many machines share."


@pytest.mark.parametrize(
    "remark",
    [
        "Note: The `main` branch may be in an unstable or even broken state during development.",
        "**Warning!** Everything in here may change without a word of warning.",
        "> [!IMPORTANT]\n> This repository has moved to another place.",
    ],
)
def test_a_remark_is_told_only_where_nothing_else_is_said(remark: str) -> None:
    assert opening(f"# kept\n\n{remark}\n\n{_SAID}\n") == ("kept", _SAID)
    assert opening(f"# kept\n\n{remark}\n")[1].startswith(remark.split("\n")[0].replace("**", ""))


def test_a_word_is_no_remark() -> None:
    assert opening("# kept\n\nNotes are kept here, for everybody who reads them.\n")[1].startswith("Notes are")

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


def test_what_is_quoted_is_shown_without_marks() -> None:
    quoted = _SAID.replace(" that", "\n> that")
    assert opening(f"# kept\n\n> {quoted}\n")[1] == _SAID


def test_a_word_is_no_remark() -> None:
    assert opening("# kept\n\nNotes are kept here, for everybody who reads them.\n")[1].startswith("Notes are")


_MEMBERS = "`Members <https://a.test>`_ are our community-powered platform."


@pytest.mark.parametrize(
    "before",
    [
        # Sponsors, with pictures.
        '<sup>Special thanks to:</sup>\n<a href="/a">\n  <b>A terminal that everybody wants to have</b>\n</a>\n<br>\n',
        "<sup>\n\tWork in the open is supported by the community.<br>Special thanks to:\n</sup>\n",
        # Menus.
        '<h4>\n  <a href="/a">The Editor</a> |\n  <a href="/b">Documentation</a> |\n  <a href="/c">Blog</a>\n</h4>\n',
        "[Documentation](https://a.test) | [Getting started](https://b.test) | [Chat](https://c.test)\n",
        '<a href="/a">Documentation</a>&nbsp;&nbsp;•&nbsp;&nbsp;<a href="/b">Chat</a>&nbsp;&nbsp;•&nbsp;&nbsp;\n',
        "See the slides here:\n[A sample application, as it was shown at a conference](https://a.test)\n",
        "[![build](https://a.test/of-the-newest-commit.svg)](\n   https://a.test/actions?query=everything)\n",
        "<!-- Not shown since nobody knows how:\nSome words that were here once. -->\n",
        # Options of reStructuredText.
        ".. image:: logo.svg\n   :alt: The logo of those who pay for this\n   :width: 200px\n",
        ":Version: 5\n:Keywords: task, queue, and other words that\n  go over to the next line, which is indented\n",
        # Sections of others, with what is below them.
        "## Sponsors\n\nWe thank everybody who pays.\n\n### Gold\n\nA company that sells blankets.\n\n## About\n",
        f"Donations\n=========\n\nMembers\n-------\n\n{_MEMBERS}\n\nWhat it is\n==========\n",
    ],
)
def test_what_is_about_others_is_left_out(before: str) -> None:
    assert opening(f"{before}\n{_SAID}\n")[1] == _SAID


@pytest.mark.parametrize(
    "said",
    [
        "A [store](https://a.test) of `keys <https://b.test>`_ and values that many machines share.",
        'A <a href="https://a.test">store</a> of keys and values that many machines share.',
    ],
)
def test_prose_with_links_is_prose(said: str) -> None:
    assert opening(f"# kept\n\n{said}\n")[1] == _SAID


def test_what_is_indented_in_a_page_is_no_code() -> None:
    assert opening(f"<div>\n  <h2>\n    {_SAID} <br>\n  </h2>\n</div>\n")[1] == _SAID
    assert opening(f"# kept\n\n    make install everything that is here\n\n{_SAID}\n")[1] == _SAID


def test_a_short_sentence_says_something() -> None:
    assert opening("# kept\n\nbuild passing\n\nA store of keys.\n\nInstall it with the tool of your choice.\n") == (
        "kept",
        "A store of keys.",
    )

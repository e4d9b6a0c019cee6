"""Names taken out of import statements, however these are written."""

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeplane.refactor.move.python_statement import add_after, remove_items, remove_statement, statement_at
from tests.interaction.requirements import requirement

_LAYOUTS = (
    "from pkg import {0}",
    "from pkg import ({0})",
    "from pkg import (\n    {1},\n)",
    "from pkg import (\n    {1}\n)",
    "from pkg import (  # why\n    {2},  # last\n)",
    "from pkg \\\n    import {0}",
)


@requirement("REF-15")
@given(
    layout=st.sampled_from(_LAYOUTS),
    count=st.integers(min_value=2, max_value=5),
    gone=st.sets(st.integers(min_value=0, max_value=4), min_size=1),
    crlf=st.booleans(),
)
def test_what_is_left_is_what_was_not_taken_out(layout: str, count: int, gone: set[int], crlf: bool) -> None:
    names = [f"name{one} as n{one}" if one % 2 else f"name{one}" for one in range(count)]
    output = layout.format(", ".join(names), ",\n    ".join(names), ",  # each\n    ".join(names)) + "\nx = 1\n"
    text = (output.replace("\n", "\r\n") if crlf else output).encode()
    statement = statement_at(text, 0)
    assert statement is not None
    taken = [item for index, item in enumerate(statement.items) if index in gone]
    if not taken or len(taken) == count:
        return
    parts, at = [], 0
    for span in sorted(remove_items(text, statement, taken), key=lambda one: one.start):
        assert span.start >= at
        parts.append(text[at : span.start])
        at = span.end
    (left, _) = ast.parse(b"".join([*parts, text[at:]])).body
    assert isinstance(left, ast.ImportFrom)
    assert [name.name for name in left.names] == [f"name{one}" for one in range(count) if one not in gone]


@requirement("REF-15")
@pytest.mark.parametrize(
    ("text", "word", "after"),
    [
        ("import a\nimport b\n", "import a", "import b\n"),
        ("if x:\n    import a\ny = 1\n", "import a", "if x:\n    pass\ny = 1\n"),
        ("if x:\n    import a\n    y = 1\n", "import a", "if x:\n    y = 1\n"),
        ("try:\n\timport a  # why\nexcept E: ...\n", "import a", "try:\n\tpass  # why\nexcept E: ...\n"),
        ("if x: import a\n", "import a", "if x: pass\n"),
        ("import a; import b\n", "import a", "import b\n"),
        ("import b; import a", "import a", "import b"),
    ],
)
def test_a_statement_goes_and_its_block_stays_valid(text: str, word: str, after: str) -> None:
    raw = text.encode()
    start = raw.index(word.encode())
    span = remove_statement(raw, start, start + len(word))
    assert text[: span.start] + span.new + text[span.end :] == after
    ast.parse(after)


@requirement("REF-15")
def test_what_is_added_is_indented_as_its_neighbour() -> None:
    text = b"def f():\n\tfrom a import b  # why\n\treturn b"
    span = add_after(text, 10, 25, ["import c"])
    assert (text[: span.start].decode() + span.new + text[span.end :].decode()) == (
        "def f():\n\tfrom a import b  # why\n\timport c\n\treturn b"
    )

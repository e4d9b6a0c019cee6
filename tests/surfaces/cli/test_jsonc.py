"""The JSONC editor changes one entry and nothing else."""

from __future__ import annotations

import json
import re
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeplane.adapters.coding_clients.jsonc import JsoncError, JsonValue, get_entry, remove_entry, set_entry
from tests.interaction.requirements import requirement

PATH = ("mcpServers", "codeplane")
ENTRY: JsonValue = {"command": "/opt/bin/cpl", "args": ["mcp"]}

_TOKEN = re.compile(r'("(?:\\.|[^"\\])*")|//[^\r\n]*|/\*.*?\*/', re.DOTALL)
_TRAILING = re.compile(r'("(?:\\.|[^"\\])*")|,(\s*[}\]])')


def read(text: str) -> JsonValue:
    """What a client that understands comments makes of the text: regular expressions, not our scanner."""
    bare = _TOKEN.sub(lambda found: found.group(1) or " ", text.removeprefix("\ufeff"))
    value: JsonValue = json.loads(_TRAILING.sub(lambda found: found.group(1) or found.group(2), bare) or "{}")
    return value


def comments(text: str) -> list[str]:
    return [found.group() for found in _TOKEN.finditer(text) if found.group(1) is None]


NAMES = st.text(max_size=5) | st.sampled_from(
    ["", "//", "/*", '"', "a.b", "\\", "{", ",", "\u2028", "ключ", "codeplane"]
)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | NAMES
TREES: st.SearchStrategy[JsonValue] = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3), max_leaves=8
)


@st.composite
def documents(draw: st.DrawFn, *, holds_entry: bool) -> tuple[str, dict[str, JsonValue]]:
    """A document as people write them, with the tree it stands for; comments never stand inside our entry."""
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    noise = st.sampled_from(
        [
            "",
            "",
            "",
            " ",
            "\t",
            newline,
            newline + "    ",
            "/* a */",
            "/*, {*/",
            f'// "b": 1,{newline}',
            f"//{newline}\t",
        ]
    )

    def gap() -> str:
        return draw(noise) + draw(noise)

    def render(value: JsonValue, *, ours: tuple[str, ...]) -> str:
        if isinstance(value, dict):
            rows = []
            for key, child in value.items():
                mine = bool(ours) and key == ours[0]
                if mine and len(ours) == 1:
                    rows.append(f"{json.dumps(key)}: {json.dumps(child)}{gap()}")
                else:
                    shown = render(child, ours=ours[1:] if mine else ())
                    rows.append(f"{json.dumps(key, ensure_ascii=draw(st.booleans()))}{gap()}:{gap()}{shown}{gap()}")
            return "{" + gap() + joined(rows) + gap() + "}"
        if isinstance(value, list):
            return "[" + gap() + joined([render(child, ours=()) + gap() for child in value]) + gap() + "]"
        return json.dumps(value)

    def joined(rows: list[str]) -> str:
        text = "".join(row if not at else f",{gap()}{row}" for at, row in enumerate(rows))
        return text + (draw(st.sampled_from(["", ","])) if rows else "")

    tree = draw(st.dictionaries(NAMES, TREES, max_size=3))
    servers = draw(st.dictionaries(NAMES.filter(lambda name: name != PATH[1]), TREES, max_size=3))
    if holds_entry:
        at = draw(st.integers(min_value=0, max_value=len(servers)))
        rows = list(servers.items())
        servers = dict([*rows[:at], (PATH[1], draw(TREES)), *rows[at:]])
    if holds_entry or draw(st.booleans()):
        tree[PATH[0]] = servers
    mark = draw(st.sampled_from(["", "\ufeff"]))
    return mark + gap() + render(tree, ours=PATH) + gap(), tree


def registered(tree: dict[str, JsonValue], value: JsonValue) -> dict[str, JsonValue]:
    servers = tree.get(PATH[0], {})
    assert isinstance(servers, dict)
    return {**tree, PATH[0]: {**servers, PATH[1]: value}}


@requirement("CLI-02")
@given(documents(holds_entry=False))
def test_adding_keeps_every_comment_and_every_other_entry(case: tuple[str, dict[str, JsonValue]]) -> None:
    text, tree = case
    after = set_entry(text, PATH, ENTRY)
    assert read(after) == registered(tree, ENTRY)
    assert comments(after) == comments(text)
    # Only ever an insertion: what was there is still there, in the same order.
    rest = iter(re.sub(r"\s", "", after))
    assert all(character in rest for character in re.sub(r"\s", "", text))


@given(documents(holds_entry=True))
def test_replacing_keeps_every_comment_and_every_other_entry(case: tuple[str, dict[str, JsonValue]]) -> None:
    text, tree = case
    after = set_entry(text, PATH, ENTRY)
    assert read(after) == registered(tree, ENTRY)
    assert comments(after) == comments(text)


@given(documents(holds_entry=True))
def test_removing_keeps_every_comment_and_every_other_entry(case: tuple[str, dict[str, JsonValue]]) -> None:
    text, tree = case
    after = remove_entry(text, PATH)
    servers = tree[PATH[0]]
    assert isinstance(servers, dict)
    assert read(after) == {**tree, PATH[0]: {name: value for name, value in servers.items() if name != PATH[1]}}
    assert comments(after) == comments(text)
    assert remove_entry(after, PATH) == after


@given(documents(holds_entry=False))
def test_setting_then_removing_is_the_original_but_for_an_empty_container(
    case: tuple[str, dict[str, JsonValue]],
) -> None:
    text, tree = case
    assert read(remove_entry(set_entry(text, PATH, ENTRY), PATH)) == {PATH[0]: {}, **tree}


@given(documents(holds_entry=False) | documents(holds_entry=True), TREES)
def test_setting_twice_is_setting_once(case: tuple[str, dict[str, JsonValue]], value: JsonValue) -> None:
    once = set_entry(case[0], PATH, value)
    assert set_entry(once, PATH, value) == once
    assert get_entry(once, PATH) == value


@given(documents(holds_entry=False), NAMES, NAMES)
def test_any_name_can_be_a_key(case: tuple[str, dict[str, JsonValue]], outer: str, inner: str) -> None:
    path = ("projects of ours", outer, inner)
    assert get_entry(set_entry(case[0], path, ENTRY), path) == ENTRY


@given(st.text(alphabet='{}[]",:/*\\\n 0123.e-+truefalsn', max_size=30))
def test_accepts_exactly_what_json_accepts_and_otherwise_says_where(text: str) -> None:
    try:
        json.loads(text)
        valid = True
    except ValueError:
        valid = False
    try:
        get_entry(text, ())
        assert valid or comments(text) or not text.strip() or _TRAILING.search(text)
    except JsoncError as error:
        assert not valid
        assert 0 <= error.position <= len(text)


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ('{"a": 1', 1, 8),
        ('{\n  "a" 1}', 2, 7),
        ('{"a": 1} x', 1, 10),
        ('{"a": 1,, "b": 2}', 1, 9),
        ('{"a": /* never closed }', 1, 7),
        ('{"a": 1 / 2}', 1, 9),
        ('{"a": "never closed}', 1, 7),
        ('{"a": "\\x"}', 1, 7),
        ('{"a": 01}', 1, 7),
        ("{a: 1}", 1, 2),
        ("{'a': 1}", 1, 2),
        ("[" * 5000, 1, 101),
    ],
)
def test_malformed_input_is_refused_with_its_position(text: str, line: int, column: int) -> None:
    for edit in (get_entry, remove_entry, partial(set_entry, value=ENTRY)):
        with pytest.raises(JsoncError) as caught:
            edit(text, PATH)
        assert (caught.value.line, caught.value.column) == (line, column)
        assert f"line {line}, column {column}" in str(caught.value)


@pytest.mark.parametrize("text", ["[]", '"text"', '{"mcpServers": []}', '{"mcpServers": null}'])
def test_a_path_through_something_that_is_no_object_is_refused(text: str) -> None:
    with pytest.raises(JsoncError, match="expected an object"):
        set_entry(text, PATH, ENTRY)


@pytest.mark.parametrize(
    "text", ['{"mcpServers": {}, "mcpServers": {}}', '{"mcpServers": {"codeplane": 1, "codeplane": 2}}']
)
def test_a_key_written_twice_on_our_path_is_refused(text: str) -> None:
    for edit in (get_entry, remove_entry, partial(set_entry, value=ENTRY)):
        with pytest.raises(JsoncError, match="appears twice"):
            edit(text, PATH)


def test_a_key_written_twice_elsewhere_is_none_of_our_business() -> None:
    text = '{"a": 1, "a": 2}'
    assert remove_entry(set_entry(text, ("codeplane",), 1), ("codeplane",)) == text


def test_follows_the_indentation_of_the_document() -> None:
    assert set_entry('{\n\t"a": {\n\t\t"b": 1\n\t}\n}\n', ("a", "c"), {"d": [1]}) == (
        '{\n\t"a": {\n\t\t"b": 1,\n\t\t"c": {\n\t\t\t"d": [\n\t\t\t\t1\n\t\t\t]\n\t\t}\n\t}\n}\n'
    )


def test_follows_line_ends_byte_order_mark_and_trailing_commas() -> None:
    after = set_entry('\ufeff{\r\n    "a": 1, // one\r\n}\r\n', ("b",), {"c": 2})
    assert after == '\ufeff{\r\n    "a": 1, // one\r\n    "b": {\r\n        "c": 2\r\n    },\r\n}\r\n'


def test_a_document_on_one_line_stays_on_one_line() -> None:
    text = '{"a":{"b":1}}'
    after = set_entry(text, ("a", "c"), {"d": [1, 2]})
    assert after == '{"a":{"b":1, "c": {"d": [1, 2]}}}'
    assert remove_entry(after, ("a", "c")) == text


@pytest.mark.parametrize(
    "text",
    [
        '{\n  "mcpServers": {\n    "x": {} // x\n    // below\n  }\n}\n',
        '{\n  "mcpServers": {\n    "x": {}, // x\n  },\n}\n',
        '{\r\n\t"mcpServers": {\r\n\t\t"x": {}\r\n\t}\r\n}',
        '{"mcpServers": {"x": {}}}',
    ],
)
def test_removing_what_was_added_gives_the_very_same_bytes(text: str) -> None:
    assert remove_entry(set_entry(text, PATH, ENTRY), PATH) == text


@pytest.mark.parametrize("text", ["", "  \n", "\ufeff", "// nothing yet", "/* nothing */\n"])
def test_an_empty_document_becomes_an_object(text: str) -> None:
    after = set_entry(text, PATH, ENTRY)
    assert read(after) == {"mcpServers": {"codeplane": ENTRY}}
    assert after.startswith(text) and after.endswith("}\n")
    assert get_entry(text, PATH) is None
    assert remove_entry(text, PATH) == text


def test_an_equal_value_in_another_layout_is_left_as_the_user_wrote_it() -> None:
    text = '{"mcpServers": {"codeplane": {"command":"/opt/bin/cpl", /* ours */ "args":["mcp",]}}}'
    assert set_entry(text, PATH, ENTRY) == text


def test_true_and_one_are_different_values() -> None:
    assert set_entry('{"a": 1}', ("a",), True) == '{"a": true}'

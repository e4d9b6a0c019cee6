"""Whatever bytes come, the facts are bounded, inside the file, and there."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codeplane.code.facts.assembly import MAX_DEFINITIONS
from codeplane.code.facts.extract import MAX_LINE, MAX_PARSED, Unparsable, extractor
from codeplane.code.languages.registry import languages
from tests.code.facts.reading import check, facts_of
from tests.code.languages.test_registry import sampled
from tests.interaction.requirements import requirement

NAMES = sorted(languages().by_name)
NOISE = random.Random(7).randbytes(4096)
HARD = {
    "empty": b"",
    "a newline": b"\n",
    "nulls": b"\x00" * 2000,
    "noise": NOISE,
    "wrong utf-8": b"caf\xe9 = '\xff\xfe\xc3('\n\xed\xa0\x80 = 1\n" * 20,
    "a byte order mark": b"\xef\xbb\xbfx = 1\n",
    "carriage returns": b"def f():\r\n  x = 1\r" * 50,
    "parentheses": b"(" * 5000 + b")" * 5000,
    "brackets": b"x = " + b"[{" * 2500,
    "quotes": b"\"'`" * 700,
    "braces": b"a{b{c{" * 900,
}


@requirement("FCT-13")
@pytest.mark.parametrize("kind", sorted(HARD))
@pytest.mark.parametrize("name", NAMES)
def test_hard_bytes(name: str, kind: str) -> None:
    check(facts_of(name, HARD[kind]), HARD[kind])


@requirement("FCT-13")
@pytest.mark.parametrize("name", NAMES)
def test_a_sample_cut_and_mixed_with_noise(name: str) -> None:
    text = sampled()[name].read_bytes()
    for cut in range(0, len(text), max(1, len(text) // 6)):
        for broken in (text[:cut], text[cut:], text[:cut] + NOISE[cut % 4000 :][:40] + text[cut:]):
            check(facts_of(name, broken), broken)


@requirement("FCT-13")
@pytest.mark.parametrize("name", ["python", "typescript", "json"])
def test_a_line_of_a_megabyte(name: str) -> None:
    text = b'x = f(a, "%s"); ' % (b"b" * 90) * 10_000
    if name == "json":
        text = b'{"a": [' + b'{"b": "%s"}, ' % (b"c" * 90) * 10_000 + b"0]}"
    assert len(text) > 1_000_000
    check(facts_of(name, text), text)


@requirement("FCT-13")
@settings(deadline=None, max_examples=100)
@given(st.data())
def test_random_edits(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(NAMES))
    text = sampled()[name].read_bytes()
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(start, min(len(text), start + 60)))
        other = data.draw(st.integers(0, max(0, len(text) - 1)))
        inserted = data.draw(st.one_of(st.binary(max_size=12), st.just(text[other : other + 40])))
        text = text[:start] + inserted + text[end:]
    check(facts_of(name, text), text)


@requirement("FCT-13")
def test_more_definitions_than_are_kept_is_said() -> None:
    text = b"def f(): pass\n" * (MAX_DEFINITIONS + 5)
    facts = facts_of("python", text)
    check(facts, text)
    assert len(facts.definitions) == MAX_DEFINITIONS and facts.clipped
    assert not facts_of("python", b"def f(): pass\n").clipped
    text = b"".join(b"v%d = 1\n" % number for number in range(MAX_DEFINITIONS + 5))
    assert len(facts_of("python", text).definitions) == MAX_DEFINITIONS


@requirement("FCT-13")
def test_a_file_too_large_is_refused() -> None:
    with pytest.raises(Unparsable, match="larger than"):
        facts_of("python", b"#" * (MAX_PARSED + 1))


@requirement("FCT-13")
def test_a_file_with_a_very_long_line_is_refused() -> None:
    line = b"x = [" + b"1, " * (MAX_LINE // 3)
    for path in (b"", b"def f(): pass\n"):
        with pytest.raises(Unparsable, match="a line is longer than"):
            facts_of("python", path + line)
    broken = line[: len(line) // 2] + b"\n" + line[len(line) // 2 :] + b"]\n"
    assert len(facts_of("python", b"def f(): pass\n" + broken).definitions) == 2


def test_a_syntax_error_is_told_by_its_line() -> None:
    assert facts_of("python", "x = 1\ny = (\n").errors == 2
    assert facts_of("typescript", "let a = 1\n\nclass {{ }").errors == 3
    assert facts_of("go", "package a\n").errors == 0


def test_thousands_of_names_in_one_statement_are_read_in_one_go() -> None:
    many = range(3000)
    for path, text in (
        ("a.ts", "import { " + ", ".join(f"a{n} as b{n}" for n in many) + " } from './x';\n"),
        ("a.ts", "export { " + ", ".join(f"a{n}" for n in many) + " } from './x';\n"),
        ("a.js", "const { " + ", ".join(f"a{n}" for n in many) + " } = require('./x');\n"),
        ("a.py", "from x import (" + ", ".join(f"a{n} as b{n}" for n in many) + ")\n"),
    ):
        language = languages().of(path)
        assert language is not None
        facts = extractor(language).facts(text.encode())
        taken = [one.source for one in facts.imports] + [one.source for one in facts.exports]
        assert len(taken) == len(many) and set(taken) <= {"./x", "x"}

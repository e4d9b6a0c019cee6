"""Regular expressions find the lines that ripgrep finds, or are refused."""

import shutil
import subprocess
from pathlib import Path

import pytest

from codeplane.kernel.errors import InvalidArgument
from codeplane.query.search.pattern import MAX_PATTERN, Literal, Regex
from tests.interaction.requirements import requirement

pytestmark = requirement("SRC-11")
LINES = (
    "def get_name(self):",
    "größe = 3",
    "Größe",
    "naïve café",
    "état_civil",
    "l'état",
    "fooé",
    "éfoo",
    "foo",
    "foo bar",
    "barfoo",
    "foo_bar",
    "x = y",
    "x\u00a0=\u00a0y",
    "",
    "   ",
    "\t",
    "\u2003",
    "٣ items",
    "3 items",
    "a.b",
    "aéb",
    "a-b",
    "日本語 text",
    "Ωmega ohm",
    "STRASSE Straße",
    "½ cup",
    "e\u0301tude",
    "under_score",
    "snake_case_ö",
    "end.",
    "[list]",
    "{0}",
    "a\\b",
    "tab\there",
    "K kelvin",
    "été 2024",
    "foo-é",
    "a&&b",
    "‿tie",
)
SAME = (
    *(r"\w+", r"^\w+$", r"\W", r"^\W+$", r"\d", r"^\d+ ", r"\D", r"\s", r"^\s+$", r"\S", r"^$", r"^\S+$", r"[^\W_]"),
    *(r"\bfoo\b", r"\bfoo", r"foo\b", r"\bfoo_\w+\b", r"\b\w+\b", r"\b\w+ =", r"^\w+\b", r"\bget_\w*\b", r"\bbar\b"),
    *(r"a.b", r"^.$", r"^...$", r"^.{4}$", r"gr..e", r"[^a-z ]", r"^[^a-z]+$", r"[\w.]+b", r"[\s\S]b", r"^[\w ]+$"),
    *(r"[é]", r"[à-ü]", r"é$", r"^é", r"(?i)GRÖSSE", r"(?i)größe", r"(?i)ÉTAT", r"(?i)straße", r"(?i)ωMEGA", r"(?i)k"),
    *(r"\p{L}\p{M}", r"\p{Greek}", r"^\p{Lu}", r"\pN", r"\x{e9}", r"[[:alpha:]]+é", r"日.語", r"[^\x00-\x7f]"),
    *(
        r"x{0}y",
        r"fo{2}",
        r"o{2,}$",
        r"(foo|été)",
        r"^(foo|bar)",
        r"\{0\}",
        r"a\\b",
        r"end\.$",
        r"[\[{]",
        r"[^\S\n]=",
        r"\tb?",
    ),
)
REFUSED = (
    *(
        r"\Afoo",
        r"foo\z",
        r"\bété",
        r"\Bé",
        r"x{0}",
        r"x*",
        "^",
        r"(a|)",
        r"[a&&b]",
        r"[a[bc]]",
        r"\b\w{3}\b",
    ),
    *(r"[^\Wa]", r"(?=foo)", r"(foo)\1", "a" * (MAX_PATTERN + 1), "[a", "a\\"),
)


def _found(expression: str, content: bytes) -> set[int]:
    regex, found, at = Regex(expression), set[int](), 0
    while at < len(content) and (match := regex.find(content, at, len(content))) is not None:
        if match[0] >= len(content):
            break
        found.add(content.count(b"\n", 0, match[0]) + 1)
        at = content.find(b"\n", match[0]) + 1 or len(content)
    return found


@pytest.mark.skipif(shutil.which("rg") is None, reason="needs ripgrep")
def test_the_same_lines_as_ripgrep(tmp_path: Path) -> None:
    file = tmp_path / "lines.txt"
    file.write_text("\n".join(LINES) + "\n", encoding="utf-8")
    assert len(SAME) >= 60
    wrong = {}
    for expression in SAME:
        command = ["rg", "--no-config", "--line-number", "--no-heading", "--regexp", expression, str(file)]
        done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8")
        assert done.returncode in (0, 1), (expression, done.stderr)
        theirs = {int(line.partition(":")[0]) for line in done.stdout.splitlines()}
        ours = _found(expression, file.read_bytes())
        if ours != theirs:
            wrong[expression] = [LINES[number - 1] for number in sorted(ours ^ theirs)]
    assert wrong == {}


@pytest.mark.parametrize("expression", REFUSED)
def test_what_means_something_else_to_ripgrep_is_refused(expression: str) -> None:
    with pytest.raises(InvalidArgument):
        Regex(expression)


def test_a_literal_has_a_longest_length() -> None:
    Literal("a" * MAX_PATTERN)
    with pytest.raises(InvalidArgument, match="are possible"):
        Literal("a" * (MAX_PATTERN + 1))

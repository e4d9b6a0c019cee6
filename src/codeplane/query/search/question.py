"""A question in natural language: its words, names and file mentions."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice

from codeplane.index.fulltext import parts
from codeplane.kernel.errors import InvalidArgument

MAX_QUESTION = 20_000
_CODE_BLOCK = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_WORD = re.compile(r"\w+")
# Both begin where a run of their characters does, or a long one would be tried from each of its characters.
_DOTTED = re.compile(r"(?<![\w.])[^\W\d]\w*(?:\.[^\W\d]\w*)+")
_PATH = re.compile(r"(?<![\w.\-])[\w.\-]*(?:[/\\][\w.\-]+)+|(?<![\w.\-])[\w.\-]+\.[a-z]{1,4}\b")
_TRACE = re.compile(r"^\s*(?:File \"|at \S|#\d+ ).*$", re.MULTILINE)
# What a report has beside what it asks: notes of its template, addresses, and versions of what is installed.
_NOTE = re.compile(r"<!--.*?-->", re.DOTALL)
_ADDRESS = re.compile(r"\bhttps?://[^\s<>()\[\]\"'`]+")
_FILE_ADDRESS = re.compile(r"/(?:blob|tree|raw)/[^/]+/([^#?]+)")
_INSTALLED = re.compile(
    r"^[ \t>*+-]*[\w.+-]+(?:[ \t]*[:=]+[ \t]*|[ \t]+)(?:v?\d+(?:\.\d+)+\S*|None)[ \t]*$", re.MULTILINE
)
_MAX_MENTIONS = 100
_MAX_STEPS = 12
_ENDING = re.compile(r"\.\w+$")
_ABOUT_TESTS = frozenset({"test", "tests", "testing", "tested", "testcase", "fixture", "fixtures", "conftest"})
# Words that say nothing of code: rare in it, so that they would seem telling.
STOP_WORDS = frozenset(
    _WORD.findall(
        """
    a about above after again all also although always am an and any anyone are as at be because been before being
    below better between both but by can cannot could did do does doing don done down during each either else even
    ever every everything few for from further get gets getting give given go goes going got had happen happens has
    have having he hello help her here hi his how however i if in instead into is isn it its itself just know like
    likely ll look looking looks lot make makes many may maybe me might more most much must my need needs neither
    never no nor not nothing now of off on once one only or other others our out over own perhaps please possible
    probably problem quite rather re really same say says see seem seems she should show shows since so some someone
    something still such sure take than thank thanks that the their them then there therefore these they thing
    things think this those though through thus to too trying under until up upon us use used user users uses using
    usually ve very want wants was way we well were what whatever when where whether which while who why will with
    within without won work working works would yes yet you your actual actually add added behavior behaviour bug
    code current currently description example examples expected fix following issue reproduce result results steps
    summary version versions
    """
    )
)
_ENDINGS = (
    ("ies", ("y",)),
    ("es", ("", "e")),
    ("s", ("",)),
    ("ing", ("", "e")),
    ("ed", ("", "e")),
    ("ion", ("", "e")),
    ("able", ("", "e")),
    ("er", ("", "e")),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A parsed question; its first line is the title."""

    title: frozenset[str]
    """Words of the title."""
    prose: Mapping[str, int]
    """Word counts of the rest, outside code blocks."""
    code: Mapping[str, int]
    """Word counts in code blocks."""
    names: Mapping[str, bool]
    """Identifiers, and whether they are in the title."""
    mentions: tuple[tuple[str, ...], ...]
    """Mentioned files and modules, each as possible paths, most specific first."""
    about_tests: bool
    """Whether it asks about tests."""
    humped: Mapping[str, tuple[str, ...]]
    """Mixed-case words in lower case, and their parts."""
    loose: frozenset[str]
    """Words that occur on their own."""

    def words(self) -> set[str]:
        """Every word, wherever it stands."""
        return {*self.title, *self.prose, *self.code}

    def respelled(self, spellings: Mapping[str, str]) -> "Question":
        """The same question with other spellings of some words."""
        if not spellings:
            return self
        return replace(
            self,
            title=frozenset(spellings.get(word, word) for word in self.title),
            prose=_merged(self.prose, spellings),
            code=_merged(self.code, spellings),
        )


def _merged(counts: Mapping[str, int], spellings: Mapping[str, str]) -> Counter[str]:
    merged: Counter[str] = Counter()
    for word, count in counts.items():
        merged[spellings.get(word, word)] += count
    return merged


def parse_question(text: str) -> Question:
    """Parse a question, a long one by its beginning; InvalidArgument if it is empty."""
    text = _asked(text)
    title, _, body = text.strip().partition("\n")
    code, prose = " ".join(_CODE_BLOCK.findall(body)), _CODE_BLOCK.sub(" ", body)
    names: dict[str, bool] = {}
    humped: dict[str, tuple[str, ...]] = {}
    loose = {word.lower() for word in _WORD.findall(text)}
    counted = [Counter(_words(part, names, humped, titled=part is title)) for part in (title, prose, code)]
    if not any(counted):
        raise InvalidArgument("the question has no words", hint="say what to look for")
    if any(word not in STOP_WORDS for count in counted for word in count):
        counted = [Counter({word: n for word, n in count.items() if word not in STOP_WORDS}) for count in counted]
    return Question(
        title=frozenset(counted[0]),
        prose=counted[1],
        code=counted[2],
        names={name: titled for name, titled in names.items() if name.lower() not in STOP_WORDS},
        mentions=tuple(dict.fromkeys(islice(_mentions(text), _MAX_MENTIONS))),
        about_tests=not _ABOUT_TESTS.isdisjoint(counted[0]),
        humped=humped,
        loose=frozenset(loose),
    )


def named_paths(text: str) -> frozenset[str]:
    """The paths with folders that a question names, but for those in code and in traces."""
    prose = _TRACE.sub(" ", _CODE_BLOCK.sub(" ", _asked(text)))
    found = (path.replace("\\", "/").strip("./") for path in islice(_PATH.findall(prose), _MAX_MENTIONS))
    return frozenset(path for path in found if "/" in path)


def _asked(text: str) -> str:
    """The text without what reports have beside their question; of an address the file that it leads to."""
    text = _NOTE.sub(" ", text[:MAX_QUESTION])
    text = _INSTALLED.sub("", text)
    return _ADDRESS.sub(_addressed_file, text)


def _addressed_file(address: re.Match[str]) -> str:
    file = _FILE_ADDRESS.search(address[0])
    return file[1] if file is not None else " "


def variants(word: str) -> set[str]:
    """Possible inflections of an English word: stem, plural, -ing and -ed."""
    if len(word) < 4 or not word.isalpha():
        return set()
    stems = {word}
    for ending, others in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            stem = word.removesuffix(ending)
            stems.update(stem + other for other in others)
            if stem[-1] == stem[-2]:
                stems.add(stem[:-1])
            break
    forms = stems | {stem + "s" for stem in stems}
    forms.update(stem.removesuffix("e") + ending for stem in stems for ending in ("ing", "ed"))
    return forms - {word}


def stem(word: str) -> str:
    """The stem of an English word: `comput` of computed, `color` of colors."""
    if len(word) < 5 or not word.isalpha():
        return word
    for ending, _ in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            base = word.removesuffix(ending)
            return base[:-1] if base[-1] == base[-2] and base[-1] not in "sl" else base
    return word.removesuffix("e")


def _words(text: str, names: dict[str, bool], humped: dict[str, tuple[str, ...]], *, titled: bool) -> Iterator[str]:
    for word in _WORD.findall(text):
        pieces = parts(word)
        yield from pieces
        whole = word.strip("_")
        if len(pieces) > 1 and "_" not in whole:
            yield whole.lower()
            humped[whole.lower()] = pieces
        if not word[0].isdigit() and (not word.islower() or "_" in whole):
            names[word] = names.get(word, False) or titled


def _mentions(text: str) -> Iterator[tuple[str, ...]]:
    for dotted in _DOTTED.findall(text):
        steps = dotted.lower().split(".", _MAX_STEPS)[:_MAX_STEPS]
        yield tuple("/".join(steps[:length]) for length in range(len(steps), 1, -1))
    for path in _PATH.findall(text):
        name = path.lower().replace("\\", "/")
        steps = [step for step in _ENDING.sub("", name).split("/") if step.strip(".")][-_MAX_STEPS:]
        if steps[-1:] == ["__init__"]:
            steps.pop()
        ways = ["/".join(steps[start:]) for start in range(len(steps) - 1)]
        last = name.rpartition("/")[2]
        yield tuple([*ways, last] if "." in last.strip(".") and last != "__init__.py" else ways)

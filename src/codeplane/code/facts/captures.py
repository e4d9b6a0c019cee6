"""The captures of a query in one file, sorted by kind, before they are put into scopes."""

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import NamedTuple

import tree_sitter

Captures = dict[str, list[tree_sitter.Node]]
Bind = tuple[int, int, int, str, tree_sitter.Node]
"""Where a name is bound, the pattern that says so, its place among all binds, how, and the name's node."""

_SUBJECTS = (
    *("definition", "import", "export", "dynamic", "scope", "bind"),
    *("text", "label", "outer", "leaf", "hole", "given"),
)
_ALONE = frozenset({"bind", "text", "label", "outer", "leaf", "hole"})
_NOT_CAPTURES = re.compile(r'"(?:[^"\\]|\\.)*"|;[^\n]*')
_CAPTURE = re.compile(r"@([\w.-]+)")
_LAST = 1 << 30
# A node's two ends at once take little longer than one of them, and mapped in C two thirds of what a loop takes.
_start, _range = attrgetter("start_byte"), attrgetter("byte_range")


class Pattern(NamedTuple):
    """What a pattern is about: the capture that decides who takes it, and that capture's name if it stands alone.

    `kinds` are its captures about that subject and `binds` those that bind; `top` says that it counts only where the
    node of that name stands in the file itself, which as part of the pattern would cost every node of the file.
    """

    subject: str
    sole: str
    kinds: tuple[str, ...]
    binds: tuple[str, ...]
    top: bool


def patterns_of(query: Iterable[str]) -> list[Pattern]:
    """What each pattern of a query is about, in their order."""
    patterns = []
    for pattern_text in query:
        names = dict.fromkeys(_CAPTURE.findall(_NOT_CAPTURES.sub("", pattern_text)))
        captures = [name for name in names if not name.startswith("_")]
        abouts = {name.partition(".")[0] for name in captures}
        subject = next((wanted for wanted in _SUBJECTS if wanted in abouts), "")
        if subject in _ALONE and len(captures) > 1:
            raise ValueError(f"a pattern with several captures needs one that says what it is about: {captures}")
        patterns.append(
            Pattern(
                subject,
                captures[0] if subject in _ALONE else "",
                tuple(name for name in captures if name.startswith(f"{subject}.")),
                tuple(name for name in captures if name.startswith("bind.")),
                "top" in captures,
            )
        )
    return patterns


@dataclass(slots=True)
class FileMatches:
    """The matches of a file; those of a pattern that stands earlier in the query come first."""

    definitions: list[tuple[str, Captures, tree_sitter.Node]] = field(default_factory=list)
    scopes: list[tuple[int, int, str, int]] = field(default_factory=list)
    scope_names: dict[tuple[int, int], tree_sitter.Node] = field(default_factory=dict)
    binds: list[Bind] = field(default_factory=list)
    leaves: list[tree_sitter.Node] = field(default_factory=list)
    imports: list[tuple[str, Captures, tree_sitter.Node]] = field(default_factory=list)
    exports: list[tuple[str, Captures, tree_sitter.Node]] = field(default_factory=list)
    dynamic: list[tuple[str, Captures, tree_sitter.Node]] = field(default_factory=list)
    texts: list[tuple[int, int]] = field(default_factory=list)
    holes: list[tuple[int, int]] = field(default_factory=list)
    labels: list[int] = field(default_factory=list)
    outers: list[tuple[int, int]] = field(default_factory=list)
    given: list[tuple[str, tree_sitter.Node, tree_sitter.Node]] = field(default_factory=list)

    def take(
        self, matches: Iterable[tuple[int, Captures]], patterns: Sequence[Pattern], root: tree_sitter.Node
    ) -> None:
        """Take in the matches of a file's query."""
        grouped: defaultdict[int, list[Captures]] = defaultdict(list)
        for number, captures in matches:
            grouped[number].append(captures)
        tops: set[int] | None = None
        for number in sorted(grouped):
            pattern, group = patterns[number], grouped[number]
            if pattern.top:
                if tops is None:
                    tops = set() if root.is_error else {node.id for node in root.children}
                group = [captures for captures in group if captures["top"][0].id in tops]
            if pattern.sole:
                self._note_alone(number, pattern, group)
            elif pattern.subject:
                self._note(number, pattern, group)
        self._share()

    def _note_alone(self, number: int, pattern: Pattern, matches: Iterable[Captures]) -> None:
        """Take in the matches of one pattern that is about nodes of one name."""
        subject, sole, *_ = pattern
        if subject == "bind":
            for captures in matches:
                self._bind(number, sole[5:], captures.get(sole, ()))
            return
        nodes = [node for captures in matches for node in captures[sole]]
        if subject == "leaf":
            self.leaves += nodes
        elif subject == "label":
            self.labels += map(_start, nodes)
        else:
            into = {"hole": self.holes, "text": self.texts, "outer": self.outers}[subject]
            into += map(_range, nodes)

    def _note(self, number: int, pattern: Pattern, matches: Sequence[Captures]) -> None:
        """Take in the matches of one pattern that is about more than one node."""
        if pattern.subject == "scope":
            for captures in matches:
                self._note_scope(number, captures)
        elif pattern.subject == "given":
            for captures in matches:
                name = next(name for name in captures if name.partition(".")[0] == "given")
                self.given.append((name.partition(".")[2], captures[name][0], captures["source"][0]))
        else:
            self._note_larger(number, pattern, matches)

    def _bind(self, number: int, how: str, nodes: Iterable[tree_sitter.Node]) -> None:
        binds = self.binds
        for node in nodes:
            binds.append((node.start_byte, number, len(binds), how, node))

    def _note_scope(self, number: int, captures: Captures) -> None:
        named = captures.get("scope.name")
        for name, nodes in captures.items():
            about, _, what = name.partition(".")
            if about == "scope" and what != "name":
                for node in nodes:
                    start, end = node.start_byte, node.end_byte
                    self.scopes.append((start, end, what, -1))
                    if named:
                        self.scope_names[start, end] = named[0]
            elif about == "bind":
                self._bind(number, what, nodes)

    def _note_larger(self, number: int, pattern: Pattern, matches: Iterable[Captures]) -> None:
        into = {
            "definition": self.definitions,
            "import": self.imports,
            "export": self.exports,
            "dynamic": self.dynamic,
        }[pattern.subject]
        start = len(pattern.subject) + 1
        kinds = [(name, name[start:]) for name in pattern.kinds]
        for captures in matches:
            for name, what in kinds:
                if name in captures:
                    into.append((what, captures, captures[name][0]))
            for name in pattern.binds:
                self._bind(number, name[5:], captures.get(name, ()))

    def _share(self) -> None:
        """Give names of a statement the source that stands once for all of them; some are imports only then."""
        # A statement may be found twice; what says more of it stands first.
        statements = sorted(self.given, key=lambda statement: statement[1].start_byte)
        starts = [statement.start_byte for _, statement, _ in statements]
        for into in (self.imports, self.exports) if statements else ():
            for index, (what, captures, node) in enumerate(into):
                first = bisect_right(starts, node.start_byte) - 1
                if "source" in captures or first < 0 or node.end_byte > statements[first][1].end_byte:
                    continue
                first = bisect_left(starts, starts[first])
                kind, statement, source = statements[first]
                into[index] = (kind or what, {**captures, "source": [source]}, statement)
        self.imports = [import_ for import_ in self.imports if import_[0] != "when_given"]

    def text_spans(self) -> list[tuple[int, int]]:
        """Where text starts and ends, without the code it holds; text inside that code is text again."""
        if not self.holes:
            return self.texts
        spans = [(start, end, True) for start, end in self.texts]
        spans += [(start, end, False) for start, end in self.holes]
        spans.sort(key=lambda span: (span[0], -span[1]))
        text_only: list[tuple[int, int]] = []
        open_ones: list[tuple[int, bool]] = []
        done = 0
        for start, end, is_text in [*spans, (1 << 32, 1 << 32, True)]:
            while open_ones and open_ones[-1][0] <= start:
                until, was_text = open_ones.pop()
                if was_text and done < until:
                    text_only.append((done, until))
                done = max(done, until)
            if open_ones and open_ones[-1][1] and done < start:
                text_only.append((done, start))
            done = max(done, start)
            open_ones.append((end, is_text))
        return text_only

    def ordered_binds(self) -> list[Bind]:
        """The bound names in their order; a name in a pattern is bound as the innermost pattern around it is."""
        if not self.leaves:
            return sorted(self.binds)
        names: list[Bind] = []
        patterns: list[tuple[int, int, str]] = []
        for bind in self.binds:
            if bind[4].child_count:
                patterns.append((bind[0], -bind[4].end_byte, bind[3]))
            else:
                names.append(bind)
        patterns.sort()
        open_ones: list[tuple[int, int, str]] = []
        upcoming = 0
        for at, place in sorted((node.start_byte, place) for place, node in enumerate(self.leaves)):
            while upcoming < len(patterns) and patterns[upcoming][0] <= at:
                open_ones.append(patterns[upcoming])
                upcoming += 1
            while open_ones and -open_ones[-1][1] <= at:
                open_ones.pop()
            if open_ones:
                names.append((at, _LAST, place, open_ones[-1][2], self.leaves[place]))
        names.sort()
        return names

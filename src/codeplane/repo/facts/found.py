"""What a query found in one file, sorted by what it is about, before places became scopes."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import tree_sitter

Captures = dict[str, list[tree_sitter.Node]]

_SUBJECTS = (
    *("definition", "import", "export", "dynamic", "scope", "bind"),
    *("text", "label", "outer", "leaf", "hole", "given"),
)


@dataclass(slots=True)
class Found:
    """The matches of a file; those of a pattern that stands earlier in the query come first."""

    definitions: list[tuple[str, Captures, tree_sitter.Node]] = field(default_factory=list)
    scopes: list[tuple[int, int, str, int]] = field(default_factory=list)
    scope_names: dict[tuple[int, int], tree_sitter.Node] = field(default_factory=dict)
    binds: list[tuple[str, tree_sitter.Node]] = field(default_factory=list)
    leaves: list[tree_sitter.Node] = field(default_factory=list)
    imports: list[tuple[str, Captures, tree_sitter.Node]] = field(default_factory=list)
    exports: list[tuple[str, Captures, tree_sitter.Node]] = field(default_factory=list)
    dynamic: list[tuple[str, Captures, tree_sitter.Node]] = field(default_factory=list)
    texts: list[int] = field(default_factory=list)
    holes: list[tuple[int, int]] = field(default_factory=list)
    labels: list[int] = field(default_factory=list)
    outers: list[int] = field(default_factory=list)
    given: list[tuple[str, tree_sitter.Node, tree_sitter.Node]] = field(default_factory=list)

    def note(self, matches: Sequence[Captures]) -> None:
        """Take in the matches of one pattern."""
        subject = _subject(matches[0])
        if subject == "text":
            for captures in matches:
                for node in captures["text"]:
                    self.texts += (node.start_byte, node.end_byte)
        elif subject == "bind":
            for captures in matches:
                for name, nodes in captures.items():
                    if name[:5] == "bind.":
                        how = name[5:]
                        for node in nodes:
                            self.binds.append((how, node))
        elif subject == "leaf":
            self.leaves += [node for captures in matches for node in captures["leaf"]]
        elif subject == "label":
            self.labels += [node.start_byte for captures in matches for node in captures["label"]]
        elif subject == "hole":
            self.holes += [(node.start_byte, node.end_byte) for captures in matches for node in captures["hole"]]
        elif subject == "outer":
            for captures in matches:
                for node in captures["outer"]:
                    self.outers += (node.start_byte, node.end_byte)
        elif subject == "scope":
            for captures in matches:
                self._note_scope(captures)
        elif subject == "given":
            for captures in matches:
                name = next(name for name in captures if name.partition(".")[0] == "given")
                self.given.append((name.partition(".")[2], captures[name][0], captures["source"][0]))
        elif subject:
            self._note_larger(subject, matches)

    def _note_scope(self, captures: Captures) -> None:
        named = captures.get("scope.name")
        for name, nodes in captures.items():
            about, _, what = name.partition(".")
            if about == "scope" and what != "name":
                for node in nodes:
                    place = (node.start_byte, node.end_byte)
                    self.scopes.append((*place, what, -1))
                    if named:
                        self.scope_names[place] = named[0]
            elif about == "bind":
                self.binds += [(what, node) for node in nodes]

    def _note_larger(self, subject: str, matches: Iterable[Captures]) -> None:
        into = {
            "definition": self.definitions,
            "import": self.imports,
            "export": self.exports,
            "dynamic": self.dynamic,
        }[subject]
        for captures in matches:
            for name, nodes in captures.items():
                about, _, what = name.partition(".")
                if about == subject:
                    into.append((what, captures, nodes[0]))
                elif about == "bind":
                    self.binds += [(what, node) for node in nodes]

    def share(self) -> None:
        """Give names of a statement the source that stands once for all of them; some are imports only then."""
        if self.given:
            self._share()
        self.imports = [one for one in self.imports if one[0] != "when_given"]

    def _share(self) -> None:
        # A statement may be found twice; what says more of it stands first.
        statements = sorted(self.given, key=lambda one: one[1].start_byte)
        starts = [statement.start_byte for _, statement, _ in statements]
        for into in (self.imports, self.exports):
            for index, (what, captures, node) in enumerate(into):
                first = bisect_right(starts, node.start_byte) - 1
                if "source" in captures or first < 0 or node.end_byte > statements[first][1].end_byte:
                    continue
                first = bisect_left(starts, starts[first])
                kind, statement, source = statements[first]
                into[index] = (kind or what, {**captures, "source": [source]}, statement)

    def said(self) -> list[int]:
        """Where text starts and ends, in turn, without the code it holds; text inside that code is text again."""
        if not self.holes:
            return self.texts
        spans = [(start, end, True) for start, end in zip(self.texts[::2], self.texts[1::2], strict=True)]
        spans += [(start, end, False) for start, end in self.holes]
        spans.sort(key=lambda span: (span[0], -span[1]))
        told: list[int] = []
        open_ones: list[tuple[int, bool]] = []
        done = 0
        for start, end, is_text in [*spans, (1 << 32, 1 << 32, True)]:
            while open_ones and open_ones[-1][0] <= start:
                until, was_text = open_ones.pop()
                if was_text and done < until:
                    told += (done, until)
                done = max(done, until)
            if open_ones and open_ones[-1][1] and done < start:
                told += (done, start)
            done = max(done, start)
            open_ones.append((end, is_text))
        return told

    def bound(self) -> list[tuple[str, tree_sitter.Node]]:
        """The bound names in their order; a name in a pattern is bound as the innermost pattern around it is."""
        if not self.leaves:
            return sorted(self.binds, key=_bind_at)
        names = []
        patterns: list[tuple[int, int, str]] = []
        for how, node in self.binds:
            if node.child_count:
                patterns.append((node.start_byte, -node.end_byte, how))
            else:
                names.append((how, node))
        patterns.sort()
        open_ones: list[tuple[int, int, str]] = []
        upcoming = 0
        for leaf in sorted(self.leaves, key=lambda node: node.start_byte):
            at = leaf.start_byte
            while upcoming < len(patterns) and patterns[upcoming][0] <= at:
                open_ones.append(patterns[upcoming])
                upcoming += 1
            while open_ones and -open_ones[-1][1] <= at:
                open_ones.pop()
            if open_ones:
                names.append((open_ones[-1][2], leaf))
        names.sort(key=_bind_at)
        return names


def _bind_at(bind: tuple[str, tree_sitter.Node]) -> int:
    return bind[1].start_byte


def _subject(captures: Captures) -> str:
    """What a pattern is about: the capture that decides who takes it."""
    abouts = {name.partition(".")[0] for name in captures}
    return next((wanted for wanted in _SUBJECTS if wanted in abouts), "")

"""What is answered about the syntax of a file; lines and columns count from 1, ends are exclusive."""

from typing import Literal

from codeplane.kernel.operation import Result
from codeplane.query.navigation.records import Answered, Span

FoldKind = Literal["code", "comment", "imports"]
TokenKind = Literal[
    "class", "enum", "enumMember", "function", "interface", "macro", "method", "namespace", "parameter", "property",
    "struct", "type", "variable",
]  # fmt: skip


class Fold(Result):
    """Lines that can be folded away behind the first."""

    line: int
    end_line: int
    kind: FoldKind = "code"


class Folds(Answered):
    """What can be folded in a file."""

    path: str
    folds: tuple[Fold, ...] = ()
    cut: str | None = None


class Selections(Answered):
    """For each place the stretches of syntax around it, the innermost first."""

    path: str
    selections: tuple[tuple[Span, ...], ...] = ()


class SyntaxProblem(Result):
    """A place that the grammar of its language does not know."""

    span: Span
    message: str


class SyntaxProblems(Answered):
    """What is wrong with the syntax of a file."""

    path: str
    problems: tuple[SyntaxProblem, ...] = ()
    cut: str | None = None


class NameTokens(Answered):
    """The names of a file and what they are, as rows of line, column, length, kind and whether it is declared there.

    `kinds` names the kinds by their position.
    """

    path: str
    kinds: tuple[str, ...] = ()
    rows: tuple[tuple[int, int, int, int, bool], ...] = ()
    cut: str | None = None

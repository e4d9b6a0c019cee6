"""Judges types of TypeScript that are written differently before and now: what is not certainly worse is no break."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from codeplane.query.compare.generics import type_parameters
from codeplane.query.compare.header import Header
from codeplane.query.compare.outline import Outline
from codeplane.query.compare.type_assignment import Assignment
from codeplane.query.compare.type_declarations import Declarations, FileScope
from codeplane.query.compare.type_finder import FindType
from codeplane.query.compare.type_parser import parse_type
from codeplane.query.compare.type_terms import (
    UNREAD,
    Argument,
    Function,
    Literal,
    Named,
    Object,
    Term,
    Union,
    Variable,
)

Located = tuple[Outline, int]
_MOST_CALLS = 8


class TypeJudge:
    """Compares the types of a definition in both states, with the names that each file gives them."""

    def __init__(self, old: Located, new: Located, types: tuple[FindType, FindType]) -> None:
        self._old = FileScope(old[0], types[0])
        self._new = FileScope(new[0], types[1])
        self._places = old[1], new[1]
        self._around = {**_around(*old, self._old), **_around(*new, self._new)}

    def takes(self, before: str, after: str) -> bool:
        """Whether what could be given for the old type can be given for the new one, as far as is known."""
        return Assignment().check(self._term(before, self._old), self._term(after, self._new), exact=True) is not False

    def gives(self, before: str, after: str) -> bool:
        """Whether what the new type gives is what the old one gave, as far as is known."""
        # Nobody uses what was nothing.
        if before in ("void", "Promise < void >", "void | Promise < void >") and "Promise" not in after:
            return before == "void"
        if before == "Promise < void >" and after.startswith("Promise <"):
            return True
        return Assignment().check(self._term(after, self._new), self._term(before, self._old)) is not False

    def calls(self, before: Header, after: Header) -> bool:
        """Whether the new function or value can be called as the old one, as far as is known."""
        return self.can_call(self._function(before, self._old), self._function(after, self._new))

    def is_called_alike(self, before: str, after: str) -> bool:
        """Whether a type of functions, if it is one, still takes the arguments that were given to them."""
        old, new = self._term(before, self._old), self._term(after, self._new)
        if not isinstance(old, Function):
            return True
        # What they give is another matter.
        return Assignment().check(new, Function(old.arguments, Named("void"))) is not False

    def has_more_values(self, before: str, after: str) -> bool:
        """Whether a choice between values written out only got more of them."""
        old, new = self._term(before, self._old), self._term(after, self._new)
        if not isinstance(old, Union) or not isinstance(new, Union):
            return False
        values = [part for part in old.parts if isinstance(part, Literal)]
        more = [part for part in new.parts if part not in old.parts]
        return len(values) > 1 and set(old.parts) <= set(new.parts) and all(isinstance(part, Literal) for part in more)

    def holds_the_same(self, *, is_taken: bool, is_given: bool) -> bool:
        """Whether an interface has what it had and asks for no more, as far as users get values or give them."""
        old, new = (
            Declarations().members_at(scope, place) or Object(is_partial=True)
            for scope, place in zip((self._old, self._new), self._places, strict=True)
        )
        check = Assignment().check
        return (is_given or check(old, new) is not False) and (is_taken or check(new, old) is not False)

    def overloads_fit(self, before: Iterable[Header], after: Iterable[Header]) -> bool:
        """Whether each of the old signatures has a new one that may be called in the same way."""
        now = [self._function(header, self._new) for header in after]
        calls = [call for old in before for call in _calls(self._function(old, self._old))]
        return all(any(self.can_call(call, new) for new in now) for call in calls)

    @staticmethod
    def can_call(before: Term, after: Term) -> bool:
        """Whether a function of the new type can stand where one of the old type was."""
        return Assignment().check(after, before) is not False

    def _term(self, text: str, scope: FileScope, own: Mapping[str, Term] | None = None) -> Term:
        return parse_type(text, scope, {**self._around, **(own or {})})

    def _function(self, header: Header, scope: FileScope) -> Term:
        """The type of a function: the one that is written for it, or the one that its parameters make."""
        if header.annotation:
            return self._term(header.annotation, scope)
        own = _variables(header, scope, is_inferred=True)
        arguments = tuple(
            Argument(
                self._term(parameter.type, scope, own) if parameter.type else Named("any"),
                not parameter.is_required,
                parameter.how == "rest",
            )
            for parameter in header.parameters or ()
        )
        if header.parameters is None:
            return UNREAD
        return Function(arguments, self._term(header.returns, scope, own) if header.returns else Named("any"))

    def with_own(self, before: Header, after: Header) -> "TypeJudge":
        """The judge of a definition with type parameters of its own."""
        judge = object.__new__(TypeJudge)
        judge._old, judge._new, judge._places = self._old, self._new, self._places
        own = {
            **_variables(before, self._old, is_inferred=before.parameters is not None),
            **_variables(after, self._new, is_inferred=after.parameters is not None),
        }
        judge._around = {**self._around, **own}
        return judge


def _variables(header: Header, scope: FileScope, *, is_inferred: bool) -> dict[str, Term]:
    """The type parameters of a header."""
    found: dict[str, Term] = {}
    for parameter in type_parameters(header, scope.outline.rules)[0]:
        bound = " & ".join(sorted(parameter.asked))
        found[parameter.name] = Variable(
            parameter.name, parse_type(bound, scope, found) if bound else None, is_inferred
        )
    return found


def _around(outline: Outline, place: int, scope: FileScope) -> dict[str, Term]:
    """The type parameters of what a definition is in."""
    found: dict[str, Term] = {}
    parent = outline.entities[place].parent
    while parent >= 0:
        found = {**_variables(outline.parts(parent).header, scope, is_inferred=False), **found}
        parent = outline.entities[parent].parent
    return found


def _calls(term: Term) -> list[Term]:
    """A function with all of its arguments, and without one after the other that may be left out."""
    calls = [term]
    if isinstance(term, Function):
        given = term.arguments
        while given and given[-1].optional and not given[-1].rest and len(calls) < _MOST_CALLS:
            given = given[:-1]
            calls.append(Function(tuple(replace(each, optional=False) for each in given), term.result))
        if len(calls) > 1:
            calls[0] = Function(tuple(replace(each, optional=False) for each in term.arguments), term.result)
    return calls

"""Assignability of TypeScript's types: yes, no, or not known from the text."""

from collections.abc import Iterable
from dataclasses import replace

from codeplane.query.compare.type_declarations import Declarations
from codeplane.query.compare.type_terms import (
    Argument,
    Array,
    Function,
    Intersection,
    Literal,
    Named,
    Object,
    Opaque,
    Term,
    Tuple,
    Union,
    Variable,
    join_union,
)

_ANYTHING = frozenset({"any", "unknown"})
_PRIMITIVES = frozenset({"string", "number", "boolean", "bigint", "symbol", "null", "undefined", "void", "object"})
_MISSING = frozenset({"null", "undefined", "void"})
# What holds values of its arguments and gives them.
_HOLDERS = frozenset(
    [
        "Promise",
        "PromiseLike",
        "Set",
        "ReadonlySet",
        "Map",
        "ReadonlyMap",
        "Iterable",
        "AsyncIterable",
        "Iterator",
        "AsyncIterator",
        "IterableIterator",
        "AsyncIterableIterator",
        "Partial",
        "Required",
        "Record",
        "ArrayLike",
        "ReadableStream",
    ]
)
_DERIVED = frozenset({"Partial", "Required"})
_SEQUENCES = frozenset({"Iterable", "ArrayLike"})
_ARRAY_MEMBERS = frozenset({"length", "map", "filter", "forEach", "slice", "indexOf", "includes", "join"})
_MAX_DEPTH = 40
_MAX_STEPS = 20_000
Answer = bool | None


def _every(answers: Iterable[Answer]) -> Answer:
    result: Answer = True
    for answer in answers:
        if answer is False:
            return False
        result = None if answer is None else result
    return result


def _some(answers: Iterable[Answer]) -> Answer:
    result: Answer = False
    for answer in answers:
        if answer is True:
            return True
        result = None if answer is None else result
    return result


class Assignment:
    """Says whether a value of one type may stand where another is asked for; None where the text does not tell."""

    def __init__(self) -> None:
        self._steps = 0
        self._open: set[tuple[Term, Term]] = set()
        self._declarations = Declarations()

    def check(self, source: Term, target: Term, *, exact: bool = False) -> Answer:
        """`exact`: members that the target does not have are refused, as in a literal that is written out."""
        self._steps += 1
        if source == target:
            return True
        if self._steps > _MAX_STEPS or len(self._open) > _MAX_DEPTH:
            return None
        if (source, target) in self._open:
            return True
        self._open.add((source, target))
        try:
            return self._check(source, target, exact)
        finally:
            self._open.discard((source, target))

    def _check(self, source: Term, target: Term, exact: bool) -> Answer:
        if isinstance(target, Named) and target.name in _ANYTHING:
            return True
        if isinstance(source, Named) and source.name in ("any", "never"):
            return True
        if isinstance(source, Union):
            return _every(self.check(part, target, exact=exact) for part in source.parts)
        if isinstance(target, Union) and source in target.parts:
            return True
        if (written := self._declarations.alias(source)) is not None:
            return self.check(written, target, exact=exact)
        if isinstance(target, Union):
            return self._one_of(source, target, exact)
        if (written := self._declarations.alias(target)) is not None:
            return self.check(source, written, exact=exact)
        if isinstance(target, Variable) or isinstance(source, Variable):
            return self._variables(source, target)
        if isinstance(source, Opaque) or isinstance(target, Opaque):
            return None
        if isinstance(source, Intersection) or isinstance(target, Intersection):
            return self._intersections(source, target, exact)
        return self._plain(source, target, exact)

    def _one_of(self, source: Term, target: Union, exact: bool) -> Answer:
        if source == Named("boolean"):
            halves = (self.check(Literal(half), target) for half in ("true", "false"))
            if _every(halves):
                return True
        return _some(self.check(source, part, exact=exact) for part in target.parts)

    def _variables(self, source: Term, target: Term) -> Answer:
        if isinstance(target, Variable):
            if not target.is_inferred:
                return None
            return True if target.bound is None else self.check(source, target.bound)
        assert isinstance(source, Variable)
        if source.bound is None:
            return None
        answer = self.check(source.bound, target)
        # A call may find out something narrower than the bound.
        return None if answer is False and source.is_inferred else answer

    def _intersections(self, source: Term, target: Term, exact: bool) -> Answer:
        if isinstance(source, Intersection):
            found = _some(self.check(part, target) for part in source.parts)
            if found is True:
                return True
        mine, yours = self._declarations.members(source), self._declarations.members(target)
        if mine is not None and yours is not None:
            return self._objects(mine, yours, exact)
        if isinstance(target, Intersection):
            return _every(self.check(source, part) for part in target.parts)
        return None

    def _plain(self, source: Term, target: Term, exact: bool) -> Answer:
        """Types that are neither unions nor other names of something."""
        kinds = {_kind(source), _kind(target)}
        if "primitive" in kinds:
            return self._primitives(source, target)
        if isinstance(source, Array | Tuple) or isinstance(target, Array | Tuple):
            return self._arrays(source, target)
        if isinstance(source, Function) and isinstance(target, Function):
            return self._functions(source, target)
        if isinstance(source, Named) and isinstance(target, Named) and source.name == target.name:
            return self._arguments(source, target)
        if isinstance(target, Named) and target.name == "Function":
            return True if isinstance(source, Function) else None
        if isinstance(source, Named) and self._declarations.is_below(source, target, self.check):
            return True
        mine, yours = self._declarations.members(source), self._declarations.members(target)
        if isinstance(source, Function):
            mine = Object(calls=(source,))
        if isinstance(target, Function):
            yours = Object(calls=(target,))
        if mine is None or yours is None:
            return self._declarations.of_outside(source, target)
        answer = self._objects(mine, yours, exact)
        # A class may have members that only its own instances have.
        return None if answer and self._declarations.is_class(target) else answer

    def _primitives(self, source: Term, target: Term) -> Answer:
        name = target.name if isinstance(target, Named) else ""
        if _kind(source) == "primitive":
            own = _primitive(source)
            if name in _PRIMITIVES or isinstance(target, Literal):
                return own == name or (own == "undefined" and name == "void")
            if isinstance(target, Object) and not target.members and not target.calls and target.index is None:
                return own not in _MISSING
            if name == "Object":
                return own not in _MISSING
            return self._declarations.of_outside(source, target) if isinstance(target, Named) else False
        if name == "object":
            return True if not isinstance(source, Named) or source.name[:1].isupper() else None
        return self._declarations.of_outside(source, target) if isinstance(source, Named) else False

    def _arrays(self, source: Term, target: Term) -> Answer:
        if isinstance(target, Array):
            if isinstance(source, Tuple):
                return _every(self.check(item, target.item) for item in source.items)
            if isinstance(source, Array):
                return False if source.readonly and not target.readonly else self.check(source.item, target.item)
            return self._declarations.of_outside(source, target)
        if isinstance(target, Tuple):
            if not isinstance(source, Tuple):
                return False if isinstance(source, Array) else self._declarations.of_outside(source, target)
            if len(source.items) != len(target.items):
                return False
            return _every(map(self.check, source.items, target.items))
        if isinstance(target, Named) and target.name in _SEQUENCES and len(target.arguments) == 1:
            items = source.items if isinstance(source, Tuple) else (source.item,) if isinstance(source, Array) else ()
            return _every(self.check(item, target.arguments[0]) for item in items)
        if isinstance(target, Object):
            needed = [name for name, member in target.members if not member.optional and name not in _ARRAY_MEMBERS]
            return False if needed or target.calls else None if target.members else True
        return False if isinstance(target, Function) else self._declarations.of_outside(source, target)

    def _functions(self, source: Function, target: Function) -> Answer:
        """A function may ignore arguments, take more than it is given, and give less than is expected."""
        answers: list[Answer] = []
        if _may_be_nothing(target.result):
            answers.append(True)
        else:
            answers.append(self.check(source.result, target.result))
        for at, wanted in enumerate(source.arguments):
            if wanted.rest:
                answers += [
                    self.check(given.type, _item(wanted.type)) for given in target.arguments[at:] if not given.rest
                ]
                answers += [
                    self.check(_item(given.type), _item(wanted.type)) for given in target.arguments[at:] if given.rest
                ]
                break
            given = _argument(target, at)
            if given is None:
                answers.append(wanted.optional)
            elif given.optional and not wanted.optional and not given.rest:
                answers.append(_takes_undefined(wanted.type))
            else:
                answers.append(self.check(given.type, _or_missing(wanted.type, wanted.optional)))
        return _every(answers)

    def _arguments(self, source: Named, target: Named) -> Answer:
        """The same type with other arguments; where one leaves some out they have defaults."""
        pairs = list(zip(source.arguments, target.arguments, strict=False))
        if source.name in _HOLDERS and source.name not in _DERIVED:
            return _every(self.check(mine, yours) for mine, yours in pairs)
        mine, yours = self._declarations.members(source), self._declarations.members(target)
        if self._declarations.is_class(target):
            # What changed in a class is judged there.
            mine = None
        if mine is not None and yours is not None and not mine.is_partial and not yours.is_partial:
            return self._objects(mine, yours, exact=False)
        answers: list[Answer] = []
        for one, other in pairs:
            there, back = self.check(one, other), self.check(other, one)
            answers.append(True if there and back else False if there is False and back is False else None)
        return _every(answers)

    def _objects(self, source: Object, target: Object, exact: bool) -> Answer:
        mine, yours = dict(source.members), dict(target.members)
        answers: list[Answer] = [None] * (target.is_partial or source.is_partial)
        for name, wanted in yours.items():
            given = mine.get(name)
            if given is None:
                known = not source.is_partial and source.index is None
                answers.append(True if wanted.optional else False if known else None)
            elif given.optional and not wanted.optional:
                answers.append(_takes_undefined(wanted.type))
            else:
                type_ = _or_missing(wanted.type, wanted.optional)
                answers.append(self.check(_or_missing(given.type, given.optional), type_, exact=exact))
        for name, given in mine.items():
            if name in yours:
                continue
            if target.index is not None:
                answers.append(self.check(given.type, target.index, exact=exact))
            elif exact and not target.is_partial:
                answers.append(False)
        if source.index is not None and target.index is not None:
            answers.append(self.check(source.index, target.index))
        elif target.index is not None and source.is_partial:
            answers.append(None)
        for call in target.calls:
            known = not source.is_partial
            answers.append(
                _some(self._functions(own, call) for own in source.calls) if source.calls else False if known else None
            )
        return _every(answers)


def _may_be_nothing(term: Term) -> bool:
    """Whether nobody can use what a function gives: it may be nothing, now or later."""
    parts = term.parts if isinstance(term, Union) else (term,)
    nothing = Named("void")
    return nothing in parts and all(part in (nothing, Named("Promise", (nothing,))) for part in parts)


def _kind(term: Term) -> str:
    if isinstance(term, Literal) or (isinstance(term, Named) and term.name in _PRIMITIVES):
        return "primitive"
    return "other"


def _primitive(term: Term) -> str:
    """The primitive type of a value."""
    if isinstance(term, Named):
        return term.name
    assert isinstance(term, Literal)
    if term.text in ("true", "false"):
        return "boolean"
    return "string" if term.text[:1] == "'" else "bigint" if term.text.endswith("n") else "number"


def _item(term: Term) -> Term:
    return term.item if isinstance(term, Array) else Opaque("items")


def _argument(function: Function, at: int) -> Argument | None:
    """What a call gives at a place."""
    given = function.arguments
    if at < len(given) and not given[at].rest:
        return given[at]
    if given and given[-1].rest and at >= len(given) - 1:
        return replace(given[-1], type=_item(given[-1].type))
    return None


def _takes_undefined(term: Term) -> bool:
    parts = term.parts if isinstance(term, Union) else (term,)
    return any(isinstance(part, Named) and part.name in ("undefined", "any", "unknown") for part in parts)


def _or_missing(term: Term, optional: bool) -> Term:
    """What is taken where nothing may be given."""
    return join_union((term, Named("undefined"))) if optional else term

"""What a change does to those who use a definition: whether it breaks them, and why."""

import re
from collections.abc import Sequence

from codeplane.code.languages.contract import Contract
from codeplane.query.compare.base_classes import judge_bases
from codeplane.query.compare.constructors import takes_away
from codeplane.query.compare.fields import field_of, is_tuple, judge_field, judge_made, judge_order
from codeplane.query.compare.generators import gives_the_same
from codeplane.query.compare.generics import as_called_now, judge_generics, type_parameters
from codeplane.query.compare.header import Header
from codeplane.query.compare.lambdas import called_with
from codeplane.query.compare.operators import judge_operators
from codeplane.query.compare.outline import Outline
from codeplane.query.compare.pairing import Pair
from codeplane.query.compare.parameter_changes import judge_calls
from codeplane.query.compare.parameters import Parameter
from codeplane.query.compare.qualifiers import gives_no_more
from codeplane.query.compare.rules import CALLABLES, ORDER, PROMISES, VALUES
from codeplane.query.compare.tokens import tight
from codeplane.query.compare.traits import Implemented, lost
from codeplane.query.compare.type_compatibility import narrows, widens
from codeplane.query.compare.verdict import Verdict

_TYPES = frozenset({"interface", "type"})
_IMPLEMENTING = frozenset({"struct", "enum", "union"})
# What is around a function that makes something else of it.
_WRAPPERS = ("contextmanager", "asynccontextmanager")
_TASK = r"Promise\b|Task\b|ValueTask\b|System \. Threading"
_ASSIGNED = frozenset({"variable", "constant", "field", "property"})
_CONTAINED = frozenset({"struct", "record", "enum_member"})
_WAYS = {"staticmethod": "static method", "classmethod": "class method", "property": "property"}


def on_added(new: Outline, place: int, old: Outline | None) -> list[str]:
    """Why a definition that came breaks those who build on what it is in; nothing where it does not.

    `old` is the file as it was, if it was there.
    """
    one = new.entities[place]
    if one.parent < 0 or not new.known:
        return []
    around = new.entities[one.parent]
    header, holder = new.parts(place).header, new.parts(one.parent).header
    if new.visibility(one.parent) != "public":
        return []
    if takes_away(old, new, place):
        return [f"{around.name} can no longer be made with nothing"]
    if "deleted" in header.modifiers:
        return ["it is refused now"]
    if new.language.classes.traits and around.kind == "trait" and one.kind == "type":
        return [] if header.rest else [f"{around.name} asks for it now"]
    if new.rules.protocols and any(re.match(r"(?:\w+ \. )*Protocol\b", base) for base in holder.bases):
        return [f"{around.name} asks for it now"] if around.kind == "class" else []
    if around.kind in PROMISES and one.kind != "type":
        needed = not header.optional and not (header.has_body and one.kind in CALLABLES)
        if new.rules.default_methods and (header.modifiers & {"default", "static", "private"} or one.kind == "field"):
            needed = False
        if new.rules.default_methods and around.kind == "annotation" and "default" in header.rest.split():
            needed = False
        if new.language.classes.traits and one.kind == "constant" and header.has_body:
            needed = False
        return [f"{around.name} asks for it now"] if needed and one.kind != "enum_member" else []
    if "abstract" in header.modifiers or any("abstractmethod" in mark for mark in header.marks):
        return [f"{around.name} asks for it now"]
    if one.kind == "enum_member" and new.rules.closed_enums and not _is_open(holder):
        return ["every match over it has to name it"]
    if one.kind == "field" and new.rules.closed_structs and around.kind == "struct" and not _is_open(holder):
        others = [child for child in new.children.get(one.parent, ()) if child != place]
        fields = [child for child in others if new.entities[child].kind == "field"]
        if fields and all(new.visibility(child) == "public" for child in fields):
            return ["every value that is written out has to name it"]
    field = field_of(new, place)
    if field is not None and field.given == "required":
        return ["it has to be given now"]
    return ["every value that is taken apart has one more"] if field is not None and is_tuple(holder) else []


def on_changed(pair: Pair, elsewhere: Implemented = frozenset()) -> Verdict:
    """What another head says to those who use it; `elsewhere` are the traits that other files give now."""
    assert pair.old is not None and pair.new is not None
    found = Verdict()
    before, after = pair.old.entities[pair.old_place], pair.new.entities[pair.new_place]
    one, two = pair.old.parts(pair.old_place).header, pair.new.parts(pair.new_place).header
    one = as_called_now(pair.old, pair.old_place, pair.new, pair.new_place, one)
    rules = pair.new.rules
    old_seen, new_seen = pair.old.visibility(pair.old_place), pair.new.visibility(pair.new_place)
    if before.name != after.name:
        new_seen = old_seen
    if ORDER[new_seen] > ORDER[old_seen]:
        found.say(f"{old_seen} before, {new_seen} now", breaks=ORDER[old_seen] < 2, tag="visibility_changed")
    elif old_seen != new_seen:
        found.say(f"{old_seen} before, {new_seen} now", breaks=False, tag="visibility_changed")
    if after.name in pair.new.type_only and after.name not in pair.old.type_only and before.kind not in _TYPES:
        found.say("only its type is given away", breaks=True, tag="visibility_changed")
    if before.kind != after.kind and {before.kind, after.kind} != {"function", "prototype"}:
        if after.kind == "type" and _is_same_by_name(pair.new, two, before.kind):
            found.say(f"a name for {two.rest.split()[1]} now", breaks=False, tag="kind_changed")
            return found
        if rules.lambda_values and _judge_lambda(found, pair):
            return found
        called = before.kind in CALLABLES and _way(one) != "property"
        calls = after.kind in CALLABLES and _way(two) != "property"
        _judge_kind(found, before.kind, after.kind, still=not called and not calls)
        return found
    _judge_words(found, before.kind, one, two, rules)
    _judge_marks(found, one, two, rules)
    if pair.new.language.classes.traits and before.kind in _IMPLEMENTING:
        gone = lost(pair.old, pair.old_place, pair.new, pair.new_place, elsewhere)
        if gone:
            found.say(f"no longer has {', '.join(gone)}", breaks=True, tag="decorators_changed")
    if rules.operators:
        judge_operators(found, pair.old, pair.old_place, pair.new, pair.new_place)
    if one.parameters != two.parameters:
        _judge_parameters(found, pair, one, two)
    _judge_types(found, before.kind, one, two, rules)
    judge_bases(found, pair.old, pair.old_place, pair.new, pair.new_place)
    if rules.field_classes:
        judge_field(found, pair.old, pair.old_place, pair.new, pair.new_place)
        judge_order(found, pair.old, pair.old_place, pair.new, pair.new_place)
        judge_made(found, pair.old, pair.old_place, pair.new, pair.new_place)
    promised = after.parent >= 0 and pair.new.entities[after.parent].kind in PROMISES
    if promised and before.kind in CALLABLES and one.has_body and not two.has_body:
        found.say("has to be given by everyone now", breaks=True)
    if one.optional and not two.optional:
        found.say("has to be there now", breaks=promised)
    elif two.optional and not one.optional:
        found.say("may be missing now", breaks=True)
    return found


def _judge_kind(found: Verdict, before: str, after: str, *, still: bool) -> None:
    """`still` when it was, and is, a value to whoever uses it."""
    values = still and {before, after} <= _ASSIGNED | CALLABLES
    found.say(f"a {before} before, a {after} now", breaks=not values, tag="kind_changed")


def _judge_words(found: Verdict, kind: str, one: Header, two: Header, rules: Contract) -> None:
    for word in sorted(two.modifiers - one.modifiers):
        if word == "*":
            found.say("a generator now", breaks=not gives_the_same(one, two))
        elif word == "async" and one.returns == two.returns and re.match(_TASK, one.returns):
            found.say("async now, and gives what it gave", breaks=False)
        elif word not in ORDER and word not in ("open",):
            breaks = word in rules.added and not (word == "readonly" and kind == "class")
            found.say(f"{word} now", breaks=breaks)
    for word in sorted(one.modifiers - two.modifiers):
        if word == "*":
            found.say("no generator any more", breaks=not gives_the_same(one, two))
        elif word == "async" and one.returns == two.returns and re.match(_TASK, one.returns):
            found.say("no longer async, and gives what it gave", breaks=False)
        elif word not in ORDER:
            found.say(f"no longer {word}", breaks=word in rules.removed)


def _judge_marks(found: Verdict, one: Header, two: Header, rules: Contract) -> None:
    if one.marks == two.marks:
        return
    if rules.non_exhaustive:
        came = "non_exhaustive" in " ".join(two.marks) and "non_exhaustive" not in " ".join(one.marks)
        if came:
            found.say("non_exhaustive now", breaks=True, tag="decorators_changed")
    if rules.decorators:
        before, after = _way(one), _way(two)
        if before != after:
            breaks = {before, after} != {"static method", "class method"}
            found.say(f"{before} before, {after} now", breaks=breaks, tag="decorators_changed")
        for word in ("abstractmethod", "final"):
            if _has(two, word) and not _has(one, word):
                found.say(f"{word} now", breaks=True, tag="decorators_changed")
        for word in _WRAPPERS:
            # What is no generator without it may give what it gives by hand.
            if _has(one, word) != _has(two, word) and "*" in one.modifiers & two.modifiers:
                told = f"no longer {word}" if _has(one, word) else f"{word} now"
                found.say(told, breaks=True, tag="decorators_changed")
        if before == after == "property" and _setter(one) and not _setter(two):
            found.say("can no longer be set", breaks=True, tag="decorators_changed")
    if not found.breaking and "decorators_changed" not in found.tags:
        gone = [mark for mark in one.marks if mark not in two.marks]
        come = [mark for mark in two.marks if mark not in one.marks]
        words = _other_marks(gone, come)
        found.say(_clipped(", ".join(words), 200) or "order of decorators", breaks=False, tag="decorators_changed")


def _judge_parameters(found: Verdict, pair: Pair, one: Header, two: Header) -> None:
    assert pair.new is not None
    found.tag("parameters_changed")
    rules = pair.new.rules
    old, new = list(one.parameters or ()), list(two.parameters or ())
    if pair.new.language.classes.receiver_parameter:
        is_method = pair.now.kind == "method"
        old, new = _given(old, one, is_method=is_method), _given(new, two, is_method=is_method)
    judge_calls(found, old, new, rules)


def _judge_types(found: Verdict, kind: str, one: Header, two: Header, rules: Contract) -> None:
    before, first = type_parameters(one, rules)
    after, second = type_parameters(two, rules)
    judge_generics(found, before, after, typed=rules.typed, inferred=kind in CALLABLES and rules.infers_type_arguments)
    if one.returns != two.returns:
        if rules.unions:
            breaks = bool(one.returns) and bool(two.returns) and not narrows(one.returns, two.returns)
            breaks = breaks if kind in CALLABLES else one.returns != two.returns and bool(one.returns)
        else:
            breaks = rules.typed and (bool(one.returns) or kind in CALLABLES)
            breaks = breaks and not (kind in CALLABLES and gives_no_more(one.returns, two.returns, rules))
        what = "gives" if kind in CALLABLES else "is"
        told = f"{what} {_plain(two.returns)} now, {_plain(one.returns)} before"
        found.say(told, breaks=breaks, tag="return_type_changed")
    if first != second and kind != "export":
        virtual = "virtual" in two.modifiers
        _judge_rest(found, kind, first, second, rules, virtual=virtual)
    elif first != second:
        found.say(f"comes from {two.rest.split()[-1]} now", breaks=False)


def _judge_rest(found: Verdict, kind: str, one: str, two: str, rules: Contract, *, virtual: bool) -> None:
    if rules.qualified_methods and kind in CALLABLES:
        had, has = set(one.split()), set(two.split())
        for word in sorted(had ^ has):
            breaks = word != "noexcept" and (word in had or word != "const" or virtual)
            found.say(f"{word} now" if word in has else f"no longer {word}", breaks=breaks)
    elif kind == "type" and rules.unions:
        before, after = one.removeprefix("= "), two.removeprefix("= ")
        found.say("the type is another", breaks=not widens(before, after, members=True))
    elif rules.pointer_receivers and kind == "method":
        found.say("of a pointer now" if two == "*" else "of a value now", breaks=two == "*")
    elif kind == "property":
        narrower = one == "set" and two == "init"
        told = "can only be set when it is made" if narrower else "can be set now" if two else "can no longer be set"
        found.say(told, breaks=not two or narrower)
    elif one.startswith("throws") or two.startswith("throws"):
        more = set(two.split()) - set(one.split()) - {"throws", ","}
        found.say(f"throws {', '.join(sorted(more))}" if more else "throws less", breaks=bool(more))
    elif kind == "enum_member" and rules.enum_constructors:
        found.say("made from other values", breaks=False)
    else:
        found.say(f"{_plain(two)} now, {_plain(one)} before", breaks=rules.typed)


def layout_breaks(pair: Pair) -> bool:
    """Whether another body is another shape: of what is written down field by field, not done step by step."""
    assert pair.new is not None
    kind = pair.now.kind
    if kind in VALUES or kind in CALLABLES:
        return False
    rules = pair.new.rules
    return rules.typed and (kind in _CONTAINED or (kind in PROMISES and rules.whole_interfaces))


def _given(parameters: list[Parameter], header: Header, *, is_method: bool) -> list[Parameter]:
    """The parameters a call gives: not the object itself."""
    if is_method and parameters and _way(header) != "static method":
        return parameters[1:]
    return parameters


def _way(header: Header) -> str:
    for mark in header.marks:
        words = mark.replace("(", " ").split()
        for word in words[1:]:
            if word in _WAYS:
                return _WAYS[word]
            if word in ("cached_property", "setter", "getter", "deleter"):
                return "property"
    return "method"


def _setter(header: Header) -> bool:
    return any("setter" in mark for mark in header.marks)


def _has(header: Header, word: str) -> bool:
    return any(word in mark.split() for mark in header.marks)


def _is_same_by_name(new: Outline, header: Header, kind: str) -> bool:
    """Whether a type is another name for one of the same kind in its file."""
    words = header.rest.split()
    return len(words) == 2 and words[0] == "=" and bool(new.named.get((-1, kind, words[1])))


def _judge_lambda(found: Verdict, pair: Pair) -> bool:
    """Judge a lambda that became a function, or the other way round; whether it was that."""
    assert pair.old is not None and pair.new is not None
    before, after = called_with(pair.old, pair.old_place), called_with(pair.new, pair.new_place)
    if before is None or after is None:
        return False
    found.say("a function all the same", breaks=False, tag="kind_changed")
    judge_calls(found, before, after, pair.new.rules)
    return True


def _is_open(header: Header) -> bool:
    return any("non_exhaustive" in mark for mark in header.marks)


def _other_marks(gone: Sequence[str], come: Sequence[str]) -> list[str]:
    went, came = [_mark(mark) for mark in gone], [_mark(mark) for mark in come]
    # Of a decorator with a long table of arguments, both sides begin alike.
    alike = [mark for mark in came if mark in went]
    said = [f"{mark.partition('(')[0]}(…) with other arguments" for mark in alike]
    return [*said, *(f"+{one}" for one in came if one not in alike), *(f"-{one}" for one in went if one not in alike)]


def _mark(mark: str) -> str:
    """A decorator; of one with a long table of arguments the beginning tells which it is."""
    return _clipped(mark.replace(" ", ""), 60)


def _clipped(said: str, most: int) -> str:
    return said if len(said) <= most else f"{said[: most - 1]}…"


def _plain(said: str) -> str:
    return _clipped(tight(said), 80) or "nothing"

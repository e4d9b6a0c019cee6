"""Types of TypeScript, parsed from their tokens."""

import re
from collections.abc import Mapping, Sequence

from codeplane.query.compare.type_terms import (
    UNREAD,
    Argument,
    Array,
    Function,
    Intersection,
    Literal,
    Member,
    Named,
    Object,
    Opaque,
    Scope,
    Term,
    Tuple,
    Variable,
    join_union,
)

_TOKEN = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|=>|\.\.\.|[\w$#]+|[^\s\w]")
_OPENING, _CLOSING = "([{<", ")]}>"
_MEMBER_WORDS = frozenset({"readonly", "get", "set", "static", "public", "declare", "override", "abstract"})
_COMPUTED = frozenset(
    [
        "Awaited",
        "Capitalize",
        "ConstructorParameters",
        "Exclude",
        "Extract",
        "InstanceType",
        "Lowercase",
        "NonNullable",
        "Parameters",
        "ReturnType",
        "ThisType",
        "Uncapitalize",
        "Uppercase",
    ]
)
_MAX_DEPTH = 60


class _Unreadable(Exception):
    """The tokens are no type that is understood."""


def parse_type(text: str, scope: Scope | None = None, names: Mapping[str, Term] | None = None) -> Term:
    """Parse a type; `names` are type parameters and what they stand for."""
    tokens = _TOKEN.findall(text)
    reader = _Reader(tokens, scope, dict(names or {}))
    try:
        term = reader.type()
    except (_Unreadable, IndexError):
        return Opaque(text)
    return term if reader.at == len(tokens) else Opaque(text)


def parse_object(text: str, scope: Scope | None, names: Mapping[str, Term]) -> Object:
    """Parse the braces of an interface or a class of declarations."""
    term = parse_type(text, scope, names)
    return term if isinstance(term, Object) else Object(is_partial=True)


class _Reader:
    """Reads one type after the other from tokens."""

    def __init__(self, tokens: Sequence[str], scope: Scope | None, names: dict[str, Term]) -> None:
        self._tokens = tokens
        self._scope = scope
        self._names = names
        self._depth = 0
        self.at = 0

    def _peek(self, ahead: int = 0) -> str:
        place = self.at + ahead
        return self._tokens[place] if place < len(self._tokens) else ""

    def _take(self, wanted: str = "") -> str:
        token = self._tokens[self.at]
        if wanted and token != wanted:
            raise _Unreadable
        self.at += 1
        return token

    def _skip_brackets(self) -> None:
        depth = 0
        while True:
            token = self._take()
            depth += (token in _OPENING) - (token in _CLOSING)
            if not depth:
                return

    def _after_brackets(self) -> str:
        """The token behind the bracket that closes the one here."""
        start = self.at
        self._skip_brackets()
        token, self.at = self._peek(), start
        return token

    def type(self) -> Term:
        """Read a type, conditional ones included."""
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise _Unreadable
        if self._peek() in ("|", "&"):
            self.at += 1
        parts = [self._all_of()]
        while self._peek() == "|":
            self.at += 1
            parts.append(self._all_of())
        self._depth -= 1
        if self._peek() == "extends":
            self.at += 1
            self.type()
            self._take("?")
            self.type()
            self._take(":")
            self.type()
            return UNREAD
        return join_union(parts)

    def _all_of(self) -> Term:
        parts = [self._postfix()]
        while self._peek() == "&":
            self.at += 1
            parts.append(self._postfix())
        return parts[0] if len(parts) == 1 else Intersection(tuple(parts))

    def _postfix(self) -> Term:
        term = self._primary()
        while self._peek() == "[":
            if self._peek(1) == "]":
                self.at += 2
                term = Array(term)
                continue
            if self._peek(2) == ":" or self._peek(2) == "in":
                # The next member of an object whose lines end without a sign.
                break
            start = self.at
            self._skip_brackets()
            term = Opaque(f"{term} {self._tokens[start : self.at]}")
        return term

    def _primary(self) -> Term:
        token = self._peek()
        if token == "(":
            if self._after_brackets() == "=>":
                return self._function("=>")
            self._take("(")
            term = self.type()
            self._take(")")
            return term
        if token == "<":
            return self._function("=>")
        if token == "{":
            return self._object()
        if token == "[":
            return self._tuple()
        if token in ("new", "abstract") and self._peek(1) in ("(", "<", "new"):
            while self._peek() in ("new", "abstract"):
                self.at += 1
            self._function("=>")
            return UNREAD
        if token in ("keyof", "typeof", "unique", "infer") and (
            self._peek(1)[:1].isidentifier() or self._peek(1) in "(["
        ):
            self.at += 1
            start = self.at
            self._postfix()
            return Opaque(f"{token} {' '.join(self._tokens[start : self.at])}")
        if token == "readonly":
            self.at += 1
            term = self._postfix()
            return Array(term.item, readonly=True) if isinstance(term, Array) else term
        if token == "asserts" and self._peek(1)[:1].isidentifier():
            self.at += 2
            if self._peek() == "is":
                self.at += 1
                self._postfix()
            return Named("void")
        if token == "`":
            self.at += 1
            while self._take() != "`":
                pass
            return UNREAD
        if token[:1] in "'\"" or token[:1].isdigit() or token in ("true", "false"):
            return Literal(self._take().replace('"', "'"))
        if token == "-":
            self.at += 1
            return Literal(f"-{self._take()}")
        return self._name()

    def _name(self) -> Term:
        name = self._take()
        if not re.match(r"[A-Za-z_$]", name) or (name == "import" and self._peek() == "("):
            raise _Unreadable
        while self._peek() == "." and self._peek(1)[:1].isidentifier():
            name += f".{self._peek(1)}"
            self.at += 2
        if self._peek() == "is" and self._peek(1) not in ("", ":", "?", ";", ",", ")", "}"):
            self.at += 1
            self.type()
            return Named("boolean")
        if name in self._names:
            return self._names[name]
        arguments: list[Term] = []
        if self._peek() == "<":
            self._take("<")
            while self._peek() != ">":
                arguments.append(self.type())
                if self._peek() == ",":
                    self.at += 1
            self._take(">")
        return _named(name, tuple(arguments), self._scope)

    def _function(self, arrow: str) -> Function:
        own = dict(self._names)
        if self._peek() == "<":
            self._type_parameters()
        arguments = self._arguments()
        result: Term = Named("any")
        if self._peek() == arrow:
            self.at += 1
            result = self.type()
        self._names = own
        return Function(arguments, result)

    def _type_parameters(self) -> None:
        self._take("<")
        while self._peek() != ">":
            while self._peek() in ("const", "in", "out") and self._peek(1) not in (",", ">", "extends", "="):
                self.at += 1
            name = self._take()
            self._names[name] = Variable(name, None, True)
            bound: Term | None = None
            if self._peek() == "extends":
                self.at += 1
                bound = self.type()
            if self._peek() == "=":
                self.at += 1
                self.type()
            self._names[name] = Variable(name, bound, True)
            if self._peek() == ",":
                self.at += 1
        self._take(">")

    def _arguments(self) -> tuple[Argument, ...]:
        self._take("(")
        arguments: list[Argument] = []
        while self._peek() != ")":
            rest = self._peek() == "..."
            self.at += rest
            name = self._peek()
            if name in ("{", "["):
                self._skip_brackets()
            else:
                self.at += 1
            optional = self._peek() == "?"
            self.at += optional
            type_: Term = Named("any")
            if self._peek() == ":":
                self.at += 1
                type_ = self.type()
            if name != "this":
                arguments.append(Argument(type_, optional, rest))
            if self._peek() == ",":
                self.at += 1
        self._take(")")
        return tuple(arguments)

    def _tuple(self) -> Term:
        self._take("[")
        items: list[Term] = []
        is_read = True
        while self._peek() != "]":
            if self._peek() == "...":
                self.at += 1
                is_read = False
            if self._peek(1) == ":" or (self._peek(1) == "?" and self._peek(2) == ":"):
                is_read = is_read and self._peek(1) == ":"
                self.at += 2 if self._peek(1) == ":" else 3
            items.append(self.type())
            if self._peek() == "?":
                self.at += 1
                is_read = False
            if self._peek() == ",":
                self.at += 1
        self._take("]")
        return Tuple(tuple(items)) if is_read else Opaque(f"[{items}]")

    def _object(self) -> Term:
        mapped = self._peek(1) in ("-", "+") or any(
            self._peek(ahead) == "[" and self._peek(ahead + 2) == "in" for ahead in (1, 2)
        )
        if mapped:
            start = self.at
            self._skip_brackets()
            return Opaque(" ".join(self._tokens[start : self.at]))
        self._take("{")
        members: dict[str, Member] = {}
        index: Term | None = None
        calls: list[Function] = []
        is_partial = False
        while self._peek() != "}":
            if self._peek() in (";", ","):
                self.at += 1
                continue
            while self._peek() in _MEMBER_WORDS and self._peek(1) not in (":", "?", "(", "<", ";", ",", "}"):
                self.at += 1
            if self._peek() in ("(", "<"):
                calls.append(self._function(":"))
            elif self._peek() == "new" and self._peek(1) in ("(", "<"):
                self.at += 1
                self._function(":")
                is_partial = True
            elif self._peek() == "[" and self._peek(2) == ":":
                self._skip_brackets()
                self._take(":")
                index = self.type()
            else:
                name, member = self._member()
                known = members.get(name)
                # A method may be declared several times.
                members[name] = member if known is None else Member(UNREAD, member.optional)
        self._take("}")
        return Object(tuple(sorted(members.items(), key=lambda item: item[0])), index, tuple(calls), is_partial)

    def _member(self) -> tuple[str, Member]:
        start = self.at
        if self._peek() == "[":
            self._skip_brackets()
        elif not re.match(r"[\w$#'\"]", self._take()):
            raise _Unreadable
        name = "".join(self._tokens[start : self.at]).strip("'\"")
        optional = self._peek() == "?"
        self.at += optional
        if self._peek() in ("(", "<"):
            return name, Member(self._function(":"), optional)
        if self._peek() == ":":
            self.at += 1
            return name, Member(self.type(), optional)
        return name, Member(Named("any"), optional)


def _named(name: str, arguments: tuple[Term, ...], scope: Scope | None) -> Term:
    """A type by its name, with the names that the language has for arrays and computed types."""
    if name in ("Array", "ReadonlyArray") and len(arguments) == 1:
        return Array(arguments[0], readonly=name == "ReadonlyArray")
    if name == "Readonly" and len(arguments) == 1:
        return arguments[0]
    if name in _COMPUTED:
        return Opaque(f"{name} {arguments}")
    if name == "boolean":
        return Named("boolean")
    return Named(name, arguments, scope)

"""The variables and parameters of Rust's functions, and where each of them can be seen."""

from msgspec import Struct

from codeplane.code.entity import Bound
from codeplane.code.languages.member_resolver import CodeView
from codeplane.code.languages.rust.syntax import FUNCTIONS, Node, around, field, text_of
from codeplane.code.model import REASONS

# Functions inside an `impl` block see its parameters.
_ANY = -2
_COMPARING = frozenset({"match_arm", "let_condition"})
# A constant parameter is a value that stands among types.
_CONSTANT = "constant"
_TYPES = frozenset({"struct", "enum", "union", "trait", "type", "alias"})
_LOCAL = frozenset({REASONS.index("PARAM"), REASONS.index("LOCAL_ASSIGN")})


class Reach(Struct, frozen=True, gc=False):
    """Where a binding can be seen, and the function it is in; `space` is its namespace."""

    start: int
    end: int
    function: int
    space: str


class RustLocals:
    """Finds the binding that a name inside a function means, by where each binding begins to be seen."""

    def __init__(self, view: CodeView) -> None:
        self._view = view
        self._reaches: dict[tuple[str, int], Reach | None] = {}

    def find(self, path: str, offset: int, name: str, space: str) -> tuple[Bound, int] | None:
        """Return the variable, parameter or type parameter that a name at a place means, and where it is bound."""
        facts = self._view.facts(path)
        if facts is None:
            return None
        best: tuple[int, Bound, int] | None = None
        inside: int | None = None
        for scope, rows in facts.rows_by_scope(name).items():
            for row in rows:
                if facts.bind_reason(row) not in _LOCAL:
                    continue
                at = facts.bind_at(row)
                reach = self._reach(path, at, len(name.encode()))
                if at == offset and reach is not None:
                    return Bound(path, scope, name), at
                if reach is None or not reach.start <= offset < reach.end or not self._is_in(reach, space, name):
                    continue
                if reach.space == "value" and reach.function != _ANY:
                    if inside is None:
                        inside = self._function(path, offset)
                    if inside != reach.function:
                        continue
                if best is None or reach.start >= best[0]:
                    best = (reach.start, Bound(path, scope, name), at)
        return best[1:] if best is not None else None

    def _function(self, path: str, offset: int) -> int:
        node = self._view.node(path, offset, offset)
        return _function_of(node) if node is not None else -1

    def _is_in(self, reach: Reach, space: str, name: str) -> bool:
        """Whether a binding is in a namespace; `Type<N>` reads a constant where there is no type of its name."""
        if reach.space != _CONSTANT:
            return space in ("", reach.space)
        return space in ("", "value") or not any(
            (facts := self._view.facts(path)) is None or facts.definitions[index].kind in _TYPES
            for path, index in self._view.find_definitions(name)[0]
        )

    def _reach(self, path: str, at: int, length: int) -> Reach | None:
        key = (path, at)
        if key not in self._reaches:
            node = self._view.node(path, at, at + length)
            self._reaches[key] = _reach_of(node) if node is not None else None
        return self._reaches[key]


def binder_of(node: Node) -> Node | None:
    """Return what binds the name of a pattern: a `let`, an arm of a match, a loop, a closure, a parameter."""
    below = node
    for ancestor in around(node):
        if ancestor.type in ("let_declaration", "let_condition", "match_arm", "for_expression", "parameter"):
            return ancestor
        if ancestor.type in ("closure_expression", "type_parameter", "const_parameter"):
            return ancestor
        if ancestor.type == "type_parameters":
            return below
        if ancestor.type.endswith("_item") or ancestor.type == "block":
            return None
        below = ancestor
    return None


def _function_of(node: Node) -> int:
    return next((ancestor.start_byte for ancestor in around(node) if ancestor.type in FUNCTIONS), -1)


def _reach_of(node: Node) -> Reach | None:
    binder = binder_of(node)
    above = binder.parent if binder is not None else None
    if binder is None or above is None:
        return None
    if binder.type in _COMPARING and text_of(node)[:1].isupper():
        # A constant or variant that is compared with.
        return None
    function = _function_of(node)
    start, end, space = binder.end_byte, above.end_byte, "value"
    match binder.type:
        case "let_condition":
            while above is not None and above.type in ("let_chain", "binary_expression", "parenthesized_expression"):
                above = above.parent
            if above is None:
                return None
            body = field(above, "consequence") or field(above, "body")
            if above.type == "match_pattern" and above.parent is not None:
                end = above.parent.end_byte
            else:
                end = body.end_byte if body is not None else above.end_byte
        case "match_arm":
            start, end = node.start_byte, binder.end_byte
        case "for_expression":
            body = field(binder, "body")
            start, end = (body.start_byte, body.end_byte) if body is not None else (start, end)
        case "closure_expression":
            listed = field(binder, "parameters")
            start, end = (listed.end_byte if listed is not None else node.end_byte), binder.end_byte
        case "parameter":
            owner = above.parent
            if owner is None:
                return None
            start, end = above.end_byte, owner.end_byte
            function = owner.start_byte if owner.type in FUNCTIONS else function
        case "type_parameter" | "const_parameter" | "type_identifier":
            item = above.parent
            if item is None:
                return None
            start, end = item.start_byte, item.end_byte
            space = _CONSTANT if binder.type == "const_parameter" else "type"
            function = _ANY
    return Reach(start, end, function, space)

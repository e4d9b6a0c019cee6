"""The types of Rust's expressions, as far as declarations say them."""

from codeplane.code.entity import Bound, Outside
from codeplane.code.languages.member_resolver import CodeView
from codeplane.code.languages.rust.impls import Member, RustImpls
from codeplane.code.languages.rust.names import Thing
from codeplane.code.languages.rust.pattern_types import ExpressionTypes, PatternTypes
from codeplane.code.languages.rust.std import (
    NUMBERS,
    OF_WRAPPERS,
    WRAPPERS,
    Ty,
    item_of,
    iterator,
    outside,
    result_of,
    substitute_type,
    tuple_of,
)
from codeplane.code.languages.rust.syntax import FUNCTIONS, Node, child_at, field, text_of, written_path
from codeplane.code.languages.rust.written_types import MAX_DEPTH

_LITERALS = {
    "string_literal": "str",
    "raw_string_literal": "str",
    "char_literal": "char",
    "boolean_literal": "bool",
    "integer_literal": "i32",
    "float_literal": "f64",
}
# Functions of the standard traits that give the type they are called on, alone or in a result.
_SELF_MADE = frozenset({"default", "from", "from_iter", "clone"})
_SELF_TRIED = frozenset({"try_from", "from_str"})
_MADE = frozenset({"new", "from", "default", "with_capacity", "open", "create"})
_COMPARING = frozenset({"==", "!=", "<", ">", "<=", ">=", "&&", "||"})


class RustTypes(ExpressionTypes):
    """Finds the types of expressions."""

    def __init__(self, view: CodeView, impls: RustImpls) -> None:
        super().__init__(view, impls)
        self._patterns = PatternTypes(self, impls)
        self._values: dict[tuple[str, int, int], Ty | None] = {}

    def of(self, path: str, node: Node | None) -> Ty | None:
        """Return the type of an expression."""
        if node is None or self._depth > MAX_DEPTH:
            return None
        key = (path, node.start_byte, node.end_byte)
        if key not in self._values:
            self._depth += 1
            try:
                found = self._of(path, node)
            finally:
                self._depth -= 1
            if self._depth < MAX_DEPTH // 2:
                self._values[key] = found
            return found
        return self._values[key]

    def _of(self, path: str, node: Node) -> Ty | None:
        if node.type in _LITERALS:
            if text_of(node).startswith(('b"', "br")):
                return Ty("list", None, "", (outside("u8"),))
            return outside(_LITERALS[node.type])
        match node.type:
            case "self":
                return self.self_type(path, node)
            case "identifier" | "scoped_identifier" | "generic_function":
                return self._of_path(path, node)
            case "parenthesized_expression" | "await_expression" | "expression_statement" | "unsafe_block":
                return self.of(path, child_at(node, 0))
            case "reference_expression" | "mut_expression":
                return self.of(path, field(node, "value") or child_at(node, -1))
            case "unary_expression":
                inner = self.of(path, child_at(node, 0))
                if inner is not None and inner.shape == "pointer":
                    return inner.first()
                return inner if not text_of(node).startswith("!") or inner is None else outside("bool")
            case "field_expression":
                return self._of_field(path, node)
            case "call_expression":
                return self._of_call(path, node)
            case "try_expression":
                inner = self.of(path, child_at(node, 0))
                return inner.first() if inner is not None and inner.name in ("Option", "Result") else None
            case "struct_expression":
                return self.read_type(path, field(node, "name"))
            case "type_cast_expression":
                return self.read_type(path, field(node, "type"))
            case "array_expression":
                return Ty("list", None, "", (self.of(path, child_at(node, 0)),))
            case "tuple_expression":
                return tuple_of(*(self.of(path, child) for child in node.named_children))
            case "index_expression":
                return self._of_index(path, node)
            case "closure_expression":
                result = field(node, "return_type")
                body = field(node, "body")
                return Ty("fn", None, "", (self.read_type(path, result) if result else self.of(path, body),))
            case "binary_expression":
                sign = field(node, "operator")
                if sign is not None and sign.type in _COMPARING:
                    return outside("bool")
                left = self.of(path, field(node, "left"))
                return left if left is not None and left.name in NUMBERS else None
        return self._of_block(path, node)

    def _of_block(self, path: str, node: Node) -> Ty | None:
        if node.type == "block":
            last = child_at(node, -1)
            return self.of(path, last) if last is not None and not last.type.endswith("_statement") else None
        if node.type == "if_expression":
            other = field(node, "alternative")
            found = self.of(path, field(node, "consequence"))
            return found or (self.of(path, child_at(other, 0)) if other is not None else None)
        if node.type == "match_expression":
            body = field(node, "body")
            for arm in body.named_children if body is not None else ():
                if (found := self.of(path, field(arm, "value"))) is not None:
                    return found
        return None

    def _of_index(self, path: str, node: Node) -> Ty | None:
        of, index = self.of(path, child_at(node, 0)), child_at(node, 1)
        if of is not None and index is not None and index.type == "range_expression":
            return of
        if of is not None and of.name in ("HashMap", "BTreeMap", "IndexMap") and len(of.args) > 1:
            return of.args[1]
        return item_of(of) if of is not None and of.name != "Option" else None

    def _of_path(self, path: str, node: Node) -> Ty | None:
        if node.type == "identifier":
            name = text_of(node)
            local = self._names.locals.find(path, node.start_byte, name, "value")
            if local is not None:
                at = self._view.node(path, local[1], local[1] + len(name.encode()))
                return self._patterns.of(path, at) if at is not None else None
        things = self.things(path, node, "value")
        return self.of_item(things[0]) if len(things) == 1 else None

    def _of_field(self, path: str, node: Node) -> Ty | None:
        value, name = self.of(path, field(node, "value")), field(node, "field")
        if value is None or name is None:
            return None
        if name.type == "integer_literal":
            return self.tuple_item_type(value, int(text_of(name)) if text_of(name).isdigit() else -1)
        return self.field_type(value, text_of(name))

    def _of_call(self, path: str, node: Node) -> Ty | None:
        function = field(node, "function")
        if function is not None and function.type == "generic_function":
            function = field(function, "function")
        if function is None:
            return None
        if function.type == "field_expression":
            return self._of_method(path, node, function)
        parts = written_path(function)
        last = text_of(parts[-1]) if parts else ""
        if self.is_macro(path, function):
            return outside("String") if last == "format" else None
        if parts and parts[0].start_byte == function.start_byte:
            local = self._names.locals.find(path, function.start_byte, last, "value") if len(parts) == 1 else None
            if local is not None:
                of = self.of(path, function)
                return of.first() if of is not None and of.shape == "fn" else None
        things = self.things(path, function, "value")
        if not things:
            return self._made_by_trait(path, function)
        if isinstance(things[0], Outside):
            return (
                self._constructor_type(path, node, [text_of(part) for part in parts or ()])
                if len(things) == 1
                else None
            )
        # Implementations of one trait for several types, as those of `From`, mostly give the same.
        found = {self._call_type(path, function, thing) for thing in things}
        return found.pop() if len(found) == 1 else None

    def _made_by_trait(self, path: str, function: Node) -> Ty | None:
        """Return what a function of a type gives that no block of it has: one of a trait from outside, if known."""
        before, name = field(function, "path"), field(function, "name")
        owner = self.before(path, before) if before is not None and name is not None else None
        if owner is None or owner.shape != "named" or name is None:
            return None
        if text_of(name) in _SELF_MADE:
            return owner
        return outside("Result", owner) if text_of(name) in _SELF_TRIED else None

    def is_macro(self, path: str, node: Node) -> bool:
        """Whether a name that is called is a macro's, whose arguments are read as code."""
        return self._view.text(path)[node.end_byte : node.end_byte + 1] == b"!" and node.type == "identifier"

    def _constructor_type(self, path: str, node: Node, names: list[str]) -> Ty | None:
        """Return what a constructor from outside gives."""
        listed = field(node, "arguments")
        argument = self.of(path, child_at(listed, 0)) if listed is not None else None
        if names == ["Some"]:
            return outside("Option", argument)
        if names == ["Ok"]:
            return outside("Result", argument)
        if names == ["Err"]:
            return outside("Result", None, argument)
        owner = names[-2] if len(names) > 1 else ""
        if owner in WRAPPERS and names[-1] in ("new", "clone", "from", "pin", "from_raw"):
            # What it holds is read through it, so without a type for that nothing is known.
            if argument is None:
                return None
            return Ty(argument.shape, argument.of, argument.name, argument.args, argument.traits, True)
        if owner[:1].isupper() and names[-1] in _MADE:
            cell = owner in ("RefCell", "Mutex", "RwLock", "Cell") and names[-1] == "new"
            return outside(owner, *((argument,) if cell else ()))
        return None

    def _call_type(self, path: str, function: Node, thing: Thing) -> Ty | None:
        item = self._impls.item(thing) if isinstance(thing, Bound) else None
        if item is None or not isinstance(thing, Bound):
            return None
        if item.type not in FUNCTIONS:
            return self.of_item(thing)
        before = field(function, "path")
        owner = self.before(path, before) if before is not None and function.type == "scoped_identifier" else None
        member = next(
            (candidate for candidate in self._impls.find_members(thing.name)[0] if candidate.bound == thing), None
        )
        return self._return_type(thing.file, item, owner if member is not None else None, member)

    def _return_type(self, path: str, function: Node, of: Ty | None, member: Member | None) -> Ty | None:
        """Return what a function gives, read from a value of a type if it is a method."""
        written = field(function, "return_type")
        if written is None:
            return outside("()")
        found = self.read_type(path, written)
        given: dict[Bound, Ty | None] = dict.fromkeys(self.parameters(path, function))
        if of is not None and member is not None:
            given |= self.type_arguments(of, member)
            if member.owner.is_trait or member.owner.blanket:
                # `Self` of a trait is the type that it is called on.
                found = _with_self(found, member.owner.of, of)
        return substitute_type(found, given)

    def _turbofish(self, path: str, call: Node) -> Ty | None:
        """Return the type in `::<T>` of a call."""
        function = field(call, "function")
        listed = field(function, "type_arguments") if function is not None else None
        return self.read_type(path, child_at(listed, 0)) if listed is not None else None

    def _of_method(self, path: str, call: Node, function: Node) -> Ty | None:
        of, name = self.of(path, field(function, "value")), field(function, "field")
        if of is None or name is None:
            return None
        method = text_of(name)
        member, owner = self.method(of, method)
        if member is not None and owner is not None:
            return self._return_type(member.bound.file, member.node, owner, member)
        if of.shape == "named":
            item = self.of_impl(of, "Item", "Iterator")
            if item is not None and method in ("iter", "into_iter", "by_ref", "next"):
                return outside("Option", item) if method == "next" else iterator(item)
            inner = self.deref_type(of)
            of = inner if inner is not None and method not in OF_WRAPPERS else of
        listed = field(call, "arguments")
        arguments = listed.named_children if listed is not None else []
        if method == "get" and arguments and arguments[0].type == "range_expression":
            return outside("Option", of)
        if method == "cast" and of.shape == "pointer":
            return Ty("pointer", None, "", (self._turbofish(path, call),))
        values = [self.of(path, argument) for argument in arguments]
        closure = next((value.first() for value in values if value is not None and value.shape == "fn"), None)
        return result_of(of, method, closure, values[0] if values else None)


def _with_self(found: Ty | None, trait: Thing | None, of: Ty) -> Ty | None:
    if found is None:
        return None
    if found.shape == "param" and found.of is None and trait is not None and found.traits == (trait,):
        return of
    args = tuple(_with_self(argument, trait, of) for argument in found.args)
    return Ty(found.shape, found.of, found.name, args, found.traits, found.wrapped)

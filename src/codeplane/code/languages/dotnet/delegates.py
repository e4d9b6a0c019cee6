"""What delegates of C# pass to lambdas and give back, those of the repository and `Func` and `Action`."""

from codeplane.code.entity import Bound, Outside
from codeplane.code.languages.declared_type import Type, substitute
from codeplane.code.languages.dotnet.classes import Node
from codeplane.code.languages.dotnet.library import function_parameter
from codeplane.code.languages.dotnet.lookup import CSharpLookup, simple_name

_RETURNING = frozenset(
    {"method_declaration", "local_function_statement", "property_declaration", "operator_declaration",
     "accessor_declaration", "lambda_expression", "anonymous_method_expression", "constructor_declaration"}
)  # fmt: skip


class CSharpDelegates(CSharpLookup):
    """Reads delegates' parameters and results, and what a returned lambda is made for."""

    def delegate_parameter(self, of: Type | None, at: int) -> Type | None:
        """Return what a delegate passes as a parameter."""
        if of is None or of.dims:
            return None
        if isinstance(of.of, Bound):
            return self._declared_parameter(of, of.of, at)
        if not isinstance(of.of, Outside):
            return None
        place = function_parameter(simple_name(of), at, len(of.args))
        found = of.args[place] if 0 <= place < len(of.args) else None
        # A type parameter of a method is decided by its call.
        known = found is not None and (
            isinstance(found.of, Outside) or (isinstance(found.of, Bound) and self._classes.is_class(found.of))
        )
        return found if known else None

    def delegate_result(self, of: Type | None) -> Type | None:
        """Return what calling a delegate gives."""
        if of is None or of.dims:
            return None
        if isinstance(of.of, Outside):
            return of.args[-1] if simple_name(of) == "Func" and of.args else None
        for path, node in self._delegate_declarations(of.of) if isinstance(of.of, Bound) else ():
            return self._as_argument(of, self._classes.read(path, node.child_by_field_name("type")))
        return None

    def returned_type(self, path: str, node: Node) -> Type | None:
        """Return the type that a function or property writes for what it gives, for a value that it gives."""
        around = node.parent
        if around is None or around.type not in ("return_statement", "arrow_expression_clause"):
            return None
        while around is not None and around.type not in _RETURNING:
            around = around.parent
        if around is not None and around.type == "accessor_declaration":
            while around is not None and around.type != "property_declaration":
                around = around.parent
        if around is None:
            return None
        return self._classes.read(path, around.child_by_field_name("returns") or around.child_by_field_name("type"))

    def _declared_parameter(self, of: Type, delegate: Bound, at: int) -> Type | None:
        for path, node in self._delegate_declarations(delegate):
            listed = node.child_by_field_name("parameters")
            taken = (
                [child for child in listed.named_children if child.type == "parameter"] if listed is not None else []
            )
            if at < len(taken):
                return self._as_argument(of, self._classes.read(path, taken[at].child_by_field_name("type")))
        return None

    def _delegate_declarations(self, of: Bound) -> list[tuple[str, Node]]:
        return [(path, node) for path, node in self._classes.nodes(of) if node.type == "delegate_declaration"]

    def _as_argument(self, of: Type, written: Type | None) -> Type | None:
        return substitute(written, self._classes.type_arguments(of))

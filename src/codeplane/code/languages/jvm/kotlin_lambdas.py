"""The types of the receivers, parameters and results of Kotlin's lambdas."""

from collections.abc import Sequence

from codeplane.code.entity import Bound
from codeplane.code.languages.declared_type import Type, substitute
from codeplane.code.languages.depth_limit import DepthLimit
from codeplane.code.languages.jvm.java_classes import Node
from codeplane.code.languages.jvm.java_lookup import Found, plain_name
from codeplane.code.languages.jvm.kotlin_calls import KotlinCalls
from codeplane.code.languages.jvm.kotlin_classes import KotlinClasses, child_of, is_kotlin
from codeplane.code.languages.jvm.kotlin_library import (
    EXTENSION,
    FUNCTION,
    PLAIN,
    WITH_RECEIVER,
    passes_items,
)
from codeplane.code.languages.jvm.kotlin_lookup import values_of
from codeplane.code.languages.jvm.kotlin_syntax import (
    argument_place,
    call_of_lambda,
    callee_name,
    lambda_in,
    split,
    written_type,
)
from codeplane.code.languages.member_resolver import CodeView


class KotlinLambdas(KotlinCalls):
    """Finds what a lambda is given and returns, by what takes it."""

    def __init__(self, view: CodeView, classes: KotlinClasses) -> None:
        super().__init__(view, classes)
        self._depth = DepthLimit()

    def of_lambda_result(self, path: str, values: Sequence[Node]) -> Type | None:
        """Return the type of what the lambda that is the first of some arguments returns."""
        made = lambda_in(values[0]) if values else None
        body = child_of(made, "statements")
        return self.of(path, body.named_children[-1]) if body is not None and body.named_children else None

    def lambda_receiver(self, path: str, made: Node) -> tuple[Type | None, ...]:
        """Return the receiver of a lambda: nothing if it has none, None if that is not known."""
        call = call_of_lambda(made)
        if call is None:
            of = self._of_target(path, made)
            return (of.args[1],) if of is not None and plain_name(of) == EXTENSION else ()
        return self._depth.read(self._receiver_in_call, path, made) or ()

    def _receiver_in_call(self, path: str, made: Node) -> tuple[Type | None, ...]:
        call = call_of_lambda(made)
        assert call is not None
        name = callee_name(call)
        found = self.resolve_call(path, call)
        if found is not None and found.bounds:
            kinds = self._parameters_taking(path, found, call, made)
            if any(type_ is not None and plain_name(type_) == EXTENSION for type_ in kinds):
                receivers = [type_.args[1] for type_ in kinds if type_ is not None and plain_name(type_) == EXTENSION]
                same = len(receivers) == len(kinds) and all(receiver == receivers[0] for receiver in receivers)
                return (receivers[0] if same else None,)
            # A function of Java, or a class that is called, takes a lambda without a receiver.
            return () if all(type_ is not None for type_ in kinds) or not kinds else (None,)
        if name in PLAIN - WITH_RECEIVER:
            return ()
        target = self.constructed_class(path, call)
        if isinstance(target, Bound):
            return self._receiver_of_constructor(path, target, call, made)
        if name not in WITH_RECEIVER:
            return (None,)
        before = split(call.named_children[0])[0]
        if name == "with":
            values = values_of(call)
            return (self.of(path, values[0]),) if len(values) == 2 else (None,)
        return (self.receiver(path, before)[0],) if before is not None else ()

    def _receiver_of_constructor(self, path: str, of: Bound, call: Node, made: Node) -> tuple[Type | None, ...]:
        node = self._classes.node(of)
        listed = child_of(node, "primary_constructor")
        parameters = [child for child in (listed.named_children if listed else ()) if child.type == "class_parameter"]
        place = argument_place(call, made, len(parameters))
        wanted = self._classes.read(of.file, written_type(parameters[place])) if 0 <= place < len(parameters) else None
        if wanted is None:
            return () if is_kotlin(of.file) and parameters else (None,)
        return (wanted.args[1],) if plain_name(wanted) == EXTENSION else ()

    def _parameters_taking(self, path: str, found: Found, call: Node, made: Node) -> list[Type | None]:
        """Return the types of the parameters that a lambda is given for."""
        kinds: list[Type | None] = []
        for bound in found.bounds:
            for _, definition in self._view.definitions(bound):
                if definition.kind not in ("function", "method"):
                    of = self.declared_type(bound)
                    if of is not None and plain_name(of) in (FUNCTION, EXTENSION):
                        given = of.args[1:] if plain_name(of) == FUNCTION else of.args[2:]
                        place = argument_place(call, made, len(given))
                        kinds.append(given[place] if 0 <= place < len(given) else None)
                    else:
                        kinds.append(None)
                    continue
                if not is_kotlin(bound.file) or not self.takes(bound.file, definition, call):
                    continue
                listed = self.parameters(bound.file, definition)
                place = argument_place(call, made, len(listed))
                wanted = (
                    self._classes.read(bound.file, written_type(listed[place])) if 0 <= place < len(listed) else None
                )
                given_types = self.infer_arguments(path, bound, definition, call)
                kinds.append(self.as_member_of(found.owner, substitute(wanted, given_types)))
        return kinds

    def _of_target(self, path: str, made: Node) -> Type | None:
        """Return the declared type of what a lambda is assigned to."""
        around = made.parent
        if around is None or around.type not in ("property_declaration", "function_value_parameters"):
            return None
        declared = child_of(around, "variable_declaration")
        if around.type == "function_value_parameters":
            declared = made.prev_named_sibling
        return self._classes.read(path, written_type(declared)) if declared is not None else None

    def of_it(self, path: str, node: Node) -> Type | None:
        """Return the type of `it` in a lambda without parameters."""
        around = node.parent
        while around is not None and (around.type != "lambda_literal" or child_of(around, "lambda_parameters")):
            around = around.parent
        return self.of_lambda_parameter(path, around, 0) if around is not None else None

    def of_lambda_parameter(self, path: str, made: Node, at: int) -> Type | None:
        """Return the type of a lambda's parameter, by what takes the lambda."""
        call = call_of_lambda(made)
        if call is None:
            return _function_parameter(self._of_target(path, made), at)
        found = self.resolve_call(path, call)
        if found is not None and found.bounds:
            kinds = [_function_parameter(type_, at) for type_ in self._parameters_taking(path, found, call, made)]
            return kinds[0] if kinds and all(type_ == kinds[0] for type_ in kinds) else None
        name = callee_name(call)
        before = split(call.named_children[0])[0] if call.named_children else None
        owner = found.owner if found is not None else self.of(path, before)
        if before is None or owner is None:
            return None
        if name in ("let", "also", "takeIf", "takeUnless", "use") and at == 0:
            return owner
        if passes_items(name):
            last = {"fold": 1, "foldIndexed": 2, "forEachIndexed": 1, "mapIndexed": 1, "filterIndexed": 1}.get(name, 0)
            return self.item(owner) if at == last else None
        return None


def _function_parameter(of: Type | None, at: int) -> Type | None:
    if of is None or plain_name(of) not in (FUNCTION, EXTENSION):
        return None
    given = of.args[1:] if plain_name(of) == FUNCTION else of.args[2:]
    return given[at] if at < len(given) else None

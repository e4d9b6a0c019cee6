"""What users of a definition in JavaScript or TypeScript depend on."""

from dataclasses import replace

from codeplane.code.languages.contract import Contract
from codeplane.code.languages.javascript.programs import is_private
from codeplane.code.languages.reserved_words import words

_ERRORS = words("EvalError RangeError ReferenceError SyntaxError TypeError URIError AggregateError")
_OF_ERRORS = words("name message stack cause toString")


class ScriptBuiltins:
    """The errors that every JavaScript engine has."""

    def can_be_hidden(self, name: str) -> bool:
        """Classes of a file are looked up by their names alone."""
        return False

    def extends(self, name: str, base: str) -> bool:
        """Whether a built-in error builds on another."""
        return base == "Error" and name in _ERRORS

    def has_member(self, name: str, member: str) -> bool:
        """Whether errors have a member that a class of them need not define."""
        return member in _OF_ERRORS and (name == "Error" or name in _ERRORS)


JAVASCRIPT_CONTRACT = Contract(
    visible="exported",
    underscore_members=True,
    is_program=is_private,
    top="internal",
    module="file",
    package_entries=True,
    re_exports="exports",
    modifiers=words(
        "export default declare abstract async static readonly public private protected override get set const let var"
        " function class interface type enum namespace module accessor"
    ),
    added=words("abstract async static readonly get set"),
    removed=words("async static get set"),
    function_values=True,
    line_ends_statement=True,
    one_name=True,
    structural=True,
    builtins=ScriptBuiltins(),
    constructors="inherited",
    infers_type_arguments=True,
)
COMPONENT_CONTRACT = replace(JAVASCRIPT_CONTRACT, typed=True, returns=":", object_types=True, underscore_members=False)
_LIBRARY_TYPES = {
    "BlobPart": "BufferSource | Blob | string",
    "BodyInit": "ReadableStream | XMLHttpRequestBodyInit",
    "BufferSource": "ArrayBufferView | ArrayBuffer",
    "HeadersInit": "[ string , string ] [ ] | Record < string , string > | Headers",
    "PropertyKey": "string | number | symbol",
    "RequestInfo": "Request | string",
    "XMLHttpRequestBodyInit": "Blob | BufferSource | FormData | URLSearchParams | string",
}
TYPESCRIPT_CONTRACT = replace(
    COMPONENT_CONTRACT,
    overloads="without_body",
    whole_interfaces=True,
    unions=True,
    bound_sign="&",
    library_types=_LIBRARY_TYPES,
)

"""The kinds of definitions as the protocol numbers them."""

_FILE, _MODULE, _NAMESPACE, _CLASS, _METHOD, _PROPERTY, _FIELD, _CONSTRUCTOR = 1, 2, 3, 5, 6, 7, 8, 9
_ENUM, _INTERFACE, _FUNCTION, _VARIABLE, _CONSTANT, _STRING, _OBJECT, _KEY = 10, 11, 12, 13, 14, 15, 19, 20
_ENUM_MEMBER, _STRUCT, _EVENT, _OPERATOR, _TYPE_PARAMETER = 22, 23, 24, 25, 26

_KINDS = {
    "accessor": _PROPERTY,
    "alias": _CLASS,
    "annotation": _INTERFACE,
    "argument": _VARIABLE,
    "attribute": _PROPERTY,
    "block": _OBJECT,
    "callback": _FUNCTION,
    "class": _CLASS,
    "concept": _INTERFACE,
    "constant": _CONSTANT,
    "constructor": _CONSTRUCTOR,
    "delegate": _FUNCTION,
    "directive": _FUNCTION,
    "enum": _ENUM,
    "enum_member": _ENUM_MEMBER,
    "event": _EVENT,
    "field": _FIELD,
    "fragment": _OBJECT,
    "function": _FUNCTION,
    "heading": _STRING,
    "id": _KEY,
    "index": _KEY,
    "inherited": _CLASS,
    "input": _STRUCT,
    "interface": _INTERFACE,
    "key": _KEY,
    "keyframes": _OBJECT,
    "local": _VARIABLE,
    "macro": _FUNCTION,
    "message": _STRUCT,
    "method": _METHOD,
    "module": _MODULE,
    "name": _VARIABLE,
    "namespace": _NAMESPACE,
    "object": _OBJECT,
    "oneof": _STRUCT,
    "operation": _FUNCTION,
    "property": _PROPERTY,
    "protocol": _INTERFACE,
    "prototype": _FUNCTION,
    "record": _STRUCT,
    "rpc": _METHOD,
    "scalar": _CLASS,
    "schema": _NAMESPACE,
    "sequence": _VARIABLE,
    "service": _INTERFACE,
    "stage": _OBJECT,
    "struct": _STRUCT,
    "table": _STRUCT,
    "trait": _INTERFACE,
    "trigger": _EVENT,
    "type": _CLASS,
    "union": _STRUCT,
    "variable": _VARIABLE,
    "view": _STRUCT,
}


def symbol_kind(kind: str) -> int:
    """Return the number of a kind; of one that is not known, that of a variable."""
    return _KINDS.get(kind, _VARIABLE)

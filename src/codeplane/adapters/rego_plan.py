"""Checks of a compiled policy's plan for faults that regopy's compiler accepts.

Imports little, as all that runs in the process for policies: it is started often.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

Plan = Mapping[str, object]
# Without effects beside their answer, and with the same answer for the same arguments: no clock, chance or machine.
BUILTINS = frozenset(
    """
    abs and array.concat array.flatten array.reverse array.slice base64.decode base64.encode base64.is_valid
    base64url.decode base64url.encode base64url.encode_no_pad bits.and bits.lsh bits.negate bits.or bits.rsh bits.xor
    ceil concat contains count crypto.hmac.equal crypto.hmac.md5 crypto.hmac.sha1 crypto.hmac.sha256 crypto.hmac.sha512
    crypto.md5 crypto.sha1 crypto.sha256 crypto.x509.parse_certificate_request crypto.x509.parse_certificates div
    endswith equal floor format_int glob.match glob.quote_meta graph.reachable graph.reachable_paths gt gte hex.decode
    hex.encode indexof indexof_n internal.member_2 internal.member_3 internal.template_string intersection io.jwt.decode
    io.jwt.verify_eddsa io.jwt.verify_es256 io.jwt.verify_es384 io.jwt.verify_es512 io.jwt.verify_hs256
    io.jwt.verify_hs384 io.jwt.verify_hs512 io.jwt.verify_ps256 io.jwt.verify_ps384 io.jwt.verify_ps512
    io.jwt.verify_rs256 io.jwt.verify_rs384 io.jwt.verify_rs512 is_array is_boolean is_null is_number is_object is_set
    is_string json.filter json.is_valid json.marshal json.marshal_with_options json.patch json.remove json.unmarshal
    lower lt lte max min minus mul neq numbers.range numbers.range_step object.filter object.get object.keys
    object.remove object.subset object.union object.union_n or plus product regex.find_all_string_submatch_n
    regex.find_n regex.globs_match regex.is_valid regex.match regex.replace regex.split regex.template_match rem replace
    round semver.compare semver.is_valid sort split sprintf startswith strings.any_prefix_match strings.any_suffix_match
    strings.count strings.replace_n strings.reverse substring sum time.add_date time.clock time.date
    time.parse_duration_ns time.parse_ns time.parse_rfc3339_ns time.weekday to_number trim trim_left trim_prefix
    trim_right trim_space trim_suffix type_name union units.parse units.parse_bytes upper uri.is_valid uri.parse
    urlquery.decode urlquery.decode_object urlquery.encode urlquery.encode_object uuid.parse walk yaml.is_valid
    yaml.marshal yaml.unmarshal
    """.split()  # noqa: SIM905  # as a list it would be a page
)
_WRITTEN = ("target", "result")
_READ = ("source", "array", "object", "set", "a", "b", "local")
_PREDEFINED = frozenset({0, 1})  # the input and the data


class Fault(NamedTuple):
    """A fault that makes a policy unusable; `line` counts from 1, and is 0 where unknown."""

    file: str
    line: int
    message: str


class _Function:
    """What one rule or function reads, writes and calls, with positions."""

    def __init__(self) -> None:
        self.places: list[tuple[int, int]] = []
        self.written: set[int] = set(_PREDEFINED)
        self.read: dict[int, tuple[int, int]] = {}
        self.calls: dict[str, tuple[int, int]] = {}


def find_faults(plan: Plan, *, files: Mapping[str, str]) -> list[Fault]:
    """Return forbidden or unknown calls, rules outside their package, recursion, and undefined names."""
    static = _object(plan["static"])
    names = [str(_object(file)["value"]) for file in _list(static.get("files", []))]
    functions = {
        str(function["name"]): _read(function)
        for function in map(_object, _list(_object(plan.get("funcs", {})).get("funcs", [])))
    }
    known = {str(_object(function)["name"]) for function in _list(static.get("builtin_funcs", []))}
    faults: dict[tuple[str, int, str], Fault] = {}

    def fault(place: tuple[int, int], message: str) -> None:
        number, row = place
        file = names[number] if 0 <= number < len(names) else ""
        faults.setdefault((file, row, message), Fault(file=file, line=row + 1, message=message))

    # One that is called in a way no statement shows is still one that is called.
    called = {name for function in functions.values() for name in function.calls}
    for name in sorted(known - BUILTINS - called):
        fault((-1, -1), f"{name} is not allowed in a policy")
    for name, function in functions.items():
        path = _path(name)
        for place in function.places:
            package = files.get(names[place[0]]) if 0 <= place[0] < len(names) else None
            if package is None or not f"{path}.".startswith(f"{package}."):
                fault(place, f"{path} is not in the package {package or 'of any file'}")
        for callee, place in function.calls.items():
            if callee in functions or callee in BUILTINS:
                continue
            fault(
                place, f"{callee} is not allowed in a policy" if callee in known else f"there is no function {callee}"
            )
        for local, place in function.read.items():
            if local not in function.written:
                fault(place, "a name is used here that nothing defines; is input. missing before it?")
    for name in _recursive_functions({name: [*function.calls] for name, function in functions.items()}):
        fault((functions[name].places or [(-1, -1)])[0], f"{_path(name)} depends on itself")
    return [faults[key] for key in sorted(faults)]


def _read(function: Mapping[str, object]) -> _Function:
    read = _Function()
    read.written |= {param for param in _list(function.get("params", [])) if isinstance(param, int)}
    place = (-1, -1)
    for kind, stmt in _statements(function.get("blocks", [])):
        number, row = stmt.get("file"), stmt.get("row")
        if isinstance(number, int) and isinstance(row, int):
            place = (number, row)
            read.places.append(place)
        if kind in ("CallStmt", "CallDynamicStmt"):
            # A path of several parts is chosen at run time, so it is not known here.
            name = stmt.get("func", "a function that is chosen while the policy runs")
            read.calls.setdefault(str(name), place)
        written = (*_WRITTEN, "key", "value") if kind == "ScanStmt" else _WRITTEN
        read.written |= {param for name in written if isinstance(param := stmt.get(name), int)}
        for local in _locals(kind, stmt):
            read.read.setdefault(local, place)
    return read


def _statements(value: object) -> Iterator[tuple[str, Mapping[str, object]]]:
    """Yield every statement, nested ones too; without recursion, since the policy decides the depth."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, list):
            waiting += reversed(item)
        elif isinstance(item, dict):
            if isinstance(stmt := item.get("stmt"), dict) and "type" in item:
                yield str(item["type"]), stmt
            waiting += [inner for inner in item.values() if isinstance(inner, dict | list)]


def _locals(kind: str, stmt: Mapping[str, object]) -> Iterator[int]:
    for name, value in stmt.items():
        for arg in value if name in ("args", "path") and isinstance(value, list) else (value,):
            if isinstance(arg, dict) and arg.get("type") == "local" and isinstance(arg.get("value"), int):
                yield arg["value"]
        if name in _READ and isinstance(value, int) and not isinstance(value, bool) and kind != "MakeNumberRefStmt":
            yield value


def _recursive_functions(calls: Mapping[str, Iterable[str]]) -> list[str]:
    """Return the functions that call themselves, directly or not."""
    looping = []
    for start in calls:
        seen: set[str] = set()
        waiting = [*calls[start]]
        while waiting:
            name = waiting.pop()
            if name == start:
                looping.append(start)
                break
            if name not in seen and name in calls:
                seen.add(name)
                waiting += calls[name]
    return looping


def _path(function: str) -> str:
    """Return the path of a rule (codeplane.policy.deny) from its name in the plan (g0.data.codeplane.policy.deny)."""
    return function.partition(".data.")[2] or function


def _object(value: object) -> Mapping[str, object]:
    if not isinstance(value, dict):
        raise ValueError(f"the plan holds {json.dumps(value)[:80]} where an object is expected")
    return value


def _list(value: object) -> list[object]:
    if not isinstance(value, list):
        raise ValueError(f"the plan holds {json.dumps(value)[:80]} where a list is expected")
    return value

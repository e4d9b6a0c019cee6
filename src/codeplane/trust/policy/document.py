"""The input document: what the rules are told of a call."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from codeplane.kernel.actor import Actor
from codeplane.kernel.call import Call
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.kernel.operation import Assessment, Operation
from codeplane.trust.policy.rego_text import CUT

T = TypeVar("T")
_MAX_LIST = 1000
_MAX_TEXT = 4096
_MAX_ALL = 65_536
_MAX_DEPTH = 8
_MAX_INT = 2**63


@dataclass(frozen=True, slots=True, kw_only=True)
class Circumstances:
    """What surrounds a call: the owner's settings, where it came from and what its task has read."""

    mode: str
    allow: Sequence[str] = ()
    surface: str = ""
    client: str = ""
    session_id: str = ""
    task_id: str = ""
    workspace: str = ""
    untrusted: bool = False
    grant: JsonObject | None = None

    @classmethod
    def of(
        cls,
        call: Call,
        *,
        mode: str,
        allow: Sequence[str],
        workspace: str = "",
        untrusted: bool = False,
        grant: JsonObject | None = None,
    ) -> "Circumstances":
        """Those of a call on its way through the conveyor."""
        return cls(
            mode=mode,
            allow=allow,
            surface=call.caller.surface,
            client=call.caller.client or "",
            session_id=call.task.session_id if call.task else "",
            task_id=call.task.task_id if call.task else "",
            workspace=workspace,
            untrusted=untrusted,
            grant=grant,
        )


def document(
    *,
    actor: Actor,
    operation: Operation,
    assessment: Assessment,
    circumstances: Circumstances,
    arguments: Mapping[str, JsonValue] | None = None,
    resources: Sequence[str] = (),
) -> JsonObject:
    """What the rules are told of one call; what they are not shown, or not all of, is named under `cut`."""
    cut: list[JsonValue] = []
    lists: JsonObject = {}
    for name, values in (
        ("effects", assessment.effects),
        ("paths", assessment.paths),
        ("remotes", assessment.remotes),
        ("remote_names", assessment.remote_names),
        ("kinds", assessment.kinds),
        ("resources", resources),
    ):
        bound = _Bound()
        lists[name] = bound.value(list(values), 1)
        cut += [name] if bound.cut else []
    bound = _Bound()
    given = bound.value(dict(arguments or {}), 0)
    # Not gathered is not shown: a policy that has just come to look at them must not take them for empty.
    cut += ["arguments"] if bound.cut or arguments is None else []
    return {
        "actor": {"kind": actor.kind.value, "id": actor.actor_id, "owner": actor.owner_id},
        "operation": {
            "name": operation.name,
            "family": operation.name.partition(".")[0] if "." in operation.name else "",
            "capability": operation.mark.capability,
            "mutates": operation.mutates,
        },
        "risk": assessment.risk.name,
        **lists,
        "arguments": given,
        "context": {
            "mode": circumstances.mode,
            "allow": list(circumstances.allow),
            "surface": circumstances.surface,
            "client": circumstances.client,
            "session_id": circumstances.session_id,
            "task_id": circumstances.task_id,
            "workspace": circumstances.workspace,
            "untrusted": circumstances.untrusted,
            "grant": circumstances.grant,
        },
        CUT: cut,
    }


def reached(assessment: Assessment, located: Callable[[str], str]) -> Assessment:
    """With where links on the way to its paths lead: a rule about a folder holds however that is come to."""
    paths = dict.fromkeys(one for path in assessment.paths for one in (path, located(path)))
    return assessment if len(paths) == len(assessment.paths) else replace(assessment, paths=tuple(paths))


class _Bound:
    """Takes over values up to a size, and remembers whether something was left out."""

    def __init__(self) -> None:
        self.cut = False
        self._left = _MAX_ALL

    def value(self, value: JsonValue, depth: int) -> JsonValue:
        """The value, as far as it fits."""
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, Mapping):
            items = self._some(list(value.items()), depth)
            return {self._text(name): self.value(one, depth + 1) for name, one in items}
        if isinstance(value, Sequence):
            return [self.value(one, depth + 1) for one in self._some(list(value), depth)]
        self._left -= 8
        if isinstance(value, int) and not -_MAX_INT <= value < _MAX_INT:
            # Rego here would take it for another number.
            return str(value)
        return value

    def _some(self, items: list[T], depth: int) -> list[T]:
        most = 0 if depth >= _MAX_DEPTH or self._left <= 0 else _MAX_LIST
        self.cut = self.cut or len(items) > most
        return items[:most]

    def _text(self, text: str) -> str:
        most = max(0, min(_MAX_TEXT, self._left))
        self.cut = self.cut or len(text) > most
        self._left -= len(text) + 8
        return text[:most]

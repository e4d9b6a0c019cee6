"""The input document: what the rules see of a call."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from codeplane.kernel.actor import Actor
from codeplane.kernel.call import Call, Operation, identity_word
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.kernel.operation import Assessment
from codeplane.trust.policy.rego_source import CUT

T = TypeVar("T")
_MAX_LIST = 1000
_MAX_TEXT = 4096
_MAX_ALL = 65_536
_MAX_DEPTH = 8
_MAX_INT = 2**63


@dataclass(frozen=True, slots=True, kw_only=True)
class CallContext:
    """The context of a call: the owner's settings, where it came from, and whether it read untrusted content."""

    mode: str
    allow: Sequence[str] = ()
    surface: str = ""
    client: str = ""
    session_id: str = ""
    task_id: str = ""
    workspace: str = ""
    untrusted: bool = False
    grant: JsonObject | None = None
    # The work that it is a step of, and whom that acts for.
    origin: JsonObject | None = None

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
    ) -> "CallContext":
        """The context of a call in the conveyor."""
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
            origin=call.caller.origin.to_json() if call.caller.origin is not None else None,
        )


def build_input(
    *,
    actor: Actor,
    operation: Operation,
    assessment: Assessment,
    context: CallContext,
    arguments: Mapping[str, JsonValue] | None = None,
) -> JsonObject:
    """The input document of one call; parts that are missing or truncated are listed under `cut`."""
    cut: list[JsonValue] = []
    lists: JsonObject = {}
    for name, values in (
        ("effects", assessment.effects),
        ("paths", assessment.paths),
        ("remotes", assessment.remotes),
        ("remote_names", assessment.remote_names),
        ("kinds", assessment.kinds),
        ("resources", assessment.resources),
    ):
        if not values:
            # Most calls have none of most.
            lists[name] = []
            continue
        truncator = _Truncator()
        lists[name] = truncator.value(list(values), 1)
        cut += [name] if truncator.cut else []
    bounded_arguments: JsonValue = {}
    if arguments:
        truncator = _Truncator()
        bounded_arguments = truncator.value(dict(arguments), 0)
        cut += ["arguments"] if truncator.cut else []
    elif arguments is None:
        # What was not gathered counts as cut: a policy that was just reloaded must not take it for empty.
        cut.append("arguments")
    return {
        "actor": actor.to_json(),
        "operation": {
            "name": operation.name,
            "family": operation.name.partition(".")[0] if "." in operation.name else "",
            "capability": operation.mark.capability,
            "mutates": operation.mutates,
        },
        "risk": assessment.risk.name,
        "identity": identity_word(operation.mark.identity, actor),
        **lists,
        "arguments": bounded_arguments,
        "context": {
            "mode": context.mode,
            "allow": list(context.allow),
            "surface": context.surface,
            "client": context.client,
            "session_id": context.session_id,
            "task_id": context.task_id,
            "workspace": context.workspace,
            "untrusted": context.untrusted,
            "grant": context.grant,
            "origin": context.origin,
        },
        CUT: cut,
    }


def with_link_targets(assessment: Assessment, located: Callable[[str], str]) -> Assessment:
    """The assessment with the link targets of its paths added, so that links cannot evade a rule about a folder."""
    paths = dict.fromkeys(spelling for path in assessment.paths for spelling in (path, located(path)))
    return assessment if len(paths) == len(assessment.paths) else replace(assessment, paths=tuple(paths))


class _Truncator:
    """Copies values up to a size, and notes whether something was left out."""

    def __init__(self) -> None:
        self.cut = False
        self._left = _MAX_ALL

    def value(self, value: JsonValue, depth: int) -> JsonValue:
        """The value, truncated to what fits."""
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, Mapping):
            items = self._some(list(value.items()), depth)
            return {self._text(name): self.value(item, depth + 1) for name, item in items}
        if isinstance(value, Sequence):
            return [self.value(item, depth + 1) for item in self._some(list(value), depth)]
        self._left -= 8
        if isinstance(value, int) and not -_MAX_INT <= value < _MAX_INT:
            # The Rego engine would take it for another number.
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

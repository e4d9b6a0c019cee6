"""What all that was said of a call comes to."""

from dataclasses import dataclass
from typing import TypeAlias

from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.kernel.ports import Decision, Verdict
from codeplane.trust.policy.rego_text import CUT, DECIDING, Looks

_MAX_REASONS = 20
_MAX_REASON = 500
_Said: TypeAlias = dict[str, list[str]]
_STRICT = (Verdict.ALLOW, Verdict.ASK, Verdict.DENY)
_PEOPLE = frozenset({"owner", "device"})


class Nonsense(Exception):
    """An answer that is not what was asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fired:
    """A rule that said something of the call."""

    policy: str
    rule: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """The decision, and the rules that spoke."""

    decision: Decision
    fired: tuple[Fired, ...] = ()


def judged(answer: JsonValue, document: JsonObject, looks: Looks) -> Judgement:
    """Any deny denies; else any ask of yours asks; else the shipped rules decide, whose ask your allow lifts.

    The question for a shell command is lifted by nothing, and what the shipped rules do not allow is denied.
    """
    if not isinstance(answer, dict) or answer.keys() != {"shipped", "yours"}:
        raise Nonsense("the answer is not what was asked for")
    shipped, yours = _said("the shipped policy", answer["shipped"], whole=True), _said("your policy", answer["yours"])
    # A rule that was shown only a part cannot have meant to let the rest through.
    hidden = [
        f"there is more in {part} than the rules can be shown"
        for part in _texts(document.get(CUT))
        if looks.at(part) and not _is_person(document)
    ]
    verdict, reasons = _weighed(shipped, yours, hidden, shell=document.get("risk") == "HIGH")  # nosec B604  # a word of ours, no process
    fired = tuple(
        Fired(policy=policy, rule=rule, reason=reason)
        for policy, said in (("shipped", shipped), ("yours", yours))
        for rule in DECIDING
        for reason in said[rule]
    )
    return Judgement(decision=Decision(verdict=verdict, reasons=tuple(dict.fromkeys(reasons))), fired=fired)


def stricter(one: Decision, other: Decision) -> Decision:
    """The decision that lets less through; the first where both let the same."""
    return other if _STRICT.index(other.verdict) > _STRICT.index(one.verdict) else one


def _weighed(shipped: _Said, yours: _Said, hidden: list[str], *, shell: bool) -> tuple[Verdict, list[str]]:
    if denied := yours["deny"] + shipped["deny"]:
        return Verdict.DENY, denied
    lifted = bool(yours["allow"]) and not shell
    if asked := yours["ask"] + hidden + ([] if lifted else shipped["ask"]):
        return Verdict.ASK, asked
    if lifted and shipped["ask"]:
        return Verdict.ALLOW, yours["allow"]
    if shipped["allow"]:
        return Verdict.ALLOW, shipped["allow"]
    return Verdict.DENY, ["no shipped rule allows it"]


def _said(whose: str, answer: JsonValue, *, whole: bool = False) -> _Said:
    if not isinstance(answer, dict) or answer.keys() - set(DECIDING) or (whole and len(answer) != len(DECIDING)):
        raise Nonsense(f"{whose} does not answer with deny, ask and allow")
    said: _Said = {}
    for rule in DECIDING:
        reasons = answer.get(rule, [])
        if not isinstance(reasons, list) or not all(isinstance(one, str) and one for one in reasons):
            raise Nonsense(f"{rule} of {whose} is not a set of reasons, each a text")
        said[rule] = [one[:_MAX_REASON] for one in sorted(reasons)[:_MAX_REASONS]]
    return said


def _is_person(document: JsonObject) -> bool:
    actor = document.get("actor")
    return isinstance(actor, dict) and actor.get("kind") in _PEOPLE


def _texts(value: JsonValue) -> list[str]:
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []

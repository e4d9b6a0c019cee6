"""Combines the answers of the shipped and the owner's rules into a decision."""

from dataclasses import dataclass
from typing import TypeAlias

from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.kernel.ports import Decision, Verdict
from codeplane.trust.policy.rego_source import CUT, DECISION_RULES, InputUse

_MAX_REASONS = 20
_MAX_REASON = 500
_Reasons: TypeAlias = dict[str, list[str]]
_BY_STRICTNESS = (Verdict.ALLOW, Verdict.ASK, Verdict.DENY)
_PEOPLE = frozenset({"owner", "device"})


class MalformedAnswer(Exception):
    """The engine's answer does not have the expected shape."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchedRule:
    """A rule that matched the call."""

    policy: str
    rule: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """A decision, and the rules that matched."""

    decision: Decision
    fired: tuple[MatchedRule, ...] = ()


def judge(answer: JsonValue, document: JsonObject, input_use: InputUse) -> Judgement:
    """Any deny denies; else an ask of the owner's asks; else the shipped rules decide, whose ask the owner can lift.

    Nothing lifts the question for a shell command, and what the shipped rules do not allow is denied.
    """
    if not isinstance(answer, dict) or answer.keys() != {"shipped", "yours"}:
        raise MalformedAnswer("the answer is not what was asked for")
    shipped, yours = (
        _reasons_by_rule("the shipped policy", answer["shipped"], complete=True),
        _reasons_by_rule("your policy", answer["yours"]),
    )
    # A rule that saw only a part cannot have meant to allow the rest.
    hidden = [
        f"there is more in {part} than the rules can be shown"
        for part in _texts(document.get(CUT))
        if input_use.reads(part) and not _is_person(document)
    ]
    verdict, reasons = _weigh(shipped, yours, hidden, shell=document.get("risk") == "HIGH")  # nosec B604  # a word of ours, no process
    matched = tuple(
        MatchedRule(policy=policy, rule=rule, reason=reason)
        for policy, reasons_of in (("shipped", shipped), ("yours", yours))
        for rule in DECISION_RULES
        for reason in reasons_of[rule]
    )
    return Judgement(decision=Decision(verdict=verdict, reasons=tuple(dict.fromkeys(reasons))), fired=matched)


def hidden_ids(answer: JsonValue) -> frozenset[str]:
    """The ids of a list that the rules hide; MalformedAnswer for a bad answer."""
    ids = answer.get("hidden") if isinstance(answer, dict) else None
    if not isinstance(ids, list) or not all(isinstance(id, str) for id in ids):
        raise MalformedAnswer("the answer does not say which of a list are hidden")
    return frozenset(map(str, ids))


def stricter(first: Decision, second: Decision) -> Decision:
    """The stricter of two decisions; the first when they are equally strict."""
    return second if _BY_STRICTNESS.index(second.verdict) > _BY_STRICTNESS.index(first.verdict) else first


def _weigh(shipped: _Reasons, yours: _Reasons, hidden: list[str], *, shell: bool) -> tuple[Verdict, list[str]]:
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


def _reasons_by_rule(whose: str, answer: JsonValue, *, complete: bool = False) -> _Reasons:
    if (
        not isinstance(answer, dict)
        or answer.keys() - set(DECISION_RULES)
        or (complete and len(answer) != len(DECISION_RULES))
    ):
        raise MalformedAnswer(f"{whose} does not answer with deny, ask and allow")
    reasons_of: _Reasons = {}
    for rule in DECISION_RULES:
        reasons = answer.get(rule, [])
        if not isinstance(reasons, list) or not all(isinstance(reason, str) and reason for reason in reasons):
            raise MalformedAnswer(f"{rule} of {whose} is not a set of reasons, each a text")
        reasons_of[rule] = [reason[:_MAX_REASON] for reason in sorted(reasons)[:_MAX_REASONS]]
    return reasons_of


def _is_person(document: JsonObject) -> bool:
    actor = document.get("actor")
    return isinstance(actor, dict) and actor.get("kind") in _PEOPLE


def _texts(value: JsonValue) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []

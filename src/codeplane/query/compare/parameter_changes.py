"""Other parameters, judged by how calls of a language give them."""

from collections.abc import Sequence

from codeplane.code.languages.contract import Contract
from codeplane.query.compare.parameters import Parameter
from codeplane.query.compare.qualifiers import accepts
from codeplane.query.compare.tokens import tight
from codeplane.query.compare.verdict import Verdict


def judge_calls(found: Verdict, old: Sequence[Parameter], new: Sequence[Parameter], rules: Contract) -> None:
    """Note what other parameters do to those who call."""
    if old and old[0].receiver and not (new and new[0].receiver):
        found.say("no extension any more", breaks=True, tag="parameters_changed")
    if rules.calls == "keywords":
        _by_keywords(found, old, new)
    elif rules.calls == "optional":
        _by_position(found, old, new, rules)
    else:
        _exactly(found, old, new, rules)


def _by_keywords(found: Verdict, old: Sequence[Parameter], new: Sequence[Parameter]) -> None:
    """Calls give parameters by place and by name."""
    hows = {one.how for one in new}
    by_name = {one.name: one for one in new if one.how not in ("rest", "keyword_rest")}
    places = {one.name: at for at, one in enumerate(_placed(new))}
    old_places = {one.name: at for at, one in enumerate(_placed(old))}
    known = {one.name for one in old if one.how not in ("rest", "keyword_rest")}
    takes_rest = any(one.how == "rest" for one in old)
    renamed: set[str] = set()
    for one in old:
        if one.how in ("rest", "keyword_rest"):
            sign = "*" if one.how == "rest" else "**"
            if one.how not in hows:
                found.say(f"{sign}{one.name} removed", breaks=True, tag="parameters_changed")
            continue
        other = by_name.get(one.name)
        if other is None:
            instead = _instead(one, old_places, new, known)
            if instead is not None:
                renamed.add(instead.name)
                only = one.how == "positional_only" and instead.how != "keyword_only"
                found.say(f"{one.name} is {instead.name} now", breaks=not only, tag="parameters_changed")
                if not one.is_required and instead.is_required:
                    found.say(f"{instead.name} has no default any more", breaks=True, tag="parameters_changed")
                continue
            swallowed = (
                (one.how == "keyword_only" and "keyword_rest" in hows)
                or (one.how == "positional_only" and "rest" in hows)
                or {"rest", "keyword_rest"} <= hows
            )
            found.say(f"{one.name} removed", breaks=not swallowed, tag="parameters_changed")
            continue
        if one.how != other.how:
            loose = (one.how, other.how) in (("keyword_only", "positional"), ("positional_only", "positional"))
            found.say(f"{one.name} is {other.how.replace('_', '-')} now", breaks=not loose, tag="parameters_changed")
        if not one.is_required and other.is_required:
            found.say(f"{one.name} has no default any more", breaks=True, tag="parameters_changed")
        elif one.default != other.default:
            reason = f"{one.name} may be left out" if one.is_required else f"default of {one.name} changed"
            found.say(reason, breaks=False, tag="parameters_changed", widens=one.is_required)
        if one.name in old_places and one.name in places and places[one.name] != old_places[one.name]:
            found.say(f"{one.name} has another place", breaks=True, tag="parameters_changed")
        if one.type != other.type:
            found.say(f"type of {one.name} changed", breaks=False, tag="parameters_changed")
    for one in new:
        if one.how in ("rest", "keyword_rest") or one.name in known or one.name in renamed:
            continue
        reason = f"{one.name} has to be given" if one.is_required else f"{one.name} added"
        # What went into *rest by its place goes elsewhere now.
        widens = one.how == "keyword_only" or not takes_rest
        found.say(reason, breaks=one.is_required, tag="parameters_changed", widens=widens)


def _by_position(found: Verdict, old: Sequence[Parameter], new: Sequence[Parameter], rules: Contract) -> None:
    """Calls give parameters by place, and may leave out the last ones that are optional."""
    names, others = [one.name for one in old], [one.name for one in new]
    for at, one in enumerate(old):
        if one.how == "keyword_only":
            continue
        if at < len(new) and new[at].how == "keyword_only":
            found.say(f"{one.name} is no longer given by place", breaks=True, tag="parameters_changed")
            continue
        other = new[at] if at < len(new) else None
        if other is None:
            swallowed = bool(new) and new[-1].how == "rest"
            found.say(f"{one.name} removed", breaks=not swallowed, tag="parameters_changed")
            continue
        if one.how == "rest" and other.how != "rest":
            gone = not any(each.how == "rest" for each in new)
            found.say(f"...{one.name} removed" if gone else f"{other.name} before the rest", breaks=True)
            break
        if one.name != other.name:
            if one.name in others or other.name in names:
                found.say(f"{one.name} has another place", breaks=True, tag="parameters_changed")
            else:
                _judge_pattern(found, one, other, rules)
        if other.how == "rest" and one.how != "rest":
            continue
        if not one.is_required and other.is_required and one.how != "rest":
            found.say(f"{other.name} has to be given", breaks=True, tag="parameters_changed")
        elif one.default != other.default or one.optional != other.optional:
            reason = f"{other.name} may be left out" if one.is_required else f"default of {other.name} changed"
            found.say(reason, breaks=False, tag="parameters_changed", widens=one.is_required)
        if rules.typed and one.type != other.type:
            breaks = bool(one.type) and bool(other.type) and not accepts(one, other, rules)
            breaks = breaks or (not one.type and bool(other.type) and other.type not in ("any", "unknown"))
            found.say(
                f"{tight(other.name)} is {tight(other.type) or 'of any type'} now",
                breaks=breaks,
                tag="parameters_changed",
            )
    for one in new[len(old) :]:
        reason = f"{one.name} has to be given" if one.is_required else f"{one.name} added"
        found.say(reason, breaks=one.is_required, tag="parameters_changed", widens=True)
    _judge_named(found, old, new)


def _judge_named(found: Verdict, old: Sequence[Parameter], new: Sequence[Parameter]) -> None:
    """Parameters that are only given by name, where others go by place."""
    after = {one.name: one for one in new if one.how == "keyword_only"}
    for one in old:
        if one.how != "keyword_only":
            continue
        other = after.get(one.name)
        if other is None:
            found.say(f"{one.name} removed", breaks=True, tag="parameters_changed")
        elif not one.is_required and other.is_required:
            found.say(f"{one.name} has no default any more", breaks=True, tag="parameters_changed")


def _judge_pattern(found: Verdict, one: Parameter, other: Parameter, rules: Contract) -> None:
    """Another name in the same place; of an object that is taken apart, other members."""
    if one.name.startswith("{") and other.name.startswith("{"):
        lost = set(one.name.split()) - set(other.name.split())
        reason = f"{', '.join(sorted(lost))} removed" if lost else "takes more apart"
        found.say(reason, breaks=bool(lost), tag="parameters_changed")
    else:
        reason = f"{tight(one.name)} is {tight(other.name)} now"
        found.say(reason, breaks=rules.names_count, tag="parameters_changed")


def _exactly(found: Verdict, old: Sequence[Parameter], new: Sequence[Parameter], rules: Contract) -> None:
    """Calls give all parameters as they are declared."""
    if len(old) == len(new) and all(_fits(one, other, rules) for one, other in zip(old, new, strict=True)):
        for one, other in zip(old, new, strict=True):
            if one.type != other.type and one.type and other.type:
                reason = f"{other.name} is {tight(other.type)} now"
                found.say(reason.strip(), breaks=False, tag="parameters_changed")
            if one.name != other.name:
                found.say(f"{one.name} is {other.name} now", breaks=rules.names_count, tag="parameters_changed")
            if not one.is_required and other.is_required:
                found.say(f"{other.name} has no default any more", breaks=True, tag="parameters_changed")
            elif one.default != other.default:
                found.say(f"default of {other.name} changed", breaks=False, tag="parameters_changed")
        return
    shown = [", ".join(tight(one.type or one.name) for one in side) for side in (old, new)]
    found.say(f"({shown[0]}) before, ({shown[1]}) now", breaks=True, tag="parameters_changed")


def _fits(one: Parameter, other: Parameter, rules: Contract) -> bool:
    """Whether what was given in a place still can be."""
    more = rules.array_varargs and (one.how, other.how) == ("positional", "rest")
    return (one.how == other.how or more) and accepts(one, other, rules)


def _placed(parameters: Sequence[Parameter]) -> list[Parameter]:
    return [one for one in parameters if one.how in ("positional", "positional_only")]


def _instead(one: Parameter, old_places: dict[str, int], new: Sequence[Parameter], known: set[str]) -> Parameter | None:
    """The parameter that has taken another's place under a name that was not there before."""
    at = old_places.get(one.name)
    placed = _placed(new)
    if at is None or at >= len(placed) or placed[at].name in known:
        return None
    return placed[at]

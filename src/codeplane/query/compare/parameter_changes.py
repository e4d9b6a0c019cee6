"""Changes of parameters, judged by how a language passes arguments."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from codeplane.code.languages.contract import Contract
from codeplane.query.compare.parameters import Parameter
from codeplane.query.compare.tokens import compact
from codeplane.query.compare.type_compatibility import accepts, is_computed
from codeplane.query.compare.verdict import Verdict

# Whether what was given for the first type can be given for the second.
Fits = Callable[[str, str], bool]


def judge_calls(
    verdict: Verdict,
    old: Sequence[Parameter],
    new: Sequence[Parameter],
    rules: Contract,
    fits: Fits | None = None,
) -> None:
    """Judge what changed parameters do to callers; `fits` compares types beyond how they are written."""
    if old and old[0].receiver and not (new and new[0].receiver):
        verdict.add("no extension any more", breaks=True, tag="parameters_changed")
    if rules.calls == "keywords":
        _by_keywords(verdict, old, new)
    elif rules.calls == "optional":
        _by_position(verdict, old, new, rules, fits)
    else:
        _exactly(verdict, old, new, rules)


def _by_keywords(verdict: Verdict, old: Sequence[Parameter], new: Sequence[Parameter]) -> None:
    """Calls pass arguments by position and by name; nobody gives one by a name that begins with an underscore."""
    old = [
        replace(parameter, how="positional_only")
        if parameter.how == "positional" and _is_private(parameter)
        else parameter
        for parameter in old
    ]
    hows = {parameter.how for parameter in new}
    by_name = {parameter.name: parameter for parameter in new if parameter.how not in ("rest", "keyword_rest")}
    places = {parameter.name: at for at, parameter in enumerate(_positional_parameters(new))}
    old_places = {parameter.name: at for at, parameter in enumerate(_positional_parameters(old))}
    known = {parameter.name for parameter in old if parameter.how not in ("rest", "keyword_rest")}
    takes_rest = any(parameter.how == "rest" for parameter in old)
    renamed: set[str] = set()
    for old_parameter in old:
        if old_parameter.how in ("rest", "keyword_rest"):
            sign = "*" if old_parameter.how == "rest" else "**"
            if old_parameter.how not in hows:
                verdict.add(f"{sign}{old_parameter.name} removed", breaks=True, tag="parameters_changed")
            continue
        new_parameter = by_name.get(old_parameter.name)
        if new_parameter is None:
            instead = _instead(old_parameter, old_places, new, known)
            if instead is not None:
                renamed.add(instead.name)
                only = old_parameter.how == "positional_only" and instead.how != "keyword_only"
                verdict.add(f"{old_parameter.name} is {instead.name} now", breaks=not only, tag="parameters_changed")
                if not old_parameter.is_required and instead.is_required:
                    verdict.add(f"{instead.name} has no default any more", breaks=True, tag="parameters_changed")
                continue
            swallowed = (
                (_is_private(old_parameter) and not old_parameter.is_required)
                or (old_parameter.how == "keyword_only" and "keyword_rest" in hows)
                or (old_parameter.how == "positional_only" and "rest" in hows)
                or {"rest", "keyword_rest"} <= hows
            )
            verdict.add(f"{old_parameter.name} removed", breaks=not swallowed, tag="parameters_changed")
            continue
        if old_parameter.how != new_parameter.how and not _is_private(old_parameter):
            loose = (old_parameter.how, new_parameter.how) in (
                ("keyword_only", "positional"),
                ("positional_only", "positional"),
            )
            verdict.add(
                f"{old_parameter.name} is {new_parameter.how.replace('_', '-')} now",
                breaks=not loose,
                tag="parameters_changed",
            )
        if not old_parameter.is_required and new_parameter.is_required:
            verdict.add(f"{old_parameter.name} has no default any more", breaks=True, tag="parameters_changed")
        elif old_parameter.default != new_parameter.default:
            reason = (
                f"{old_parameter.name} may be left out"
                if old_parameter.is_required
                else f"default of {old_parameter.name} changed"
            )
            verdict.add(reason, breaks=False, tag="parameters_changed", widens=old_parameter.is_required)
        if (
            old_parameter.name in old_places
            and old_parameter.name in places
            and places[old_parameter.name] != old_places[old_parameter.name]
        ):
            verdict.add(f"{old_parameter.name} has another place", breaks=True, tag="parameters_changed")
        if old_parameter.type != new_parameter.type:
            verdict.add(f"type of {old_parameter.name} changed", breaks=False, tag="parameters_changed")
    for parameter in new:
        if parameter.how in ("rest", "keyword_rest") or parameter.name in known or parameter.name in renamed:
            continue
        reason = f"{parameter.name} has to be given" if parameter.is_required else f"{parameter.name} added"
        # What went into *rest by its place goes elsewhere now.
        widens = parameter.how == "keyword_only" or not takes_rest
        verdict.add(reason, breaks=parameter.is_required, tag="parameters_changed", widens=widens)


def _by_position(
    verdict: Verdict, old: Sequence[Parameter], new: Sequence[Parameter], rules: Contract, fits: Fits | None
) -> None:
    """Calls pass arguments by position, and may omit trailing optional ones."""
    names, others = [parameter.name for parameter in old], [parameter.name for parameter in new]
    for at, old_parameter in enumerate(old):
        if old_parameter.how == "keyword_only":
            continue
        if at < len(new) and new[at].how == "keyword_only":
            verdict.add(f"{old_parameter.name} is no longer given by place", breaks=True, tag="parameters_changed")
            continue
        new_parameter = new[at] if at < len(new) else None
        if new_parameter is None:
            swallowed = bool(new) and new[-1].how == "rest"
            verdict.add(f"{old_parameter.name} removed", breaks=not swallowed, tag="parameters_changed")
            continue
        if old_parameter.how == "rest" and new_parameter.how != "rest":
            gone = not any(parameter.how == "rest" for parameter in new)
            verdict.add(
                f"...{old_parameter.name} removed" if gone else f"{new_parameter.name} before the rest", breaks=True
            )
            break
        if old_parameter.name != new_parameter.name:
            if old_parameter.name in others or new_parameter.name in names:
                verdict.add(f"{old_parameter.name} has another place", breaks=True, tag="parameters_changed")
            else:
                _judge_pattern(verdict, old_parameter, new_parameter, rules)
        if new_parameter.how == "rest" and old_parameter.how != "rest":
            continue
        if not old_parameter.is_required and new_parameter.is_required and old_parameter.how != "rest":
            verdict.add(f"{new_parameter.name} has to be given", breaks=True, tag="parameters_changed")
        elif old_parameter.default != new_parameter.default or old_parameter.optional != new_parameter.optional:
            reason = (
                f"{new_parameter.name} may be left out"
                if old_parameter.is_required
                else f"default of {new_parameter.name} changed"
            )
            verdict.add(reason, breaks=False, tag="parameters_changed", widens=old_parameter.is_required)
        if rules.typed and old_parameter.type != new_parameter.type:
            breaks = (
                bool(old_parameter.type)
                and bool(new_parameter.type)
                and not accepts(old_parameter, new_parameter, rules)
                and not (rules.unions and is_computed(old_parameter.type, new_parameter.type))
                and not (fits is not None and fits(old_parameter.type, _or_missing(new_parameter)))
            )
            # What has a default had the type of that.
            breaks = breaks or (
                not (old_parameter.type or old_parameter.default)
                and bool(new_parameter.type)
                and new_parameter.type not in ("any", "unknown")
            )
            verdict.add(
                f"{compact(new_parameter.name)} is {compact(new_parameter.type) or 'of any type'} now",
                breaks=breaks,
                tag="parameters_changed",
            )
    for parameter in new[len(old) :]:
        reason = f"{parameter.name} has to be given" if parameter.is_required else f"{parameter.name} added"
        verdict.add(reason, breaks=parameter.is_required, tag="parameters_changed", widens=True)
    _judge_named(verdict, old, new)


def _or_missing(parameter: Parameter) -> str:
    """The type of what is taken for a parameter."""
    return parameter.type if parameter.is_required or parameter.how == "rest" else f"( {parameter.type} ) | undefined"


def _judge_named(verdict: Verdict, old: Sequence[Parameter], new: Sequence[Parameter]) -> None:
    """Judge keyword-only parameters where others are positional."""
    after = {parameter.name: parameter for parameter in new if parameter.how == "keyword_only"}
    for old_parameter in old:
        if old_parameter.how != "keyword_only":
            continue
        new_parameter = after.get(old_parameter.name)
        if new_parameter is None:
            verdict.add(f"{old_parameter.name} removed", breaks=True, tag="parameters_changed")
        elif not old_parameter.is_required and new_parameter.is_required:
            verdict.add(f"{old_parameter.name} has no default any more", breaks=True, tag="parameters_changed")


def _judge_pattern(verdict: Verdict, old_parameter: Parameter, new_parameter: Parameter, rules: Contract) -> None:
    """Judge a renamed parameter, or changed members of a destructured one."""
    if old_parameter.name.startswith("{") and new_parameter.name.startswith("{"):
        lost = set(old_parameter.name.split()) - set(new_parameter.name.split())
        reason = f"{', '.join(sorted(lost))} removed" if lost else "takes more apart"
        verdict.add(reason, breaks=bool(lost), tag="parameters_changed")
    else:
        reason = f"{compact(old_parameter.name)} is {compact(new_parameter.name)} now"
        verdict.add(reason, breaks=rules.names_count, tag="parameters_changed")


def _exactly(verdict: Verdict, old: Sequence[Parameter], new: Sequence[Parameter], rules: Contract) -> None:
    """Calls pass all arguments as declared."""
    if len(old) == len(new) and all(
        _fits(parameter, new_parameter, rules) for parameter, new_parameter in zip(old, new, strict=True)
    ):
        for old_parameter, new_parameter in zip(old, new, strict=True):
            if old_parameter.type != new_parameter.type and old_parameter.type and new_parameter.type:
                reason = f"{new_parameter.name} is {compact(new_parameter.type)} now"
                verdict.add(reason.strip(), breaks=False, tag="parameters_changed")
            if old_parameter.name != new_parameter.name:
                verdict.add(
                    f"{old_parameter.name} is {new_parameter.name} now",
                    breaks=rules.names_count,
                    tag="parameters_changed",
                )
            if not old_parameter.is_required and new_parameter.is_required:
                verdict.add(f"{new_parameter.name} has no default any more", breaks=True, tag="parameters_changed")
            elif old_parameter.default != new_parameter.default:
                verdict.add(f"default of {new_parameter.name} changed", breaks=False, tag="parameters_changed")
        return
    shown = [", ".join(compact(parameter.type or parameter.name) for parameter in side) for side in (old, new)]
    verdict.add(f"({shown[0]}) before, ({shown[1]}) now", breaks=True, tag="parameters_changed")


def _fits(old_parameter: Parameter, new_parameter: Parameter, rules: Contract) -> bool:
    """Whether an argument of the old parameter still fits."""
    more = rules.array_varargs and (old_parameter.how, new_parameter.how) == ("positional", "rest")
    return (old_parameter.how == new_parameter.how or more) and accepts(old_parameter, new_parameter, rules)


def _is_private(parameter: Parameter) -> bool:
    return parameter.name.startswith("_") and not parameter.name.endswith("_")


def _positional_parameters(parameters: Sequence[Parameter]) -> list[Parameter]:
    return [parameter for parameter in parameters if parameter.how in ("positional", "positional_only")]


def _instead(
    old_parameter: Parameter, old_places: dict[str, int], new: Sequence[Parameter], known: set[str]
) -> Parameter | None:
    """The new parameter in an old one's place, if its name is new."""
    at = old_places.get(old_parameter.name)
    placed = _positional_parameters(new)
    if at is None or at >= len(placed) or placed[at].name in known:
        return None
    return placed[at]

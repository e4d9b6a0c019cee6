"""Changes of what a callable takes, judged by who calls it: users, a command line or the interpreter."""

from collections.abc import Sequence
from dataclasses import replace

from codeplane.query.compare.header import Header
from codeplane.query.compare.mark_changes import call_style
from codeplane.query.compare.pairing import Pair
from codeplane.query.compare.parameter_changes import judge_calls
from codeplane.query.compare.parameters import Parameter
from codeplane.query.compare.type_judge import TypeJudge
from codeplane.query.compare.verdict import Verdict

_CALLED_BY_USERS = frozenset({"__init__", "__new__", "__call__", "__init_subclass__"})


def is_special(name: str) -> bool:
    """Whether the interpreter calls a method of this name."""
    return name.startswith("__") and name.endswith("__")


def judge_parameters(
    verdict: Verdict, pair: Pair, old_header: Header, new_header: Header, judge: TypeJudge | None
) -> None:
    """Judge changed parameters of a pair."""
    assert pair.new is not None
    verdict.tag("parameters_changed")
    rules = pair.new.rules
    old, new = list(old_header.parameters or ()), list(new_header.parameters or ())
    if rules.decorators and all(_is_command(header) for header in (old_header, new_header)):
        verdict.add("called with the options of its command line", breaks=False)
        return
    if pair.new.language.classes.receiver_parameter:
        is_method = pair.now.kind == "method"
        old, new = (
            _call_parameters(old, old_header, is_method=is_method),
            _call_parameters(new, new_header, is_method=is_method),
        )
        if is_method and is_special(pair.now.name) and pair.now.name not in _CALLED_BY_USERS:
            if any(parameter.how == "rest" for parameter in old):
                verdict.add("takes what the interpreter gives", breaks=False)
                return
            old, new = _by_place(old), _by_place(new)
    judge_calls(verdict, old, new, rules, judge.takes if judge is not None else None)


def _is_command(header: Header) -> bool:
    """Whether a decorator makes a program's command of a function: `@cli.command()`."""
    return any(mark.partition("(")[0].split()[-1:] in (["command"], ["group"]) for mark in header.marks)


def _by_place(parameters: Sequence[Parameter]) -> list[Parameter]:
    """Parameters that the interpreter gives by their places, and always."""
    placed = [replace(each, how="positional_only") if each.how == "positional" else each for each in parameters]
    return [replace(each, default="") for each in placed]


def _call_parameters(parameters: list[Parameter], header: Header, *, is_method: bool) -> list[Parameter]:
    """The parameters a call passes, without the receiver."""
    if is_method and parameters and call_style(header) != "static method":
        return parameters[1:]
    return parameters

"""Errors of refactorings and their plans."""

from codeplane.kernel.errors.error import CodePlaneError


class NameTaken(
    CodePlaneError,
    name="NAME_TAKEN",
    code=5020,
    http=409,
    rpc="failed_precondition",
    hint="choose another name, or first rename the other symbol",
):
    """The new name means something else where the old one is used; the places are in details."""


class StillUsed(
    CodePlaneError,
    name="STILL_USED",
    code=5021,
    http=409,
    rpc="failed_precondition",
    hint="change these places first (details lists up to 50), or send force: true",
):
    """The symbol to delete is still referenced."""


class PlanNotFound(
    CodePlaneError,
    name="PLAN_NOT_FOUND",
    code=5022,
    http=404,
    rpc="not_found",
    hint="plan again: a plan is gone once it is applied or cancelled, and after an hour (refactor.plan_minutes)",
):
    """No plan of a refactoring has that id."""


class NotRefactorable(
    CodePlaneError,
    name="NOT_REFACTORABLE",
    code=5023,
    http=422,
    rpc="failed_precondition",
    hint="name a symbol that this repository defines: path:line:column, or an id of search",
):
    """The symbol is not defined in this repository, is generated, or cannot be located in the text."""


class ScipRefused(
    CodePlaneError,
    name="SCIP_REFUSED",
    code=5024,
    http=422,
    rpc="failed_precondition",
    hint="make a complete index of the present files",
):
    """A SCIP index does not match the files it describes."""

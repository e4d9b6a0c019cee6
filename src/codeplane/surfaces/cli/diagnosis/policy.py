"""Checks of the owner's own policy."""

from typing import TYPE_CHECKING

from codeplane.kernel.errors import CodePlaneError
from codeplane.kernel.workspace import Workspace
from codeplane.surfaces.cli.diagnosis.check import Check, fail, ok, warn
from codeplane.surfaces.cli.diagnosis.server_probe import ServerProbe

if TYPE_CHECKING:
    from codeplane.kernel.config import Config

_SETTLED_SEC = 15.0
_FIX = "fix it; then: cpl policy check"


def policy(workspace: Workspace, config: "Config", served: ServerProbe | None) -> Check:
    """Check for an unusable policy; a server keeps the last usable one, and without one only reads run."""
    try:
        found = sorted(path.name for path in workspace.policy.iterdir())
    except FileNotFoundError:
        found = []
    except OSError as error:
        return fail("policy", f"{workspace.policy}: {error.strerror}", "cpl policy check")
    files = [name for name in found if name.endswith(".rego")]
    if not files and all(name.startswith(".") or name.endswith(".md") for name in found):
        return ok("policy", "the shipped rules alone")
    if served is not None and (in_force := _in_force(served)) is not None:
        return in_force
    # Slow to import, and only needed here.
    from codeplane.adapters.rego import Rego
    from codeplane.kernel.clock import SystemClock
    from codeplane.trust.policy.policy import Policy

    engine = Rego(timeout_ms=config.policy.timeout_ms)
    rules = Policy(folder=workspace.policy, engine=engine, config=config.policy, clock=SystemClock())
    try:
        rules.wait_until_compiled(_SETTLED_SEC)
        if problems := rules.problems():
            return fail("policy", "; ".join(problems), _FIX)
        return _check_own(files, rules.warnings())
    finally:
        rules.close()


def _in_force(served: ServerProbe) -> Check | None:
    """Return the server's check of the folder and of the policy in force; None when it does not answer."""
    try:
        checked, summary = served.result_of("policy.check"), served.result_of("policy.summary")
    except CodePlaneError:
        return None
    if checked.get("usable"):
        files = [str(file).rpartition("/")[2] for file in _list(checked.get("files"))]
        return _check_own(files, [str(warning) for warning in _list(checked.get("warnings"))])
    problems = [problem for problem in _list(checked.get("problems")) if isinstance(problem, dict)]
    problem_text = "; ".join(
        f"{problem.get('file') or 'policy'}:{problem.get('line')}: {problem.get('message')}" for problem in problems
    )
    current = f"version {str(summary.get('version'))[:12]} stays in force"
    instead = "only reads run" if summary.get("only_reads") else current
    return fail("policy", f"it cannot be used: {problem_text}; {instead}", _FIX)


def _check_own(files: list[str], warnings: list[str]) -> Check:
    summary = f"{len(files)} of your own: {', '.join(files[:5])}" if files else "the shipped rules alone"
    return warn("policy", "; ".join((summary, *warnings)), _FIX) if warnings else ok("policy", summary)


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []

"""All checks of `cpl doctor` in order; one that crashes does not end the others."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from codeplane.kernel.errors import CodePlaneError, ServerUnreachable, Unauthorized
from codeplane.kernel.workspace import Workspace
from codeplane.surfaces.cli.diagnosis import home, installation, repository, secrets, server
from codeplane.surfaces.cli.diagnosis.check import Check, fail, warn
from codeplane.surfaces.cli.diagnosis.clients import clients
from codeplane.surfaces.cli.diagnosis.external_services import external_services
from codeplane.surfaces.cli.diagnosis.index import index, scip
from codeplane.surfaces.cli.diagnosis.ledger import clock, ledger
from codeplane.surfaces.cli.diagnosis.pending_work import pending_work
from codeplane.surfaces.cli.diagnosis.policy import policy
from codeplane.surfaces.cli.diagnosis.server_probe import NO_ANSWER, ServerProbe
from codeplane.surfaces.cli.diagnosis.settings import contexts, names, settings
from codeplane.surfaces.cli.discovery import find_server

if TYPE_CHECKING:
    from codeplane.kernel.config import Config

Look = Callable[[], Check]


def run_checks(workspace: Workspace) -> Iterator[Check]:
    """Run every check in turn; nothing is written."""
    facts = find_server(workspace)
    served = ServerProbe(workspace, facts) if facts is not None else None
    settled, config = settings(workspace, served)
    looks: list[tuple[str, Look]] = [
        ("version", installation.version),
        ("git", lambda: installation.git(workspace)),
        ("sandbox", lambda: installation.sandbox(workspace, config)),
        ("repository", lambda: repository.repository(workspace)),
        ("worktree", lambda: repository.worktree(workspace)),
        ("hooks", lambda: repository.hooks(workspace)),
        ("lfs", lambda: repository.large_files(workspace)),
        ("home", lambda: home.home(workspace)),
        ("ownership", lambda: home.ownership(workspace)),
        ("unfinished", lambda: home.check_unfinished(workspace, facts)),
        ("attached", lambda: home.check_attached(workspace, facts)),
        ("secrets", lambda: secrets.secrets(workspace)),
        ("recovery", lambda: secrets.recovery(workspace)),
        ("settings", lambda: settled),
        ("contexts", lambda: contexts(workspace)),
        ("server", lambda: server.server(workspace, served)),
        ("ledger", lambda: ledger(workspace, served)),
        ("clock", lambda: clock(workspace)),
        ("scip", lambda: scip(workspace, served)),
        ("waiting", lambda: pending_work(served)),
        ("clients", lambda: clients(workspace)),
        *(_checks_of_settings(workspace, config, served) if config is not None else ()),
    ]
    for name, look in looks:
        yield _run_check(name, look)
        if name == "home" and workspace.home.exists() and not workspace.home.is_dir():
            return  # Everything that follows lies in it.


def _checks_of_settings(workspace: Workspace, config: "Config", served: ServerProbe | None) -> list[tuple[str, Look]]:
    """Return the checks that need readable settings."""
    facts = served.facts if served is not None else None
    return [
        ("names", lambda: names(workspace, config, served)),
        ("ports", lambda: server.ports(config, served=served)),
        ("tls", lambda: secrets.certificate(workspace, config, facts)),
        ("policy", lambda: policy(workspace, config, served)),
        ("redaction", lambda: secrets.redaction(workspace, config)),
        ("tests", lambda: installation.runners(workspace, config)),
        ("outside", lambda: external_services(workspace, config, facts)),
        ("index", lambda: index(workspace, config, served)),
    ]


def _run_check(name: str, look: Look) -> Check:
    try:
        return look()
    except (ServerUnreachable, Unauthorized):
        # The server's own line says it, with what to do.
        return warn(name, NO_ANSWER, "see server")
    except CodePlaneError as error:
        return fail(name, error.message, error.hint)
    except Exception as error:  # whatever it was, the other checks are wanted all the more
        message = f"the check failed: {type(error).__name__}: {error}"
        return fail(name, message, "a bug in CodePlane: please report it with cpl doctor --logs")

"""`cpl doctor` in this process, and repositories to look at."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager

from codeplane.kernel.config import Config
from codeplane.kernel.workspace import Workspace
from codeplane.surfaces.cli.diagnosis.check import Check
from codeplane.surfaces.cli.diagnosis.checklist import run_checks
from codeplane.surfaces.cli.diagnosis.server_probe import ServerProbe
from codeplane.surfaces.cli.discovery import find_server
from tests.harness import Server, until


def run_check(workspace: Workspace, name: str) -> Check:
    """One line of what it says of a workspace."""
    found = {check.name: check for check in run_checks(workspace)}[name]
    assert bool(found.fix) is (found.verdict != "ok"), found
    return found


def wait_for_check(workspace: Workspace, name: str, verdict: str) -> Check:
    """The same once it says so: what the server finds out takes it a moment."""
    last: list[Check] = []

    def is_said() -> bool:
        last[:] = [run_check(workspace, name)]
        return last[0].verdict == verdict

    until(is_said)
    return last[0]


@contextmanager
def unused_port() -> Iterator[int]:
    """A port at which nobody answers, and that nobody else can have meanwhile."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield bound.getsockname()[1]


def settings(**sections: dict[str, object]) -> Config:
    """Settings with some of them set."""
    return Config.model_validate(sections)


def server_probe(server: Server) -> ServerProbe:
    """The server as doctor asks it."""
    facts = find_server(server.workspace)
    assert facts is not None
    return ServerProbe(server.workspace, facts)

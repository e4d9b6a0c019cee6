"""The dashboard: sign-ins, and the queries of its pages."""

from codeplane.kernel.conveyor import Conveyor
from codeplane.kernel.workspace import Workspace
from codeplane.observe.dashboard.calls import CallOperations
from codeplane.observe.dashboard.figures import FiguresOperations
from codeplane.observe.dashboard.settings import ConfigOperations
from codeplane.observe.dashboard.task_board import BoardOperations
from codeplane.surfaces.web.sign_in_operations import SignInOperations
from codeplane.surfaces.web.sign_ins import SignIns
from codeplane.wiring.part import House, Part, PlaneWiring


class DashboardWiring(PlaneWiring):
    """Builds the dashboard's operations; its pages are a surface."""

    def __init__(self, house: House) -> None:
        super().__init__(house)
        foundation = self.foundation
        # The file keeps who is signed in over a restart.
        file = foundation.workspace.home / "dashboard.json"
        self.sign_ins = SignIns(clock=foundation.clock, owner_token=foundation.token, file=file)

    def part(self, conveyor: Conveyor) -> Part:
        foundation = self.foundation
        log, clock, cursors, health = foundation.log, foundation.clock, foundation.cursors, foundation.health
        return Part(
            operations=(
                SignInOperations(self.sign_ins, url=lambda: f"http://127.0.0.1:{health.port}"),
                CallOperations(
                    log=log,
                    cursors=cursors,
                    streams=foundation.streams,
                    scope_of=conveyor.ports.authority.event_scope,
                ),
                FiguresOperations(tables=log, clock=clock),
                BoardOperations(log=log, clock=clock, cursors=cursors),
                ConfigOperations(
                    config=foundation.config,
                    origins=foundation.loaded.origins,
                    sources=foundation.loaded.sources,
                    clients=lambda: _clients(foundation.workspace),
                ),
            )
        )


def _clients(workspace: Workspace) -> list[tuple[str, str, str]]:
    """Which coding clients on this machine know the server: client, state, file."""
    # The command line's own, and slow to import: only a look at the settings needs it.
    from codeplane.adapters.coding_clients.own_entry import plan_workspace

    plans = [(plan, str(plan.file).replace(f"{plan.file.home()}/", "~/", 1)) for plan in plan_workspace(workspace, [])]
    return [
        (plan.client, "registered" if plan.action == "unchanged" else "not registered", file) for plan, file in plans
    ]

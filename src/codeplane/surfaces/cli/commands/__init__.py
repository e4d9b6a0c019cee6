"""The commands of `cpl`, one file each."""

import typer

from codeplane.surfaces.cli.commands import outside_agents  # noqa: F401  # adds to `cpl agents`
from codeplane.surfaces.cli.commands.acp import acp
from codeplane.surfaces.cli.commands.agents import agents
from codeplane.surfaces.cli.commands.app_server import app_server
from codeplane.surfaces.cli.commands.approvals import approvals
from codeplane.surfaces.cli.commands.artifacts import artifacts
from codeplane.surfaces.cli.commands.ask import ask
from codeplane.surfaces.cli.commands.audit import audit
from codeplane.surfaces.cli.commands.call import call
from codeplane.surfaces.cli.commands.chat import chat
from codeplane.surfaces.cli.commands.clients import clients
from codeplane.surfaces.cli.commands.dashboard import dashboard
from codeplane.surfaces.cli.commands.demo import demo
from codeplane.surfaces.cli.commands.devices import devices
from codeplane.surfaces.cli.commands.diff import diff
from codeplane.surfaces.cli.commands.doctor import doctor
from codeplane.surfaces.cli.commands.down import down
from codeplane.surfaces.cli.commands.explore import explore
from codeplane.surfaces.cli.commands.grants import grants
from codeplane.surfaces.cli.commands.index import index
from codeplane.surfaces.cli.commands.init import init
from codeplane.surfaces.cli.commands.jobs import jobs
from codeplane.surfaces.cli.commands.log import log
from codeplane.surfaces.cli.commands.lsp import lsp
from codeplane.surfaces.cli.commands.mcp import mcp
from codeplane.surfaces.cli.commands.models import models
from codeplane.surfaces.cli.commands.notifications import notifications
from codeplane.surfaces.cli.commands.policy import policy
from codeplane.surfaces.cli.commands.proposals import proposals
from codeplane.surfaces.cli.commands.schedules import schedules
from codeplane.surfaces.cli.commands.search import search
from codeplane.surfaces.cli.commands.skills import skills
from codeplane.surfaces.cli.commands.status import status
from codeplane.surfaces.cli.commands.tools import tools
from codeplane.surfaces.cli.commands.uninstall import uninstall
from codeplane.surfaces.cli.commands.up import up
from codeplane.surfaces.cli.commands.work import work
from codeplane.surfaces.cli.output import version

app = typer.Typer(
    name="cpl",
    help="CodePlane: a local-first control plane for coding agents.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.callback()(version)
for command in (
    init,
    up,
    demo,
    dashboard,
    status,
    ask,
    chat,
    search,
    explore,
    diff,
    doctor,
    call,
    log,
    audit,
    down,
    mcp,
    acp,
    lsp,
    app_server,
    uninstall,
):
    app.command()(command)
app.add_typer(index, name="index")
app.add_typer(approvals, name="approvals")
app.add_typer(clients, name="clients")
app.add_typer(devices, name="devices")
app.add_typer(agents, name="agents")
app.add_typer(grants, name="grants")
app.add_typer(policy, name="policy")
app.add_typer(work, name="work")
app.add_typer(schedules, name="schedules")
app.add_typer(jobs, name="jobs")
app.add_typer(models, name="models")
app.add_typer(tools, name="tools")
app.add_typer(artifacts, name="artifacts")
app.add_typer(skills, name="skills")
app.add_typer(proposals, name="proposals")
app.add_typer(notifications, name="notifications")

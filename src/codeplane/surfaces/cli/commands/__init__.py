"""The commands of `cpl`, one file each."""

import typer

from codeplane.surfaces.cli.commands.call import call
from codeplane.surfaces.cli.commands.diff import diff
from codeplane.surfaces.cli.commands.doctor import doctor
from codeplane.surfaces.cli.commands.down import down
from codeplane.surfaces.cli.commands.index import index
from codeplane.surfaces.cli.commands.init import init
from codeplane.surfaces.cli.commands.log import log
from codeplane.surfaces.cli.commands.mcp import mcp
from codeplane.surfaces.cli.commands.search import search
from codeplane.surfaces.cli.commands.status import status
from codeplane.surfaces.cli.commands.uninstall import uninstall
from codeplane.surfaces.cli.commands.up import up
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
for command in (init, up, status, search, diff, doctor, call, log, down, mcp, uninstall):
    app.command()(command)
app.add_typer(index, name="index")

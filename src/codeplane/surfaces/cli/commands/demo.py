"""`cpl demo`: a recorded agent session, without a model, a key or a network."""

from typing import Annotated

import typer

from codeplane.surfaces.cli.output import report_errors


@report_errors
def demo(
    open_browser: Annotated[bool, typer.Option("--open", help="Open the dashboard in a browser.")] = False,
    pace: Annotated[float, typer.Option("--pace", min=0, max=10, help="Times the pauses; 0 for none.")] = 1.0,
    answer_after: Annotated[
        float | None,
        typer.Option("--answer-after", min=0, max=600, metavar="SEC", help="Wait so long for you to decide."),
    ] = None,
    keep: Annotated[bool, typer.Option("--keep", help="Leave the folder and its server, and say where.")] = False,
) -> None:
    """Play a recorded agent session on a sample repository, live in the dashboard; it ends by itself."""
    from codeplane.surfaces.cli.demo.session import run_demo

    raise typer.Exit(run_demo(open_browser=open_browser, pace=pace, answer_after=answer_after, keep=keep))

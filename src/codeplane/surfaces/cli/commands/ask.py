"""`cpl ask`: one question, its answer on stdout."""

import sys
from typing import Annotated

import typer

from codeplane.kernel.errors import InvalidArgument
from codeplane.surfaces.cli.conversation import CliConversation
from codeplane.surfaces.cli.output import EXIT_FAILED, JsonOption, RepoOption, report_errors, resolve_workspace
from codeplane.surfaces.cli.terminal import escape_controls
from codeplane.surfaces.cli.turn_view import TurnView


@report_errors
def ask(
    question: Annotated[list[str] | None, typer.Argument(help="The question; - or none reads it from stdin.")] = None,
    thread: Annotated[str | None, typer.Option("--thread", "-t", help="Ask in this thread.")] = None,
    go_on: Annotated[bool, typer.Option("--continue", "-c", help="Ask in the thread used last.")] = False,
    model: Annotated[str, typer.Option("--model", "-m", help="provider/model instead of the default.")] = "",
    skill: Annotated[
        list[str] | None, typer.Option("--skill", "-s", help="Do as this skill says; may be repeated.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Only the answer: no lines about tools.")] = False,
    repo: RepoOption = None,
    as_json: JsonOption = False,
) -> None:
    """Ask about the repository, and print the answer as it comes.

    A model and its tools answer where one is configured (cpl models), else the index. What needs a decision waits for
    cpl approvals. With --json every event is a line. Exits with 1 when the turn fails.
    """
    words = " ".join(question or ())
    text = sys.stdin.read() if words in ("", "-") and not sys.stdin.isatty() else words
    if not text.strip() or text == "-":
        raise InvalidArgument("there is no question", hint='cpl ask "where are colours decided?"')
    conversation = CliConversation(resolve_workspace(repo), as_json=as_json)
    conversation.open(thread, model=model, newest=go_on)
    view = TurnView(shows_asides=not quiet)
    try:
        turn = conversation.ask(text, view, model=model, decide=lambda action: None, skills=skill or ())
    except KeyboardInterrupt:
        conversation.cancel()
        raise
    except typer.Exit:
        conversation.put_away_unused()
        raise
    if turn["status"] != "COMPLETED":
        print(escape_controls(f"error: {view.failure or turn['status']}"), file=sys.stderr)
        raise typer.Exit(EXIT_FAILED)

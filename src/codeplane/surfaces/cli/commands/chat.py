"""`cpl chat`: a conversation at the terminal."""

import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from codeplane.kernel.json import JsonObject
from codeplane.surfaces.cli.conversation import CliConversation
from codeplane.surfaces.cli.output import JsonOption, RepoOption, report_errors, resolve_workspace
from codeplane.surfaces.cli.terminal import escape_controls
from codeplane.surfaces.cli.turn_view import TurnView

_HELP = """/undo  take back what the last turn changed      /new     begin another thread
/show  the conversation so far                  /cost    tokens and cost of the last turn
/diff  what an outside agent changed            /apply   make it in the checkout     /discard  drop it
/quit  end (the thread stays: cpl chat --continue)       Ctrl-C  stop the turn"""
_SHOWN = 6


@report_errors
def chat(
    thread: Annotated[str | None, typer.Option("--thread", "-t", help="Go on with this thread.")] = None,
    go_on: Annotated[bool, typer.Option("--continue", "-c", help="Go on with the thread used last.")] = False,
    model: Annotated[str, typer.Option("--model", "-m", help="provider/model instead of the default.")] = "",
    agent: Annotated[
        str, typer.Option("--agent", "-a", help="An outside agent that runs a new thread: cpl agents acp.")
    ] = "",
    skill: Annotated[
        list[str] | None, typer.Option("--skill", "-s", help="Do as this skill says; may be repeated.")
    ] = None,
    repo: RepoOption = None,
    as_json: JsonOption = False,
) -> None:
    """Talk with the assistant of this repository.

    Text streams as it comes, tools are named, what needs a decision is asked here. Ctrl-C stops the turn, a second
    one ends. With --json each line of stdin is a message, and every event a line.
    """
    conversation = CliConversation(resolve_workspace(repo), as_json=as_json)
    shown = conversation.open(thread, model=model, newest=go_on, agent=agent)
    if not as_json:
        _greet(conversation, shown)
    while (text := _read(as_json=as_json)) is not None:
        if text.startswith("/") and not as_json:
            if _command(conversation, text, model, agent):
                return
        elif text:
            _turn(conversation, text, model, skill or (), as_json=as_json)


def _greet(conversation: CliConversation, shown: JsonObject | None) -> None:
    print(f"{conversation.thread_id} (/help)", file=sys.stderr)
    items = shown["items"] if shown is not None else []
    assert isinstance(items, list)
    for message in items[-_SHOWN:]:
        if isinstance(message, dict):
            print(_printable(f"{message['role']}: {message['content']}"))


def _read(*, as_json: bool) -> str | None:
    """The next message; None at the end of the input."""
    if as_json or not sys.stdin.isatty():
        line = sys.stdin.readline()
        return line.strip() if line else None
    return _read_line("> ")


def _read_line(prompt: str) -> str | None:
    """A line that the person types; None at the end of the input."""
    try:
        return input(prompt).strip()
    except EOFError:
        return None


def _turn(conversation: CliConversation, text: str, model: str, skills: Sequence[str], *, as_json: bool) -> None:
    view = TurnView()
    try:
        conversation.ask(text, view, model=model, decide=None if as_json else _decide, skills=skills)
    except KeyboardInterrupt:
        conversation.cancel()
        print("\nstopped", file=sys.stderr)
    if view.failure:
        print(escape_controls(f"error: {view.failure}"), file=sys.stderr)


def _decide(action: JsonObject) -> tuple[bool, str] | None:
    """Ask the person at the terminal; without one it is left to cpl approvals."""
    shown = f"\n{action['deterministic_summary']}\n{action.get('preview') or ''}".rstrip()
    print(escape_controls(shown), file=sys.stderr)
    if not sys.stdin.isatty():
        return None
    while True:
        # The end of the input decides nothing.
        answer = _read_line(f"approve {action['action_id']}? [y]es, [n]o, [l]ater: ")
        answer = "later" if answer is None else answer.lower()
        if answer in ("y", "yes"):
            return True, ""
        if answer in ("n", "no"):
            return False, _read_line("why? ") or ""
        if answer in ("l", "later"):
            return None


def _command(conversation: CliConversation, text: str, model: str, agent: str) -> bool:
    """Carry out a command of the conversation; True ends it."""
    client, command = conversation.client, text.split()[0]
    if command in ("/undo", "/cost") and not conversation.turn_id:
        print("there is no turn in this thread yet", file=sys.stderr)
        return False
    match command:
        case "/quit" | "/exit":
            return True
        case "/new":
            conversation.open(None, model=model, agent=agent)
            print(conversation.thread_id, file=sys.stderr)
        case "/undo":
            _print_text(client.call("turn.undo", {"turn_id": conversation.turn_id}, text=True))
        case "/diff" | "/apply" | "/discard":
            _print_text(client.call(f"thread.{command[1:]}", {"thread_id": conversation.thread_id}, text=True))
        case "/show":
            _print_text(client.call("thread.show", {"thread_id": conversation.thread_id}, text=True))
        case "/cost":
            _print_text(client.call("turn.show", {"turn_id": conversation.turn_id}, text=True))
        case _:
            print(_HELP, file=sys.stderr)
    return False


def _print_text(envelope: JsonObject) -> None:
    error = envelope.get("error")
    shown = f"error: {error['message']}" if isinstance(error, dict) else str(envelope.get("text"))
    print(escape_controls(shown), file=sys.stderr)


def _printable(text: str) -> str:
    return escape_controls(text) if sys.stdout.isatty() else text

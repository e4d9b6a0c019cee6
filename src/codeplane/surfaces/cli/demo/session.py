"""The whole demo: server, link, session, summary and clean-up."""

import asyncio
import logging
import shlex
import sys
import time
import webbrowser

from codeplane.kernel.errors import ServerUnreachable
from codeplane.surfaces.cli.demo.person import Person
from codeplane.surfaces.cli.demo.recording import Recording, load_recording
from codeplane.surfaces.cli.demo.sample_server import SampleServer, serve_sample
from codeplane.surfaces.cli.demo.screen import Screen
from codeplane.surfaces.cli.demo.signals import Interrupted, SignalGuard
from codeplane.surfaces.cli.demo.tempo import Tempo
from codeplane.surfaces.cli.discovery import find_server

_OPENING_SEC = 5.0
_CLOSING_SEC = 4.0
_ANSWER_SEC = 8.0
# A call waits longer for its answer than the demo's person takes to give it.
_MARGIN_SEC = 60.0


def run_demo(*, open_browser: bool, pace: float, answer_after: float | None, keep: bool) -> int:
    """Run the demo and return the exit code."""
    recording, screen, tempo = load_recording(), Screen(), Tempo(pace)
    patience = _ANSWER_SEC * pace if answer_after is None else answer_after
    overrides = [*recording.overrides, f"approvals.wait_sec={patience + _MARGIN_SEC}"]
    # The demo reports connection errors itself, so the MCP library's log is silenced.
    logging.getLogger().addHandler(logging.NullHandler())
    stage: SampleServer | None = None
    with SignalGuard() as ending:
        screen.line(f"A recorded agent session: {recording.title}. No model, no key, no network.")
        try:
            with serve_sample(overrides, ending, keep=keep) as stage:
                ending.run(_play(recording, stage, screen, tempo, patience=patience, open_browser=open_browser))
        except Interrupted as interrupted:
            print(f"ended early: {interrupted}", file=sys.stderr)
            return interrupted.exit_code
        except ServerUnreachable as error:
            if stage is None:
                raise
            raise ServerUnreachable(f"the demo's server went away: {error}", hint="play it again: cpl demo") from error
        finally:
            if stage is not None:
                _say_what_is_left(screen, stage, keep=keep)
    return 0


async def _play(
    recording: Recording, stage: SampleServer, screen: Screen, tempo: Tempo, *, patience: float, open_browser: bool
) -> None:
    person = Person(stage)
    link = await asyncio.to_thread(person.link)
    screen.line(f"folder     {stage.workspace.root}")
    screen.line(f"server     {stage.server.url} (pid {stage.server.pid})")
    screen.line(f"dashboard  {link}")
    if open_browser and not await asyncio.to_thread(webbrowser.open, link):
        screen.line("           no browser could be opened; open the link yourself")
    opening, began = tempo.pause(_OPENING_SEC) if screen.is_terminal else 0.0, time.monotonic()
    if opening:
        screen.line(f"           open it to watch along; it begins in {opening:.0f} s")
    screen.line()

    # The MCP library takes a moment, which passes while a browser is opened.
    from codeplane.surfaces.cli.demo.agent import connect_agent
    from codeplane.surfaces.cli.demo.player import Player

    await asyncio.sleep(began + opening - time.monotonic())
    async with connect_agent(stage.server.url) as agent:
        player = Player(
            recording=recording, agent=agent, person=person, screen=screen, tempo=tempo, answer_after=patience
        )
        await player.play()
    tally = await asyncio.to_thread(person.tally, player.session_id)
    screen.line()
    screen.line(f"ledger     {tally.events} events; {tally.calls} calls of this session, {tally.failed} of them not ok")
    screen.line("next       in a repository of yours: cpl init, then cpl up and cpl dashboard")
    if screen.is_terminal and (closing := tempo.pause(_CLOSING_SEC)):
        screen.line(f"           the dashboard stays for {closing:.0f} s; cpl demo --keep leaves it there")
        await asyncio.sleep(closing)


def _say_what_is_left(screen: Screen, stage: SampleServer, *, keep: bool) -> None:
    if keep:
        root, folder = shlex.quote(str(stage.workspace.root)), shlex.quote(str(stage.folder))
        served = f"served at {stage.server.url} (pid {stage.server.pid})"
        screen.line(f"kept       {folder}, {served if find_server(stage.workspace) else 'no longer served'}")
        screen.line(f"           end it: cpl down --repo {root} && rm -r {folder}")
    elif not stage.folder.exists():
        screen.line(f"gone       the server (pid {stage.server.pid}) has ended, {stage.folder} is removed")

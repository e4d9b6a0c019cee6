"""Outside agents: what starts them in their sandboxes, runs their turns, and serves the operations on them."""

import asyncio
import os
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from codeplane import __version__
from codeplane.adapters.acp_agent import AcpConnector
from codeplane.adapters.agent_home import fill_home
from codeplane.adapters.line_process import ProgramStart
from codeplane.adapters.shell_sandbox import ShellSandbox
from codeplane.adapters.tool_secrets import known_secrets
from codeplane.adapters.tool_socket import ToolSocket
from codeplane.adapters.yaml_config import LoadedConfig
from codeplane.disk.program_path import path_outside
from codeplane.kernel.config import OutsideAgentConfig
from codeplane.kernel.conveyor import Conveyor
from codeplane.kernel.errors import OutsideAgentFailed, SandboxMissing
from codeplane.kernel.ids import new_id
from codeplane.kernel.job_tree import JobTrees
from codeplane.kernel.outside_agent import AgentPlace
from codeplane.testing.environment import clean_environment
from codeplane.testing.suite import CACHE
from codeplane.vectors.token_count import TOKENIZER, count_tokens
from codeplane.wiring.conversations import Conversations
from codeplane.wiring.foundation import Foundation
from codeplane.work.agents.gate import AgentGate
from codeplane.work.agents.kind import AgentTurnKind
from codeplane.work.agents.loop import AgentLoop, AgentParts
from codeplane.work.agents.operations import OutsideAgentOperations
from codeplane.work.agents.prompt import PromptBuilder
from codeplane.work.agents.registry import OutsideAgent, OutsideAgents
from codeplane.work.agents.tree_operations import ThreadTreeOperations
from codeplane.work.agents.trees import ThreadTrees

# Of what tells a program where it is, an agent's own home replaces these.
_HOMES = ("XDG_RUNTIME_DIR", "DISPLAY", "TMPDIR", "VIRTUAL_ENV", "PYTHONPATH")


@dataclass(frozen=True, slots=True, kw_only=True)
class Agents:
    """The parts of outside agents that need no conveyor."""

    foundation: Foundation
    conversations: Conversations
    registry: OutsideAgents
    trees: ThreadTrees
    kind: AgentTurnKind
    loop: AgentLoop

    @classmethod
    def of(cls, foundation: Foundation, conversations: Conversations, trees: JobTrees) -> "Agents":
        """Build what runs the turns of outside agents."""
        config = foundation.config
        registry = OutsideAgents()
        thread_trees = ThreadTrees(
            log=foundation.log,
            threads=conversations.store,
            trees=trees,
            clock=foundation.clock,
            keep_days=config.jobs.keep_trees_days,
        )
        loop = AgentLoop(
            AgentParts(
                log=foundation.log,
                payloads=conversations.payloads,
                transcripts=conversations.transcripts,
                threads=conversations.store,
                trees=thread_trees,
                agents=registry,
                catalogue=foundation.catalogue,
                redactor=foundation.redactor,
                count_tokens=count_tokens,
                config=config.agents,
                turns=config.turns,
                clock=foundation.clock,
                version=__version__,
                prompts=PromptBuilder(conversations.store),
                fill_home=lambda names, home: fill_home(Path.home(), names, home),
            )
        )
        kind = AgentTurnKind(
            store=conversations.store,
            loop=loop,
            reach_outs=conversations.reach_outs,
            tokenizer=TOKENIZER,
            max_running=config.agents.max_running,
        )
        conversations.job_kind.outside = loop
        made = cls(
            foundation=foundation,
            conversations=conversations,
            registry=registry,
            trees=thread_trees,
            kind=kind,
            loop=loop,
        )
        made._take_over(foundation.loaded)
        return made

    def operations(self, conveyor: Conveyor) -> tuple[object, ...]:
        """The operations on outside agents, and on what they changed."""
        access = self.conversations.access(conveyor)
        return (
            AgentGate(self.foundation.untrusted.mark),
            OutsideAgentOperations(self.registry, reload=self._reload),
            ThreadTreeOperations(access=access, threads=self.conversations.store, trees=self.trees),
        )

    async def _reload(self) -> None:
        if self.foundation.loaded.reload is not None:
            loaded = await asyncio.to_thread(self.foundation.loaded.reload)
            self._learn(known_secrets(loaded.config, loaded.tool_secrets))
            self._take_over(loaded)

    def _take_over(self, loaded: LoadedConfig) -> None:
        config = loaded.config.agents
        self.registry.replace(
            {
                name: OutsideAgent(
                    name=name,
                    settings=settings,
                    connector=AcpConnector(
                        name=name,
                        start_command=lambda place, socket, name=name, settings=settings: self._program(  # type: ignore[misc]  # bound at once
                            name, settings, loaded, place, socket
                        ),
                        settings=settings,
                        config=config,
                        version=__version__,
                    ),
                )
                for name, settings in config.acp.items()
            },
            default=config.default,
        )

    def _learn(self, secrets: Iterable[str]) -> None:
        known = list(secrets)
        self.foundation.redactor.learn(known)
        self.foundation.outward.learn(known)

    def _program(
        self,
        name: str,
        settings: OutsideAgentConfig,
        loaded: LoadedConfig,
        place: AgentPlace,
        socket: ToolSocket | None,
    ) -> ProgramStart:
        """The command of an agent, always in the sandbox and with a home of its own; blocks."""
        workspace, secrets = self.foundation.workspace, loaded.tool_secrets
        environment = clean_environment(os.environ, network=settings.network)
        path = path_outside(environment["PATH"], workspace.root, place.tree)
        command = shutil.which(settings.command, path=path)
        if command is None:
            raise OutsideAgentFailed(
                f"{settings.command!r} of {name} is not on PATH", hint="install it, or give the whole path in command"
            )
        sandbox = ShellSandbox(
            root=place.tree,
            own=workspace.home,
            cache=workspace.home / "tests" / CACHE,
            home=Path.home(),
            environment=os.environ,
            secrets=self.foundation.secrets,
        )
        if reason := sandbox.unavailable_reason():
            raise SandboxMissing(
                f"{name} cannot run in a sandbox: {reason}", hint="install bubblewrap: outside agents run in it alone"
            )
        tools = [Path(command).parent, Path(command).resolve().parent, *map(Path, settings.readable)]
        writable = [place.home]
        if socket is not None:
            tools += socket.interpreter_folders
            writable.append(socket.folder)
        argv = sandbox.command(
            [command, *map(secrets.expand, settings.args)],
            cwd=place.tree,
            network=settings.network,
            workspace="write",
            readable=tuple(tools),
            writable=tuple(writable),
        )
        given = {variable: secrets.expand(value) for variable, value in settings.env.items()}
        environment = {variable: value for variable, value in environment.items() if variable not in _HOMES}
        environment |= {"HOME": str(place.home), "TMPDIR": "/tmp", **given}  # nosec B108  # memory of the sandbox
        return ProgramStart(argv=argv, cwd=place.tree, environment=environment, mark=new_id("agent"))

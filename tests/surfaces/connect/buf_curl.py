"""`buf curl` as a client: one process a call, and one that stays for a stream."""

import json
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from codeplane.kernel.json import JsonObject
from tests.harness import Server
from tests.surfaces.connect.npm_clients import buf, built_protos, start_buf

FORMS = ("connect", "grpcweb", "grpc")
_READ = 65_536


@dataclass(frozen=True, kw_only=True)
class BufCurl:
    """Speaks to a server in one form; over gRPC it learns of the messages by reflection where it has no schema."""

    server: Server
    form: str
    # The folder of the protos that it knows, instead of ours.
    schema: Path | None = None

    def call(self, method: str, data: JsonObject, token: str | None) -> JsonObject:
        """The answer, or the error in its place, which has a `code`."""
        done = buf("curl", *self._words(method, data, token))
        assert (done.returncode == 0) == bool(done.stdout.strip()), done
        found: JsonObject = json.loads(done.stdout or done.stderr)
        return found

    @contextmanager
    def stream(self, method: str, data: JsonObject, token: str) -> Iterator["Streamed"]:
        """A stream, read as it comes."""
        process = start_buf("curl", *self._words(method, data, token))
        assert process.stdout is not None
        assert process.stderr is not None
        try:
            yield Streamed(messages=_values(process.stdout), errors=process.stderr)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.communicate()

    def _words(self, method: str, data: JsonObject, token: str | None) -> list[str]:
        header = ["--header", f"authorization: Bearer {token}"] if token else []
        answer = ["--protocol", self.form, *header, "--data", json.dumps(data)]
        schema = ["--schema", str(self.schema or built_protos())]
        if self.form == "grpc":
            place = f"http://127.0.0.1:{self.server.facts['grpc_port']}"
            # Reflection itself wants a token, also where the call is made without one.
            reflected = [] if token and self.schema is None else schema
            return [*answer, *reflected, "--http2-prior-knowledge", f"{place}/codeplane.v1.{method}"]
        return [*answer, *schema, f"{self.server.url}/codeplane.v1.{method}"]


@dataclass(frozen=True, kw_only=True)
class Streamed:
    """What a stream brings, and the error it ends with."""

    messages: Iterator[JsonObject]
    errors: IO[str]

    def error(self) -> JsonObject:
        """The error; waits for the end."""
        found: JsonObject = json.loads(self.errors.read())
        return found


def _values(text: IO[str]) -> Iterator[JsonObject]:
    """JSON values one after the other, over however many lines each."""
    rest, decoder = "", json.JSONDecoder()
    while line := text.readline(_READ):
        rest = (rest + line).lstrip()
        with suppress(json.JSONDecodeError):
            value, end = decoder.raw_decode(rest)
            rest = rest[end:]
            yield value

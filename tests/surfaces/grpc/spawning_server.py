"""A CodePlane that calls itself over gRPC while it starts programs: run as a module with `--repo DIR`.

It prints how the programs ended.
"""

import argparse
import asyncio
import os
import sys
from collections import Counter
from pathlib import Path

import uvloop

from codeplane.kernel.json import JsonObject, dumps
from codeplane.kernel.workspace import Workspace
from codeplane.wiring.app import load_workspace_config, prepare_home
from codeplane.wiring.serve import Serving

PROGRAMS, AT_ONCE, CALLERS = 200, 4, 3
SETTINGS = ("embeddings.model=none", "index.watch=false", "server.port=0")


async def exit_statuses(port: int) -> Counter[int]:
    """The exit statuses of programs that were started while calls were under way."""
    # Only now: the server has imported it in its own way.
    from grpc import aio
    from grpc_health.v1.health_pb2 import HealthCheckRequest, HealthCheckResponse

    over = asyncio.Event()
    codes: Counter[int] = Counter()

    async def calling() -> None:
        async with aio.insecure_channel(f"127.0.0.1:{port}") as channel:
            check = channel.unary_unary(
                "/grpc.health.v1.Health/Check", HealthCheckRequest.SerializeToString, HealthCheckResponse.FromString
            )
            while not over.is_set():
                await check(HealthCheckRequest(), timeout=30)

    async def starting() -> None:
        for _ in range(PROGRAMS // AT_ONCE):
            codes[await (await asyncio.create_subprocess_exec("git", "--version", stdout=-3, stderr=-3)).wait()] += 1

    callers = [asyncio.ensure_future(calling()) for _ in range(CALLERS)]
    await asyncio.gather(*(starting() for _ in range(AT_ONCE)))
    over.set()
    await asyncio.gather(*callers)
    return codes


async def serve(workspace: Workspace) -> None:
    """Serve, look, tell, and end with the process."""
    port: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    def announce(facts: JsonObject) -> None:
        port.set_result(int(str(facts["grpc_port"])))

    serving = Serving(workspace, loaded=load_workspace_config(workspace, SETTINGS, os.environ), announce=announce)
    running = asyncio.ensure_future(serving.run())
    waiting: set[asyncio.Future[None] | asyncio.Future[int]] = {running, port}
    await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    assert port.done(), running.result()
    codes = await exit_statuses(await port)
    print(dumps({str(code): count for code, count in codes.items()}), flush=True)
    running.cancel()
    await asyncio.wait({running})


def main() -> int:
    """Once, in the folder given."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--repo", type=Path, required=True)
    workspace = Workspace(root=parser.parse_args().repo.resolve())
    prepare_home(workspace)
    uvloop.run(serve(workspace))
    return 0


if __name__ == "__main__":
    sys.exit(main())

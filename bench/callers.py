"""Callers that work at once: each takes its next step when its last one is durable."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import Executor


async def as_tasks(callers: int, steps: int, step: Callable[[int, int], Awaitable[None]]) -> list[int]:
    """Latencies in nanoseconds of all steps, taken by coroutines on one loop."""
    latencies: list[int] = []

    async def caller(number: int) -> None:
        for turn in range(_share(number, callers, steps)):
            started = time.perf_counter_ns()
            await step(number, turn)
            latencies.append(time.perf_counter_ns() - started)

    await asyncio.gather(*(caller(number) for number in range(callers)))
    return latencies


def as_threads(executor: Executor, callers: int, steps: int, step: Callable[[int, int], None]) -> list[int]:
    """Latencies in nanoseconds of all steps, taken by the executor's threads."""

    def caller(number: int) -> list[int]:
        latencies: list[int] = []
        for turn in range(_share(number, callers, steps)):
            started = time.perf_counter_ns()
            step(number, turn)
            latencies.append(time.perf_counter_ns() - started)
        return latencies

    return [latency for found in executor.map(caller, range(callers)) for latency in found]


def _share(number: int, callers: int, steps: int) -> int:
    return steps // callers + (number < steps % callers)

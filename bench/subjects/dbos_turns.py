"""DBOS's turns: a workflow whose questions to the model and calls of tools are steps."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial

from dbos import DBOS

from bench.callers import as_threads
from bench.measure import Sample, Stopwatch
from bench.subjects import Load, Variant
from bench.subjects.dbos import prepare
from bench.subjects.turn_script import TOOLS, wanted


def _model(answered: int) -> int | None:
    return wanted(answered)


def _tool(value: int) -> int:
    return value + 1


def _threads(wal: bool, load: Load) -> Sample:
    prepare(load, wal=wal)
    model, tool = DBOS.step()(_model), DBOS.step()(_tool)

    def workflow(text: str) -> int:
        answers: list[int] = []
        while (argument := model(len(answers))) is not None:
            answers.append(tool(argument))
        return len(answers)

    start = DBOS.workflow()(workflow)

    def turn(caller: int, number: int) -> None:
        assert start(f"go {number}") == TOOLS

    DBOS.launch()
    with ThreadPoolExecutor(load.callers) as executor:
        as_threads(executor, load.callers, load.callers, turn)
        with Stopwatch() as watch:
            latencies = as_threads(executor, load.callers, load.steps, turn)
    DBOS.destroy()
    return Sample.of(watch, latencies)


VARIANTS = (
    Variant(name="threads-wal", says="threads, file in WAL mode", run=partial(_threads, True)),
    Variant(name="threads-stock", says="threads, as it comes (rollback journal)", run=partial(_threads, False)),
)

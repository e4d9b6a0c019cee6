"""The stages: one file each, in the order that the documentation gives."""

import ast
import re
from pathlib import Path

import codeplane
from codeplane.kernel.stages import approve, authorise, budget, execute, identify, record, stream, validate
from tests.interaction.requirements import requirement

pytestmark = requirement("DOOR-01")

ORDER = [
    validate.Validate.name,
    identify.Identify.name,
    authorise.Authorise.name,
    approve.Approve.name,
    budget.CountBudget.name,
    execute.Execute.name,
    record.Recorder.name,
    stream.Stream.name,
]
KERNEL = Path(codeplane.__file__).parent / "kernel"
DOOR = Path(__file__).parents[2] / "docs/concepts/the-door.md"


def test_each_stage_has_the_name_of_its_file() -> None:
    files = {file.stem for file in (KERNEL / "stages").glob("*.py") if _stage_name(file)}
    assert files == set(ORDER)
    assert all(_stage_name(KERNEL / "stages" / f"{name}.py") == name for name in ORDER)


def test_the_documented_table_lists_them_in_order() -> None:
    table = DOOR.read_text().partition("| stage |")[2].partition("\n\n")[0]
    assert re.findall(r"^\| (\w+) \|", table, re.MULTILINE) == ORDER


def _stage_name(file: Path) -> str:
    """The `name` that a class of this file declares."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id == "name":
            return str(node.value.value) if isinstance(node.value, ast.Constant) else ""
    return ""

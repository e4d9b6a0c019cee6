"""`search.structural`: pages of matches with what they captured, and refusals."""

import asyncio
from pathlib import Path

import pytest

from codeplane.kernel.clock import SystemClock
from codeplane.kernel.cursor import Cursors
from codeplane.kernel.errors import CodePlaneError, CursorExpired, CursorInvalid, InvalidArgument
from codeplane.query.knowledge import Knowledge
from codeplane.refactor.structural.operations import StructuralOperations, StructuralResult
from tests.interaction.requirements import requirement
from tests.refactor.structural.operation_calls import Asking, asked

FILES = {
    "a.py": "foo(1, bar(2))\n\nx = foo(\n    'ü',\n    3,\n)\n",
    "b/c.py": "foo(é, 5)\n" * 3,
    "broken.py": "foo(1, 2)\ndef (:\n",
    "big.txt": "foo(1, 2)\n",
}


def made(root: Path, knowledge: Knowledge) -> StructuralOperations:
    return StructuralOperations(root=root.resolve(), knowledge=knowledge, cursors=Cursors(clock=SystemClock()))


@requirement("REF-22")
def test_matches_are_shown_with_place_and_captures(tmp_path: Path) -> None:
    async def body(ask: Asking) -> None:
        found = await ask("search.structural", pattern="foo($A, $B)", language="python", paths=["a.py"])
        assert isinstance(found, StructuralResult)
        assert [
            (result.path, result.line, result.column, result.end_line, result.end_column) for result in found.results
        ] == [
            ("a.py", 1, 1, 1, 15),
            ("a.py", 3, 5, 6, 2),
        ]
        assert found.results[0].captures == {"A": "1", "B": "bar(2)"}
        assert found.results[1].captures == {"A": "'ü'", "B": "3"}
        assert found.total == 2 and found.total_is_exact and found.partial is None
        text = found.text().split("\n")
        assert text[:3] == ["a.py", "1:1: foo(1, bar(2))  [A=1  B=bar(2)]", "3:5: foo( …  [A='ü'  B=3]"]
        assert text[3].startswith("[2 of 2 matches in 1 file, epoch ")

    asked(tmp_path / "a", FILES, lambda knowledge: made(tmp_path / "a", knowledge), body)


@requirement("REF-22")
def test_pages_go_through_one_state(tmp_path: Path) -> None:
    root = tmp_path / "a"

    async def body(ask: Asking) -> None:
        question = {"pattern": "foo($A, $B)", "language": "py"}
        first = await ask("search.structural", **question, limit=2)
        assert isinstance(first, StructuralResult)
        (root / "b/c.py").write_text("")
        assert first.total == 6 and "1 file does not parse as a whole: broken.py" in str(first.partial)
        second = await ask("search.structural", **question, limit=4, cursor=first.pagination.next_cursor)
        assert isinstance(second, StructuralResult)
        assert [result.path for result in second.results] == ["b/c.py"] * 3 + ["broken.py"]
        assert second.pagination.next_cursor is None
        again = await ask("search.structural", **question)
        assert isinstance(again, StructuralResult) and again.total == 3
        with pytest.raises(CursorInvalid):
            await ask("search.structural", pattern="bar($A)", language="py", cursor=first.pagination.next_cursor)
        for number in range(20):
            await ask("search.structural", pattern="foo($A, $B)", language="py", limit=1, paths=["*.py", f"{number}"])
        with pytest.raises(CursorExpired):
            await ask("search.structural", **question, limit=4, cursor=first.pagination.next_cursor)

    asked(root, FILES, lambda knowledge: made(root, knowledge), body)


@requirement("REF-22")
def test_nothing_found_says_why(tmp_path: Path) -> None:
    async def body(ask: Asking) -> None:
        nothing = await ask("search.structural", pattern="nope($A)", language="python")
        assert nothing.text().startswith("[no match, epoch ")
        nowhere = await ask("search.structural", pattern="foo($A)", language="python", paths=["nowhere"])
        assert "no file matches paths" in nowhere.text()
        for pattern, language in (("foo(", "python"), ("$A", "python"), ("a", "toml"), ("a", "klingon")):
            with pytest.raises(InvalidArgument) as caught:
                await ask("search.structural", pattern=pattern, language=language)
            error: CodePlaneError = caught.value
            assert error.hint

    asked(tmp_path / "a", FILES, lambda knowledge: made(tmp_path / "a", knowledge), body)


@requirement("REF-22")
def test_a_cancelled_search_ends(tmp_path: Path) -> None:
    async def body(ask: Asking) -> None:
        task = asyncio.ensure_future(ask("search.structural", pattern="foo($A, $B)", language="python"))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asked(tmp_path / "a", FILES, lambda knowledge: made(tmp_path / "a", knowledge), body)

"""Languages without a compiler in reach: a rename takes every use along or asks back, a delete in use is refused."""

from pathlib import Path
from typing import cast

import pytest

from codeplane.kernel.json import JsonObject
from tests.interaction.requirements import requirement
from tests.kernel.plane import asking
from tests.refactor.marked_sources import definition, plain, renamed
from tests.refactor.short_answer_cases import CASES
from tests.refactor.test_operations import made, texts

Files = dict[str, str]


def in_folder(folder: str, files: Files) -> Files:
    """Put the files of a case into a folder of its own."""
    return {f"{folder}/{path}": text for path, text in files.items()}


def marked_lines(files: Files) -> set[str]:
    """The lines that say the symbol."""
    return {
        f"{path}:{number}"
        for path, text in files.items()
        for number, line in enumerate(text.split("\n"), start=1)
        if "«" in line
    }


@requirement("REF-40")
@requirement("REF-41")
@pytest.mark.parametrize("language", CASES)
async def test_uses_are_neither_left_nor_broken(language: str, tmp_path: Path) -> None:
    cases = {f"c{number}": in_folder(f"c{number}", files) for number, files in enumerate(CASES[language].values())}
    names = dict(zip(cases, CASES[language], strict=True))
    files = {path: text for some in cases.values() for path, text in plain(some).items()}
    root = made(tmp_path, files)
    wrong: list[str] = []
    async with asking(root) as ask:
        for folder, case in cases.items():
            deleted = await ask("refactor.delete", target=definition(case), apply=True)
            if deleted.get("error") is None:
                wrong.append(f"{names[folder]}: deleted")
                await ask("mutation.undo")
            envelope = await ask("refactor.rename", symbol=definition(case), new_name="fresh", apply=True, limit=1000)
            found = cast(JsonObject | None, envelope.get("result"))
            now = {path: text for path, text in texts(root).items() if path.startswith(f"{folder}/")}
            if found is not None and found["status"] == "applied":
                if now != renamed(case, "fresh"):
                    wrong.append(f"{names[folder]}: {now}")
            elif now != plain(case):
                wrong.append(f"{names[folder]}: changed without success")
            elif found is not None:
                preview = cast(JsonObject, found["preview"])
                shown = {f"{one['path']}:{one['line']}" for one in cast(list[JsonObject], preview["edits"])}
                manifest = cast(JsonObject, found["manifest"])
                risky = bool(manifest["risk_count"])
                if not marked_lines(case) <= shown and not risky:
                    wrong.append(f"{names[folder]}: not shown: {marked_lines(case) - shown}")
    assert not wrong, "\n".join(wrong)

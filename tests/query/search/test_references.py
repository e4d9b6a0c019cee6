"""References say by which other names their target is known: uses under those are not among them."""

from pathlib import Path

from tests.harness import make_repo
from tests.interaction.requirements import requirement
from tests.query.asking import Ask, with_plane

pytestmark = requirement("RES-43")

FILES = {
    "m.py": "def f():\n    return 1\n\n\ndef alone():\n    return f()\n",
    "n.py": "from m import f as g\n\ng()\n",
    "o.py": "from m import f as g, alone as alone\n\ng()\n",
    "other.py": "from elsewhere import f as h\n",
    "a.ts": "function inner() {}\nexport { inner as outer };\nexport default inner;\n",
    "b.ts": "export { outer as third } from './a';\n",
}


def test_other_names_are_told(tmp_path: Path) -> None:
    async def answer_text(ask: Ask, query: str) -> str:
        meta = (await ask("search", query=query, mode="references"))["meta"]
        assert isinstance(meta, dict)
        return str(meta.get("warnings") or "")

    async def body(ask: Ask) -> None:
        assert "also known as g in 2 files; uses under another name are not listed" in await answer_text(ask, "m.py:1")
        assert "also known as outer in a.ts" in await answer_text(ask, "inner")
        assert not await answer_text(ask, "alone")

    with_plane(make_repo(tmp_path / "repo", FILES), body)

"""Scripts in pages of Vue and Svelte are resolved as those in files of their own."""

from pathlib import Path

import pytest

from tests.interaction.requirements import requirement
from tests.kernel.plane import asking
from tests.query.asking import result
from tests.refactor.test_operations import edits, made

pytestmark = requirement("REF-40")

SCRIPT = """function load() {
  return 1
}

export default {
  methods: {
    load() {
      return load()
    },
  },
}
"""
OBJECT = """function load() {
  return 1
}

const it = {
  load() {
    return load()
  },
}
"""


@pytest.mark.parametrize(
    ("name", "script", "before", "after"),
    [
        ("page.js", SCRIPT, "", ""),
        ("page.vue", SCRIPT, "<script>\n", "</script>\n"),
        ("page.svelte", OBJECT, "<script>\n", "</script>\n"),
        ("page.astro", OBJECT, "---\n", "---\n<p>page</p>\n"),
    ],
)
async def test_a_method_of_an_object_is_not_the_function_of_its_name(
    tmp_path: Path, name: str, script: str, before: str, after: str
) -> None:
    root = made(tmp_path, {name: before + script + after})
    first = before.count("\n") + 1
    async with asking(root) as ask:
        found = result(await ask("refactor.rename", symbol=f"{name}:{first}:10", new_name="fetched"))
        used = first + script[: script.index("return load")].count("\n")
        assert [(one["line"], one["tier"]) for one in edits(found)] == [(first, "PROVEN"), (used, "PROVEN")]

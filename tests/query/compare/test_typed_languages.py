"""What users of TypeScript, Java and Go still have, however it is written."""

from pathlib import Path

import pytest

from tests.harness import make_repo
from tests.interaction.requirements import requirement
from tests.query.compare.test_public_surface import broken
from tests.query.compare.versions import compared_files, every

pytestmark = requirement("CMP-12")


def breaks(before: dict[str, str], after: dict[str, str]) -> set[str]:
    return {change.pair.now.path for change in every(compared_files(before, after)) if change.breaking}


PART = "package shop;\n\npublic class Part extends Whole {\n{0}}\n"
WHOLE = "package shop;\n\npublic class Whole {\n{0}}\n"
NEXT = "    public int next() {\n        return 1;\n    }\n"


def test_a_method_that_went_to_a_base_of_the_package_is_still_there() -> None:
    before = {"shop/Part.java": PART.replace("{0}", NEXT), "shop/Whole.java": WHOLE.replace("{0}", "")}
    after = {"shop/Part.java": PART.replace("{0}", ""), "shop/Whole.java": WHOLE.replace("{0}", NEXT)}
    assert breaks(before, after) == set()
    elsewhere = {"shop/Part.java": after["shop/Part.java"], "other/Whole.java": after["shop/Whole.java"]}
    assert breaks(before, elsewhere) >= {"Part.next"}


def test_an_annotation_is_no_part_of_a_type() -> None:
    text = "package shop;\n\npublic class Till {\n    public Row.{0}Key key() {\n        return null;\n    }\n}\n"
    before = {"Till.java": text.replace("{0}", "")}
    assert breaks(before, {"Till.java": text.replace("{0}", "@Nullable ")}) == set()
    assert breaks(before, {"Till.java": text.replace("{0}Key", "Value")}) == {"Till.key"}


def test_members_of_a_class_without_a_name_are_nobody_s() -> None:
    made = "    static final Object ROW = new Row() {\n        @Override public int size() { return 1; }\n    };\n"
    text = "package shop;\n\npublic class Till {\n{0}}\n"
    assert breaks({"Till.java": text.replace("{0}", made)}, {"Till.java": text.replace("{0}", "")}) == set()


@pytest.mark.parametrize("written", ["func(*Token) ({0}, error)", "map[string]{0}", "[]{0}"])
def test_any_is_the_empty_interface_in_every_type(written: str) -> None:
    text = f"package shop\n\ntype Key {written}\n"
    before = {"a.go": text.replace("{0}", "interface{}")}
    assert breaks(before, {"a.go": text.replace("{0}", "any")}) == set()
    assert breaks(before, {"a.go": text.replace("{0}", "string")}) == {"Key"}


def test_what_a_package_gave_is_not_judged_by_its_manifest_of_today(tmp_path: Path) -> None:
    root = make_repo(
        tmp_path / "repo",
        {"package.json": '{"name": "web", "main": "dist/index.js"}', "src/index.ts": "export const draw = 1\n"},
    )
    (root / "package.json").write_text('{"name": "all", "private": true}')
    (root / "src" / "index.ts").write_text("export const other = (size: number) => size\n")
    assert "draw" in broken(root)

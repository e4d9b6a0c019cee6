"""Which files give a member a value, as an answer asks again and again."""

from pathlib import Path

from tests.code.resolve.written import written
from tests.interaction.requirements import requirement

pytestmark = requirement("RES-42")

FILES = {
    "a.py": "x.name = 1\n",
    "b.py": "print(x.name)\n",
    "c.py": "setattr(x, 'name', 2)\n",
    "d.py": "y.name: int = 3\n",
    "e.js": "x.name = 1;\n",
}


def test_the_files_of_a_family_one_of_them_first(tmp_path: Path) -> None:
    with written(tmp_path / "repo", FILES) as made:
        world = made.world()
        assert list(world.files_assigning("name", "python")) == [("a.py", (2,)), ("c.py", (12,)), ("d.py", (2,))]
        assert [path for path, _ in world.files_assigning("name", "python", first="d.py")] == ["d.py", "a.py", "c.py"]
        assert [path for path, _ in world.files_assigning("name", "python", first="b.py")] == ["a.py", "c.py", "d.py"]
        assert [path for path, _ in world.files_assigning("name", "python", first="e.js")] == ["a.py", "c.py", "d.py"]
        assert [path for path, _ in world.files_assigning("name", "javascript")] == ["e.js"]
        assert list(world.files_assigning("nowhere", "python")) == []


def test_who_asks_in_between_takes_nothing_away(tmp_path: Path) -> None:
    with written(tmp_path / "repo", FILES) as made:
        world = made.world()
        outer = world.files_assigning("name", "python", first="c.py")
        found = [next(outer)[0], next(outer)[0]]
        assert [path for path, _ in world.files_assigning("name", "python", first="d.py")] == ["d.py", "a.py", "c.py"]
        assert [*found, *(path for path, _ in outer)] == ["c.py", "a.py", "d.py"]

"""Renames of C and C++ that includes, the linker and macros would break."""

from pathlib import Path

import pytest

from tests.interaction.requirements import requirement
from tests.kernel.plane import asking
from tests.query.asking import result
from tests.refactor.test_operations import failed, made, texts

pytestmark = requirement("REF-30")

LAMP = {
    "lamp.h": "#define GLOW 3\n#define dim(x) (x)\nint lit(int level);\nenum { LOW, HIGH };\ntypedef int watt;\n",
    "lamp.c": '#include "lamp.h"\nint lit(int level) { return level * GLOW; }\n',
    "room.h": '#include "lamp.h"\nint room_size(void);\n',
    "room.c": (
        '#include <unistd.h>\n#include "room.h"\n'
        "static int walls(void) { return room_size() + lit(HIGH); }\n"
        "int room_size(void) { int level = 1; return level + walls() + (int)read(0, 0, 0); }\n"
    ),
    "house.c": "static int attic(void) { return 1; }\nint roof(void) { return attic(); }\n",
}


@pytest.mark.parametrize(
    ("symbol", "new_name"),
    [
        # Seen through an include of an include.
        ("room.c:3:12", "lit"),
        ("room.c:3:12", "watt"),
        ("room.c:3:12", "HIGH"),
        ("room.c:3:12", "GLOW"),
        # A macro replaces locals, too.
        ("room.c:4:27", "dim"),
        # What a header declares, its includers see.
        ("lamp.h:3:5", "walls"),
        ("lamp.h:3:5", "room_size"),
        # The linker joins what sees nothing of each other.
        ("house.c:2:5", "lit"),
        # A name of a header that is not there.
        ("room.h:2:5", "read"),
        ("lamp.h:3:5", "read"),
    ],
)
async def test_a_name_that_is_taken_elsewhere_is_refused(tmp_path: Path, symbol: str, new_name: str) -> None:
    root = made(tmp_path, LAMP)
    async with asking(root) as ask:
        assert failed(await ask("refactor.rename", symbol=symbol, new_name=new_name)) == "NAME_TAKEN"


@pytest.mark.parametrize(("symbol", "new_name"), [("house.c:1:12", "lit"), ("house.c:1:12", "read")])
async def test_a_name_that_only_others_see_is_free(tmp_path: Path, symbol: str, new_name: str) -> None:
    root = made(tmp_path, LAMP)
    async with asking(root) as ask:
        found = result(await ask("refactor.rename", symbol=symbol, new_name=new_name, apply=True))
        assert found["status"] == "applied", found
    assert f"static int {new_name}(void)" in texts(root)["house.c"]


@pytest.mark.parametrize("guard", ["#ifndef GETTID", "#if !defined(GETTID)"])
async def test_a_macro_that_others_may_define_is_asked_about(tmp_path: Path, guard: str) -> None:
    text = f"#include <sys/syscall.h>\n{guard}\n#define GETTID 186\n#endif\n#define OWN 1\nint id = GETTID + OWN;\n"
    root = made(tmp_path, {"id.c": text})
    async with asking(root) as ask:
        plan = result(await ask("refactor.rename", symbol="id.c:3:9", new_name="THREAD", apply=True))
        assert plan["status"] != "applied" and texts(root)["id.c"] == text
        done = result(await ask("refactor.rename", symbol="id.c:5:9", new_name="MINE", apply=True))
        assert done["status"] == "applied" and texts(root)["id.c"] == text.replace("OWN", "MINE")


async def test_a_macro_that_is_used_where_its_condition_does_not_hold_is_asked_about(tmp_path: Path) -> None:
    text = (
        "#ifndef ID_H\n#define ID_H\n#include <sys/syscall.h>\n"
        "#ifdef OLD\n#define GETTID 186\n#endif\n"
        "#if WIDE\n#define SIZE 8\n#else\n#define SIZE 4\n#endif\n"
        "#ifdef OLD\n#define ONLY 1\nstatic int only = ONLY;\n#endif\n"
        "static int id = GETTID + SIZE;\n#endif\n"
    )
    root = made(tmp_path, {"id.h": text})
    async with asking(root) as ask:
        plan = result(await ask("refactor.rename", symbol="id.h:5:9", new_name="THREAD", apply=True))
        assert plan["status"] != "applied" and texts(root)["id.h"] == text
        for symbol, old, new in (("id.h:8:9", "SIZE", "WIDTH"), ("id.h:13:9", "ONLY", "MINE")):
            done = result(await ask("refactor.rename", symbol=symbol, new_name=new, apply=True))
            assert done["status"] == "applied" and texts(root)["id.h"] == text.replace(old, new)
            await ask("undo")


@pytest.mark.parametrize("symbol", ["time.cc:1:9", "time.cc:3:13"])
async def test_a_macro_that_looks_like_the_name_of_a_function_is_asked_about(tmp_path: Path, symbol: str) -> None:
    text = "#define NOMACRO\nnamespace detail {\nint local_r NOMACRO(...) { return 1; }\n}\n"
    root = made(tmp_path, {"time.cc": text})
    async with asking(root) as ask:
        plan = result(await ask("refactor.rename", symbol=symbol, new_name="PLAIN", apply=True))
        assert plan["status"] != "applied" and texts(root)["time.cc"] == text


@pytest.mark.parametrize("name", ["begin", "await_ready"])
async def test_a_method_that_the_language_itself_calls_is_asked_about(tmp_path: Path, name: str) -> None:
    text = (
        f"struct Box {{\n  int* {name}();\n  int* end();\n}};\nint f(Box b) {{ for (int i : b) return i; return 0; }}\n"
    )
    root = made(tmp_path, {"box.cc": text})
    async with asking(root) as ask:
        plan = result(await ask("refactor.rename", symbol="box.cc:2:8", new_name="first", apply=True))
        assert plan["status"] != "applied" and texts(root)["box.cc"] == text
        assert failed(await ask("refactor.delete", target="box.cc:2:8", apply=True)) == "STILL_USED"


@pytest.mark.parametrize(
    ("text", "symbol"),
    [
        ("struct Step {\n  typedef int difference_type;\n};\nStep::difference_type far(Step a);\n", ":2:15"),
        ("struct Step {\n  using value_type = int;\n};\n", ":2:9"),
        (
            "#include <mutex>\nstruct Gate {\n  void lock();\n  void unlock();\n};\n"
            "void f(Gate& gate) { std::lock_guard<Gate> held(gate); }\n",
            ":3:8",
        ),
    ],
)
async def test_a_member_that_templates_of_the_library_ask_for_is_asked_about(
    tmp_path: Path, text: str, symbol: str
) -> None:
    root = made(tmp_path, {"step.cc": text})
    async with asking(root) as ask:
        plan = result(await ask("refactor.rename", symbol=f"step.cc{symbol}", new_name="first", apply=True))
        assert plan["status"] != "applied" and texts(root)["step.cc"] == text


async def test_a_method_named_lock_that_nothing_locks_is_renamed(tmp_path: Path) -> None:
    text = "struct Gate {\n  void lock();\n};\nvoid f(Gate& gate) { gate.lock(); }\n"
    root = made(tmp_path, {"gate.cc": text})
    async with asking(root) as ask:
        done = result(await ask("refactor.rename", symbol="gate.cc:2:8", new_name="shut", apply=True))
        assert done["status"] == "applied" and texts(root)["gate.cc"] == text.replace("lock()", "shut()")


async def test_files_of_definitions_that_headers_include_are_renamed_along(tmp_path: Path) -> None:
    files = {
        "box.h": 'class Box {\n  int size_;\n  int size();\n};\n#include "box.inl"\n',
        "box.inl": "inline int Box::size() { return size_; }\n",
    }
    root = made(tmp_path, files)
    async with asking(root) as ask:
        assert (
            result(await ask("refactor.rename", symbol="box.h:2:7", new_name="count_", apply=True))["status"]
            == "applied"
        )
    assert texts(root)["box.inl"] == "inline int Box::size() { return count_; }\n"


async def test_a_name_in_a_file_that_is_not_read_is_asked_about(tmp_path: Path) -> None:
    files = {"box.h": "int lit(int level);\n", "table.inc": "lit(3),\n"}
    root = made(tmp_path, files)
    async with asking(root) as ask:
        plan = result(await ask("refactor.rename", symbol="box.h:1:5", new_name="glow", apply=True))
        assert plan["status"] != "applied" and texts(root) == files

"""`search` through the door: modes, scopes, pages, and answers that say what they speak of."""

import os
import random
from pathlib import Path

import pytest

from codeplane.kernel.json import JsonObject
from tests.harness import git, make_repo
from tests.interaction.requirements import requirement
from tests.query.asking import Ask, result, with_plane

FILES = {
    "src/app.py": "import os\n\ndef get_name():\n    return os.name\n",
    "src/lib/util.py": "def get_size(x):\n    return len(x)\n",
    "docs/guide.md": "# Guide\nget_name is explained here\n",
}


def places(found: JsonObject) -> list[tuple[str, int]]:
    hits = found["results"]
    assert isinstance(hits, list)
    return [(hit["path"], hit["line"]) for hit in hits]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_repo(tmp_path / "repo", FILES)


def test_modes_and_what_auto_picks(root: Path) -> None:
    async def body(ask: Ask) -> None:
        literal = result(await ask("search", query="get_name"))
        assert (literal["mode"], places(literal)) == ("literal", [("docs/guide.md", 2), ("src/app.py", 3)])
        regex = result(await ask("search", query=r"def get_\w+\("))
        assert (regex["mode"], places(regex)) == ("regex", [("src/app.py", 3), ("src/lib/util.py", 1)])
        forced = result(await ask("search", query="len(x)", mode="literal"))
        assert places(forced) == [("src/lib/util.py", 2)]
        shouted = result(await ask("search", query="GET_NAME", ignore_case=True))
        assert shouted["total"] == 2

    with_plane(root, body)


def test_paths_narrow_it_down_as_globs_or_folders(root: Path) -> None:
    async def body(ask: Ask) -> None:
        assert places(result(await ask("search", query="get_", paths="src"))) == [
            ("src/app.py", 3),
            ("src/lib/util.py", 1),
        ]
        assert places(result(await ask("search", query="get_", path=["*.md"]))) == [("docs/guide.md", 2)]
        assert places(result(await ask("search", query="get_", paths=["src/*.py"]))) == [("src/app.py", 3)]
        assert places(result(await ask("search", query="get_", paths=["nowhere/**"]))) == []

    with_plane(root, body)


def test_every_answer_names_epoch_and_commit_and_nothing_found_is_said(root: Path) -> None:
    async def body(ask: Ask) -> None:
        envelope = await ask("search", query="no such text anywhere")
        found = result(envelope)
        assert found["commit"] == git(root, "rev-parse", "HEAD").strip()
        assert found["epoch"] == 1
        assert found["total"] == 0 and found["total_is_exact"] is True
        assert "nothing found, ranked" in str(envelope["text"])

    with_plane(root, body)


def test_pages_show_the_state_of_the_first(root: Path) -> None:
    for number in range(30):
        (root / f"many{number:02}.txt").write_text("hit\n")

    async def body(ask: Ask) -> None:
        first = result(await ask("search", query="hit", limit=10))
        (root / "many15.txt").write_text("gone\n")
        (root / "many00a.txt").write_text("hit\n")
        seen, cursor = places(first), first["pagination"]["next_cursor"]  # type: ignore[index,call-overload]  # JSON
        while cursor:
            page = result(await ask("search", query="hit", limit=10, cursor=cursor))
            seen += places(page)
            cursor = page["pagination"].get("next_cursor")  # type: ignore[union-attr]  # JSON
        assert seen == [(f"many{number:02}.txt", 1) for number in range(30)]
        now = result(await ask("search", query="hit", limit=100, fresh="strict"))
        assert ("many00a.txt", 1) in places(now) and ("many15.txt", 1) not in places(now)

    with_plane(root, body)


def test_a_cursor_of_another_question_is_refused(root: Path) -> None:
    async def body(ask: Ask) -> None:
        first = result(await ask("search", query="e", limit=1))
        cursor = first["pagination"]["next_cursor"]  # type: ignore[index,call-overload]  # JSON
        refused = await ask("search", query="get", limit=1, cursor=cursor)
        assert refused["error"]["error"] == "CURSOR_INVALID"  # type: ignore[index,call-overload]  # JSON

    with_plane(root, body)


@pytest.mark.parametrize(
    "arguments",
    [
        {"query": ""},
        {"query": "x" * 5000, "mode": "literal"},
        {"query": "x" * 5000, "mode": "regex"},
        {"query": "x" * 70_000},
        {"query": "(?=x)", "mode": "regex"},
        {"query": "x", "limit": 0},
        {"query": "x", "limit": 1_000_000},
        {"query": "x", "mode": "telepathy"},
    ],
)
def test_what_cannot_be_asked_is_a_typed_error(root: Path, arguments: dict[str, object]) -> None:
    async def body(ask: Ask) -> None:
        envelope = await ask("search", **arguments)
        assert envelope["error"]["error"] == "INVALID_ARGUMENT"  # type: ignore[index,call-overload]  # JSON
        assert envelope["error"]["hint"]  # type: ignore[index,call-overload]  # JSON

    with_plane(root, body)


def test_long_lines_are_cut_around_the_match(root: Path) -> None:
    (root / "long.txt").write_text("x" * 100_000 + "needle" + "y" * 100_000 + "\n")

    async def body(ask: Ask) -> None:
        envelope = await ask("search", query="needle")
        assert len(str(envelope["text"])) < 1000
        assert "needle" in str(envelope["text"])

    with_plane(root, body)


def test_context_lines_come_along(root: Path) -> None:
    async def body(ask: Ask) -> None:
        hits = result(await ask("search", query="return os.name", context=1))["results"]
        assert isinstance(hits, list)
        assert [(hit["before"], hit["after"]) for hit in hits] == [(["def get_name():"], [])]

    with_plane(root, body)


# A sample in every run; CODEPLANE_EDIT_STEPS=1000 is the soak.
STEPS = int(os.environ.get("CODEPLANE_EDIT_STEPS", "150"))


@requirement("REPO-05")
@pytest.mark.parametrize(("watch", "steps"), [("true", 60), ("false", STEPS)], ids=["watched", "unwatched"])
def test_outside_edits_are_never_missed_in_silence(tmp_path: Path, watch: str, steps: int) -> None:
    """Random edits between questions: an answer is right, or it says that it may not be."""
    root = make_repo(tmp_path / "repo", {f"d{number % 3}/f{number}.py": f"token{number} = 0\n" for number in range(12)})
    dice = random.Random(3)

    def edit(step: int) -> None:
        files = sorted(path for path in root.rglob("*.py"))
        kind = dice.choice(["write", "replace", "move", "delete", "create", "branch"])
        victim = dice.choice(files)
        if kind == "write":
            victim.write_text(f"token{step % 12} = {step}\n# step {step}\n")
        elif kind == "replace":
            spare = root / "spare"
            spare.write_text(f"token{step % 12} = {step}\n")
            spare.replace(victim)
        elif kind == "move":
            os.renames(victim, root / f"moved{step}" / victim.name)
        elif kind == "delete" and len(files) > 4:
            victim.unlink()
        elif kind == "branch":
            git(root, "add", "--all")
            git(root, "commit", "--quiet", "--allow-empty", "--message", f"step {step}")
            git(
                root,
                "checkout",
                "--quiet",
                "-B",
                f"branch{step}",
                f"HEAD~{dice.choice([0, 1])}" if step > 5 else "HEAD",
            )
        else:
            (root / f"new{step}.py").write_text(f"token{step % 12} = {step}\n")

    def truth(word: str) -> list[tuple[str, int]]:
        return sorted(
            (path.relative_to(root).as_posix(), number)
            for path in root.rglob("*.py")
            for number, line in enumerate(path.read_text().splitlines(), 1)
            if f"{word} =" in line
        )

    async def body(ask: Ask) -> None:
        for step in range(steps):
            edit(step)
            word = f"token{dice.randrange(12)}"
            asked = {"query": f"{word} =", "mode": "literal"} if step % 10 else {"query": word, "mode": "definitions"}
            found = result(await ask("search", **asked, limit=100, fresh="strict" if watch == "true" else "default"))
            flagged = found["stale"] or found["partial"]
            assert sorted(places(found)) == truth(word)[:100] or flagged, f"step {step}"

    with_plane(root, body, f"index.watch={watch}")


def test_paths_are_forgiven_and_those_that_match_nothing_are_said(root: Path) -> None:
    (root / "examples" / "src").mkdir(parents=True)
    (root / "examples" / "src" / "x.py").write_text("def get_other(): ...\n")

    async def body(ask: Ask) -> None:
        wanted = [("src/app.py", 3), ("src/lib/util.py", 1)]
        for spelt in ("src", "./src", "src/", str(root.resolve() / "src")):
            assert places(result(await ask("search", query="get_", paths=spelt, fresh="strict"))) == wanted, spelt
        envelope = await ask("search", query="get_", paths=["src,docs"])
        assert "no file matches" in str(envelope["meta"]["warnings"])  # type: ignore[index,call-overload]  # JSON
        outside = await ask("search", query="get_", paths=["../elsewhere"])
        assert outside["error"]["error"] == "PATH_DENIED"  # type: ignore[index,call-overload]  # JSON

    with_plane(root, body)


def test_odd_names_globs_and_rules_are_answered_and_not_crashed_on(root: Path) -> None:
    with open(os.fsencode(root) + b"/bad\xff.txt", "wb") as file:  # noqa: PTH123  # a name that is not text
        file.write(b"peculiar\npeculiar\n")
    (root / ".cplignore").write_text("[z-a]\ndocs/\n")

    async def body(ask: Ask) -> None:
        first = result(await ask("search", query="peculiar", limit=1))
        assert places(first) == [("bad\\xff.txt", 1)]
        cursor = first["pagination"]["next_cursor"]  # type: ignore[index,call-overload]  # JSON
        assert places(result(await ask("search", query="peculiar", limit=1, cursor=cursor))) == [("bad\\xff.txt", 2)]
        assert places(result(await ask("search", query="get_name"))) == [("src/app.py", 3)], "docs/ is ignored"
        for glob in ("[z-a]", "[[:alpha:]", "\\"):
            envelope = await ask("search", query="x", paths=[glob])
            assert "result" in envelope or envelope["error"]["error"] == "INVALID_ARGUMENT", glob  # type: ignore[index,call-overload]  # JSON

    with_plane(root, body)


def test_rules_that_change_are_followed_at_the_next_answer_that_sees_it(root: Path) -> None:
    rules = root / ".cplignore"
    rules.write_text("docs/\n# get_name\n")

    async def body(ask: Ask) -> None:
        before = [path for path, _ in places(result(await ask("search", query="get_name")))]
        assert before == [".cplignore", "src/app.py"]
        rules.write_text("src/\n# get_name\n")
        after = [path for path, _ in places(result(await ask("search", query="get_name")))]
        assert "src/app.py" not in after
        assert any(path.startswith("docs/") for path in after)

    with_plane(root, body)


def test_nothing_found_says_what_else_there_is(root: Path) -> None:
    (root / "use.py").write_text("from outside import borrowed\nborrowed()\n")

    async def answer_text(ask: Ask, **asked: object) -> str:
        meta = (await ask("search", **asked))["meta"]
        assert isinstance(meta, dict)
        warnings = meta.get("warnings") or []
        assert isinstance(warnings, list)
        return " ".join(map(str, warnings))

    async def body(ask: Ask) -> None:
        for mode in ("definitions", "references"):
            answer = await answer_text(ask, query="borrowed", mode=mode)
            assert answer == "no definition here has that name; as text it is in 2 lines: mode=literal", mode
        assert "in what was asked for" in await answer_text(ask, query="get_name", mode="definitions", paths=["docs"])
        assert not await answer_text(ask, query="get_name", mode="references")
        for mode in ("definitions", "references"):
            answer = await answer_text(ask, query="get_nane", mode=mode)
            assert answer == "nothing here has that name; did you mean get_name, get_size?", mode
        assert not await answer_text(ask, query="nowhere_at_all", mode="definitions")
        assert "names src/app.py: read_files" in await answer_text(ask, query="src/app.py")
        assert "list_dir" in await answer_text(ask, query="./src/")

    with_plane(root, body)


def test_kinds_narrow_definitions_and_are_not_left_aside_in_silence(root: Path) -> None:
    async def body(ask: Ask) -> None:
        found = result(await ask("search", query="get_name", kinds=["function"]))
        assert (found["mode"], found["total"]) == ("definitions", 1)
        assert result(await ask("search", query="get_na", kinds=["function"]))["mode"] == "symbol"
        loose = await ask("search", query="get_name", kinds=["function"], mode="literal")
        assert "literal left it aside" in str(loose["meta"])

    with_plane(root, body)


@requirement("SRC-16")
def test_auto_takes_what_is_no_expression_as_text_and_says_so(root: Path) -> None:
    (root / "odd.txt").write_text("call a.*( here\n")

    async def body(ask: Ask) -> None:
        envelope = await ask("search", query="a.*(")
        found = result(envelope)
        assert (found["mode"], places(found)) == ("literal", [("odd.txt", 1)])
        assert "looked for as text" in str(envelope)
        refused = await ask("search", query="a.*(", mode="regex")
        assert refused["error"]["error"] == "INVALID_ARGUMENT"  # type: ignore[index,call-overload]  # JSON

    with_plane(root, body)


@requirement("SRC-17")
def test_names_that_are_not_text_are_taken_back_as_they_are_shown(root: Path) -> None:
    with open(os.fsencode(root) + b"/bad\xff.txt", "wb") as file:  # noqa: PTH123  # a name that is not text
        file.write(b"peculiar\n")
    (root / "plain\\xff.txt").write_text("peculiar too\n")

    async def body(ask: Ask) -> None:
        assert places(result(await ask("search", query="peculiar", paths=["bad\\xff.txt"]))) == [("bad\\xff.txt", 1)]
        read = result(await ask("read_files", paths=["bad\\xff.txt", "bad\\xff.txt:1-1"]))
        assert [one["content"] for one in read["files"]] == ["peculiar\n"] * 2  # type: ignore[union-attr,index,call-overload]  # JSON
        listed = result(await ask("list_dir", path="bad\\xff.txt"))
        assert listed["total"] == 1
        # A file that is really called so is meant first.
        real = result(await ask("read_files", paths=["plain\\xff.txt"]))
        assert real["files"][0]["content"] == "peculiar too\n"  # type: ignore[index,call-overload]  # JSON
        for path in ("\\x2e\\x2e/a", "bad\\xfe.txt", "\\x00"):
            assert "error" in await ask("read_files", paths=[path]), path

    with_plane(root, body)


def test_lines_around_several_hits_are_said_once(root: Path) -> None:
    words = {5: "needle", 7: "needle", 20: "needle"}
    (root / "near.txt").write_text("".join(f"{words.get(number, 'hay')} {number}\n" for number in range(1, 31)))

    async def body(ask: Ask) -> None:
        envelope = await ask("search", query="needle", paths=["near.txt"], context=3)
        lines = [line for line in str(envelope["text"]).splitlines() if "needle" in line or "hay" in line]
        numbers = [int(line.split("-")[0].split(":")[0]) for line in lines]
        assert numbers == [*range(2, 11), *range(17, 24)]
        assert [line for line in lines if ": " in line] == ["5: needle 5", "7: needle 7", "20: needle 20"]
        wide = await ask("search", query="needle 20", paths=["near.txt"], context=12)
        assert str(wide["text"]).count("hay") == 22

    with_plane(root, body)

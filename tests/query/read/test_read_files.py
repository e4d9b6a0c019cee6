"""`read_files` through the door: ranges, bounds, encodings, and paths that stay inside."""

import os
from pathlib import Path

import pytest

from codeplane.kernel.json import JsonObject
from codeplane.query.read.read_files import MAX_BYTES, MAX_LINES, FileText
from tests.harness import make_repo
from tests.interaction.requirements import requirement
from tests.query.asking import Ask, result, with_plane
from tests.surfaces.http.wire import get_field


@pytest.fixture
def root(tmp_path: Path) -> Path:
    lines = "".join(f"line {number}\n" for number in range(1, 51))
    return make_repo(tmp_path / "repo", {"a.txt": lines, "sub/b.txt": "no newline at end", "empty.txt": ""})


def files(envelope: JsonObject) -> list[dict[str, object]]:
    found = result(envelope)["files"]
    assert isinstance(found, list)
    return found


def test_whole_files_ranges_and_several_at_once(root: Path) -> None:
    async def body(ask: Ask) -> None:
        (whole,) = files(await ask("read_files", path="sub/b.txt"))
        assert (whole["content"], whole["line_count"]) == ("no newline at end", 1)
        first, second = files(await ask("read_files", paths=["a.txt:10-12", "sub/b.txt"]))
        assert first["content"] == "line 10\nline 11\nline 12\n"
        assert second["content"] == "no newline at end"
        (one,) = files(await ask("read_files", ranges=[{"path": "a.txt", "start_line": 49}]))
        assert one["content"] == "line 49\nline 50\n"
        (empty,) = files(await ask("read_files", paths="empty.txt"))
        assert (empty["content"], empty["line_count"]) == ("", 0)

    with_plane(root, body)


def test_it_reads_the_disk_as_it_is_now(root: Path) -> None:
    async def body(ask: Ask) -> None:
        (root / "a.txt").write_text("changed a moment ago\n")
        (found,) = files(await ask("read_files", paths="a.txt"))
        assert found["content"] == "changed a moment ago\n"

    with_plane(root, body)


@requirement("REPO-06")
def test_too_much_is_cut_and_says_what_to_read_next(root: Path) -> None:
    (root / "many.txt").write_text("x\n" * (MAX_LINES + 500))
    (root / "wide.txt").write_text(("y" * 999 + "\n") * 200)
    (root / "one.txt").write_text("z" * (MAX_BYTES * 2))

    async def body(ask: Ask) -> None:
        (many,) = files(await ask("read_files", paths="many.txt"))
        assert (many["end"], many["truncated"]) == (MAX_LINES, True)
        assert many["next_range"] == f"many.txt:{MAX_LINES + 1}-{MAX_LINES + 500}"
        (rest,) = files(await ask("read_files", paths=[str(many["next_range"])]))
        assert (rest["start"], rest["end"], rest["truncated"]) == (MAX_LINES + 1, MAX_LINES + 500, False)
        (wide,) = files(await ask("read_files", paths="wide.txt"))
        assert len(str(wide["content"])) <= MAX_BYTES and wide["truncated"]
        envelope = await ask("read_files", paths="one.txt")
        (one,) = files(envelope)
        assert len(str(one["content"])) == MAX_BYTES

    with_plane(root, body)


def test_encodings_are_said(root: Path) -> None:
    (root / "latin.txt").write_bytes("café\n".encode("latin-1"))
    (root / "bom.txt").write_bytes(b"\xef\xbb\xbfhello\n")

    async def body(ask: Ask) -> None:
        latin, bom = files(await ask("read_files", paths=["latin.txt", "bom.txt"]))
        assert latin["content"] == "café\n" and "latin-1" in str(latin["encoding"])
        assert (bom["content"], bom["encoding"]) == ("hello\n", "utf-8-sig")

    with_plane(root, body)


@requirement("REPO-06")
@pytest.mark.parametrize(
    ("path", "error"),
    [
        ("../outside.txt", "PATH_DENIED"),
        ("/etc/passwd", "PATH_DENIED"),
        (".git/config", "PATH_DENIED"),
        (".codeplane/owner.token", "PATH_DENIED"),
        ("sub/../.codeplane/owner.token", "PATH_DENIED"),
        ("way/out", "PATH_DENIED"),
        ("way/secret.txt", "PATH_DENIED"),
        ("home/owner.token", "PATH_DENIED"),
        ("nothing.txt", "NOT_FOUND"),
        ("blob.bin", "NOT_FOUND"),
        ("pipe", "NOT_FOUND"),
        ("sub", "NOT_FOUND"),
        ("a.txt:5-2", "INVALID_ARGUMENT"),
        ("nul\0byte", "PATH_DENIED"),
    ],
)
def test_what_may_not_or_cannot_be_read_is_refused(root: Path, tmp_path: Path, path: str, error: str) -> None:
    (tmp_path / "secret.txt").write_text("outside")
    (root / "way").symlink_to(tmp_path)
    (root / "home").symlink_to(root / ".codeplane")
    (root / "blob.bin").write_bytes(b"a\0b")
    os.mkfifo(root / "pipe")

    async def body(ask: Ask) -> None:
        envelope = await ask("read_files", paths=[path])
        assert envelope["error"]["error"] == error  # type: ignore[index,call-overload]  # JSON

    with_plane(root, body)


def test_one_bad_path_among_several_does_not_spoil_the_rest(root: Path) -> None:
    async def body(ask: Ask) -> None:
        good, bad = files(await ask("read_files", paths=["sub/b.txt", "nothing.txt"]))
        assert good["content"] == "no newline at end"
        assert "NOT_FOUND" in str(bad["error"])

    with_plane(root, body)


def test_absolute_paths_open_ranges_and_lines_that_are_not_there(root: Path) -> None:
    async def body(ask: Ask) -> None:
        (absolute,) = files(await ask("read_files", paths=[str(root.resolve() / "sub/b.txt")]))
        assert absolute["path"] == "sub/b.txt"
        (rest,) = files(await ask("read_files", paths=["a.txt:48-"]))
        assert rest["content"] == "line 48\nline 49\nline 50\n"
        beyond = await ask("read_files", paths=["a.txt:100-120"])
        assert beyond["error"]["error"] == "INVALID_ARGUMENT"  # type: ignore[index,call-overload]  # JSON
        near = await ask("read_files", paths=["sub/bb.txt"])
        assert "sub/b.txt" in str(near["error"])

    with_plane(root, body)


def test_places_as_other_tools_write_them(root: Path) -> None:
    async def body(ask: Ask) -> None:
        asked = ["a.txt:7:3", "a.txt:7:3:", "a.txt#L7", "a.txt#L7-L8", "a.txt#L7-8"]
        read = [str(one["content"]) for one in files(await ask("read_files", paths=asked))]
        assert read == ["line 7\n"] * 3 + ["line 7\nline 8\n"] * 2
        folder = await ask("read_files", paths=["sub"])
        assert "list_dir path=sub" in str(folder["error"])

    with_plane(root, body)


@requirement("REPO-08")
def test_secrets_are_not_read_unless_the_owner_shows_them(root: Path) -> None:
    (root / ".env").write_text("TOKEN=1\n")
    (root / ".cplignore").write_text("!.env\n")

    async def refused(ask: Ask) -> None:
        error = (await ask("read_files", paths=[".env"]))["error"]
        assert isinstance(error, dict) and error["error"] == "PATH_DENIED"
        assert "index.secrets" in str(error["hint"])

    async def shown(ask: Ask) -> None:
        (found,) = files(await ask("read_files", paths=[".env"]))
        assert found["content"] == "TOKEN=1\n"

    with_plane(root, refused)
    with_plane(root, shown, 'index.secrets=[".env"]')


def test_lines_are_those_of_search_whatever_characters_they_hold(tmp_path: Path) -> None:
    text = 'import os\n\x0c\ndef first():\n    s = "a\u2028b\x85c"\n    return 1\n\ndef second():\n    return 2\n'
    root = make_repo(tmp_path / "repo", {"a.py": text})

    async def body(ask: Ask) -> None:
        found = await ask("search", query="def second")
        assert "7: def second" in str(found["text"])
        for path in ("a.py:7-8", "symbol:second"):
            read = await ask("read_files", paths=[path])
            assert "def second():\n    return 2" in str(read["text"]), path

    with_plane(root, body)


def test_a_line_that_is_cut_says_so(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo", {"long.txt": "ä" * 200_000 + "\nend\n"})

    async def body(ask: Ask) -> None:
        read = await ask("read_files", paths=["long.txt"])
        assert "line 1 is cut at 65536 bytes" in str(read["text"]) and "next: long.txt:2-2" in str(read["text"])
        for path in ("symbol:" + "a." * 5000, "/".join(["d"] * 5000)):
            refused = await ask("read_files", paths=[path])
            assert get_field(refused, "error", "error") == "NOT_FOUND", path[:10]

    with_plane(root, body)


def test_a_link_is_not_followed_and_says_where_it_leads(root: Path) -> None:
    (root / "link").symlink_to("sub/b.txt")

    async def body(ask: Ask) -> None:
        (link,) = files(await ask("read_files", path="link"))
        assert (link["is_link"], link["content"]) == (True, "sub/b.txt")
        assert FileText.model_validate(link).text() == "== link: a symbolic link to\nsub/b.txt"
        (plain,) = files(await ask("read_files", path="a.txt"))
        assert not plain["is_link"]

    with_plane(root, body)


@requirement("REPO-06")
def test_ranges_take_the_place_of_the_whole_file(root: Path) -> None:
    async def body(ask: Ask) -> None:
        ranges = [{"path": "./a.txt", "start_line": 2, "end_line": 3}, {"path": "a.txt", "start_line": 50}]
        found = files(await ask("read_files", paths=["a.txt", "sub/b.txt"], ranges=ranges))
        assert [(one["path"], one["start"], one["end"]) for one in found] == [
            ("a.txt", 2, 3),
            ("a.txt", 50, 50),
            ("sub/b.txt", 1, 1),
        ]
        # Lines that are named in paths are asked for beside those in ranges, and a file only in ranges comes last.
        mixed = files(await ask("read_files", paths=["a.txt:7-7", "empty.txt"], ranges=[{"path": "a.txt"}]))
        assert [(one["path"], one["start"], one["end"]) for one in mixed] == [
            ("a.txt", 7, 7),
            ("empty.txt", 1, 0),
            ("a.txt", 1, 50),
        ]
        alone = files(await ask("read_files", paths=["sub/b.txt"], ranges=ranges[:1]))
        assert [one["path"] for one in alone] == ["sub/b.txt", "a.txt"]

    with_plane(root, body)


@requirement("REPO-13")
def test_lines_of_one_file_by_their_numbers(root: Path) -> None:
    async def body(ask: Ask) -> None:
        asked: list[JsonObject] = [
            {"path": "a.txt", "start_line": 10, "end_line": 12},
            {"paths": ["a.txt"], "startLine": "10", "endLine": "12"},
            {"file_path": "a.txt", "offset": 10, "end": 12},
            {"file": "a.txt", "line_start": 10, "line_end": 12},
            {"file_path": "a.txt", "offset": 10, "limit": 3},
        ]
        for arguments in asked:
            (found,) = files(await ask("read_files", **arguments))
            assert found["content"] == "line 10\nline 11\nline 12\n", arguments
        (rest,) = files(await ask("read_files", path="a.txt", start_line=49))
        assert rest["content"] == "line 49\nline 50\n"
        (first,) = files(await ask("read_files", file_path="a.txt", limit=1))
        assert first["content"] == "line 1\n"

    with_plane(root, body)


@requirement("REPO-13")
def test_line_numbers_that_fit_no_single_file_are_refused(root: Path) -> None:
    async def body(ask: Ask) -> None:
        asked: list[JsonObject] = [
            {"paths": ["a.txt", "sub/b.txt"], "start_line": 1},
            {"paths": ["a.txt:1-5"], "start_line": 2},
            {"paths": "a.txt", "start_line": 5, "end_line": 4},
            {"paths": "a.txt", "start_line": 2, "ranges": [{"path": "a.txt", "start_line": 3}]},
            {"start_line": 2},
            {"paths": "a.txt", "start_line": 2, "end_line": 4, "limit": 3},
            {"paths": ["a.txt", "sub/b.txt"], "limit": 3},
        ]
        for arguments in asked:
            refused = await ask("read_files", **arguments)
            assert get_field(refused, "error", "error") == "INVALID_ARGUMENT" and get_field(refused, "error", "hint"), (
                arguments
            )

    with_plane(root, body)


@requirement("REPO-13")
def test_metadata_names_language_and_git_status(root: Path) -> None:
    (root / "tool.py").write_text("print(1)\n")
    (root / "sub/b.txt").write_text("changed\n")
    (root / ".gitignore").write_text("*.log\n")
    (root / "run.log").write_text("x\n")

    async def body(ask: Ask) -> None:
        paths = ["a.txt", "sub/b.txt", "tool.py", "run.log"]
        found = await ask("read_files", paths=paths, include_metadata=True)
        output = {}
        for one in files(found):
            metadata = one["metadata"]
            assert isinstance(metadata, dict)
            output[one["path"]] = (metadata["language"], metadata["git_status"])
        assert output == {
            "a.txt": (None, "clean"),
            "sub/b.txt": (None, "modified"),
            "tool.py": ("python", "untracked"),
            "run.log": (None, "untracked"),
        }
        assert "python untracked" in str(found["text"])
        assert all(one.get("metadata") is None for one in files(await ask("read_files", paths=paths)))

    with_plane(root, body)

"""An index carried to a fresh clone: taken over where contents agree, refused where it does not belong."""

import io
import json
import sqlite3
import tarfile
from contextlib import closing
from pathlib import Path

import pytest

from codeplane.index import archive as packing
from codeplane.index.archive import FORMAT
from tests.harness import git, make_repo
from tests.interaction.requirements import requirement
from tests.kernel.plane import asking
from tests.query.asking import result
from tests.surfaces.http.wire import get_field

FILES = {
    "a.py": "def alpha():\n    return beta()\n",
    "b.py": "def beta():\n    return 1\n",
    "broken.py": "def (:\n",
    "note.md": "# Note\n",
}


async def exported(root: Path) -> Path:
    async with asking(root) as ask:
        await ask("search", query="alpha", mode="semantic")
        return Path(str(result(await ask("index.export", name="whole.cplindex"))["path"]))


def brought(root: Path, archive: Path) -> str:
    folder = root / ".codeplane" / "exports"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "in.cplindex").write_bytes(archive.read_bytes())
    return "in.cplindex"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_repo(tmp_path / "repo", FILES)


@requirement("IDX-12")
async def test_a_fresh_clone_takes_over_and_adds_what_differs(root: Path, tmp_path: Path) -> None:
    archive = await exported(root)
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", str(root), str(clone))
    (clone / "b.py").write_text("def gamma():\n    return 2\n")
    async with asking(clone) as ask:
        imported = result(await ask("index.import", name=brought(clone, archive)))
        assert imported["files"] == 4
        assert imported["matching"] == 3
        for name, there in (("alpha", True), ("beta", False), ("gamma", True)):
            found = result(await ask("search", query=name, mode="definitions"))
            assert (found["total"] == 1) is there, name


@requirement("IDX-12")
async def test_an_archive_that_does_not_belong_is_refused(root: Path, tmp_path: Path) -> None:
    archive = await exported(root)
    other = make_repo(tmp_path / "other", {"x.py": "y = 1\n"})
    async with asking(other) as ask:
        refused = await ask("index.import", name=brought(other, archive))
        assert get_field(refused, "error", "error") == "ARCHIVE_REFUSED"
        assert "another repository" in str(refused)
        missing = await ask("index.import", name="none.cplindex")
        assert get_field(missing, "error", "error") == "NOT_FOUND"
        outside = await ask("index.import", name="../../etc/passwd")
        assert get_field(outside, "error", "error") == "INVALID_ARGUMENT"


def changed(archive: Path, **values: object) -> bytes:
    """The archive with another manifest."""
    out = io.BytesIO()
    with tarfile.open(archive) as old, tarfile.open(fileobj=out, mode="w") as new:
        for member in old.getmembers():
            raw = old.extractfile(member).read()  # type: ignore[union-attr]
            if member.name == "manifest.json":
                raw = json.dumps(json.loads(raw) | values).encode()
                member.size = len(raw)
            new.addfile(member, io.BytesIO(raw))
    return out.getvalue()


def with_manifest(raw: bytes) -> bytes:
    """An archive that has a manifest alone."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as new:
        member = tarfile.TarInfo("manifest.json")
        member.size = len(raw)
        new.addfile(member, io.BytesIO(raw))
    return out.getvalue()


@requirement("IDX-12")
async def test_facts_that_a_column_computes_are_bounded(root: Path, tmp_path: Path) -> None:
    await exported(root)
    folder = tmp_path / "folder"
    folder.mkdir()
    with closing(sqlite3.connect(folder / "facts.db")) as connection:
        facts = "BLOB GENERATED ALWAYS AS (zeroblob(900000000)) VIRTUAL"
        connection.execute(f"CREATE TABLE parsed(path BLOB, digest BLOB, facts {facts})")
        connection.execute("INSERT INTO parsed(path, digest) VALUES (x'61', x'00')")
        connection.commit()
    packing.write_archive(tmp_path / "forged", folder=folder, commit=None, files=1, model=None)
    async with asking(root) as ask:
        refused = await ask("index.import", name=brought(root, tmp_path / "forged"))
        assert get_field(refused, "error", "error") == "ARCHIVE_REFUSED"


@requirement("IDX-12")
@pytest.mark.parametrize(
    ("what", "output"),
    [
        ("newer", "newer than"),
        ("tables", "parses differently"),
        ("damaged", "checksum"),
        ("cut", "not an index archive"),
        ("text", "not an index archive"),
        ("parts", "unexpected parts"),
        ("deep", "recursion"),
        ("many digits", "newer than"),
    ],
)
async def test_what_is_newer_foreign_or_damaged_is_refused(root: Path, tmp_path: Path, what: str, output: str) -> None:
    archive = await exported(root)
    raw = archive.read_bytes()
    bad = {
        "newer": changed(archive, format=FORMAT + 1),
        "tables": changed(archive, tables=1),
        "damaged": raw[:8000] + bytes([raw[8000] ^ 1]) + raw[8001:],
        "cut": raw[: len(raw) // 3],
        "text": b"not an archive",
        "parts": changed(archive, digests={"../evil": "x"}),
        "deep": with_manifest(b"[" * 60_000),
        "many digits": changed(archive, format=10**1000),
    }[what]
    (tmp_path / "bad").write_bytes(bad)
    async with asking(root) as ask:
        refused = await ask("index.import", name=brought(root, tmp_path / "bad"))
        assert get_field(refused, "error", "error") == "ARCHIVE_REFUSED"
        assert output in str(refused["error"]) and len(str(refused["error"])) < 1000
        assert result(await ask("search", query="alpha", mode="definitions"))["total"] == 1


@requirement("IDX-12")
async def test_facts_that_are_no_facts_are_not_taken(root: Path, tmp_path: Path) -> None:
    archive = await exported(root)
    facts = tmp_path / "facts.db"
    with tarfile.open(archive) as old:
        facts.write_bytes(old.extractfile("facts.db").read())  # type: ignore[union-attr]
    connection = sqlite3.connect(facts)
    connection.execute("UPDATE parsed SET facts = x'00' WHERE path = ?", (b"a.py",))
    connection.commit()
    connection.close()
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", str(root), str(clone))
    async with asking(clone) as ask:
        # Signed again by whoever changed it: what cannot be unpacked is parsed here instead.
        (tmp_path / "folder").mkdir()
        facts.rename(tmp_path / "folder" / "facts.db")
        packing.write_archive(tmp_path / "forged", folder=tmp_path / "folder", commit=None, files=4, model=None)
        await ask("index.import", name=brought(clone, tmp_path / "forged"))
        assert result(await ask("search", query="alpha", mode="definitions"))["total"] == 1

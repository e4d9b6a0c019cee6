"""The file under the log: its schema, and what its failures are called."""

import sqlite3
from pathlib import Path

import pytest

from codeplane.kernel.errors import LedgerCorrupt, SchemaTooNew, StorageFailed, StorageFull, StorageReadOnly
from codeplane.kernel.event_log import EventQuery, PayloadCondition
from codeplane.ledger import database
from codeplane.ledger.database import MIGRATIONS, SCHEMA_VERSION, open_reader, open_writer, translate
from codeplane.ledger.salvage import examine
from tests.interaction.requirements import requirement
from tests.ledger.disks import damage, read_only
from tests.ledger.logs import n, open_log, opened, rows


async def filled(path: Path, count: int = 200) -> None:
    async with opened(path) as log:
        for start in range(0, count, 20):
            await log.append([n(f"s{number % 5}", number, text="x" * 200) for number in range(start, start + 20)])


def schema(path: Path) -> list[tuple[str, str]]:
    connection = sqlite3.connect(path)
    found = connection.execute("SELECT name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite%' ORDER BY name")
    rows = [(name, " ".join(str(sql).split())) for name, sql in found]
    connection.close()
    return rows


def test_a_fresh_file_is_safe_to_lose_power_on(tmp_path: Path) -> None:
    connection = open_writer(tmp_path / "l.db")
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert connection.execute("PRAGMA synchronous").fetchone() == (2,)
    assert connection.execute("PRAGMA user_version").fetchone() == (SCHEMA_VERSION,)
    connection.close()


@requirement("LOG-10")
@pytest.mark.parametrize("version", range(SCHEMA_VERSION))
def test_every_older_schema_becomes_the_present_one(tmp_path: Path, version: int) -> None:
    open_writer(tmp_path / "fresh.db").close()
    old = sqlite3.connect(tmp_path / "old.db")
    for migration in MIGRATIONS[:version]:
        for statement in migration:
            old.execute(statement)
    if version:
        old.execute("INSERT INTO blobs VALUES ('h', 0, 12, 'abc')")
    old.execute(f"PRAGMA user_version={version}")
    old.commit()
    old.close()
    upgraded = open_writer(tmp_path / "old.db")
    assert upgraded.execute("PRAGMA user_version").fetchone() == (SCHEMA_VERSION,)
    # Of what was there before its size was counted.
    assert upgraded.execute("SELECT blob_bytes FROM log_state").fetchone() == (12 if version == 1 else 0,)
    upgraded.close()
    assert schema(tmp_path / "old.db") == schema(tmp_path / "fresh.db")


def test_a_migration_that_fails_leaves_the_old_schema(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "l.db"
    open_writer(path).close()
    before = schema(path)
    broken = (*MIGRATIONS, ("CREATE TABLE extra(a)", "CREATE TABLE extra(a)"))
    monkeypatch.setattr(database, "MIGRATIONS", broken)
    monkeypatch.setattr(database, "SCHEMA_VERSION", len(broken))
    with pytest.raises(StorageFailed):
        open_writer(path)
    monkeypatch.undo()
    assert schema(path) == before
    open_writer(path).close()


@requirement("LOG-10")
@pytest.mark.parametrize("journal", ["wal", "delete"])
async def test_a_newer_schema_is_left_alone_to_the_byte(tmp_path: Path, journal: str) -> None:
    path = tmp_path / "l.db"
    await filled(path)
    newer = sqlite3.connect(path)
    newer.execute(f"PRAGMA journal_mode={journal}")
    newer.execute(f"PRAGMA user_version={SCHEMA_VERSION + 1}")
    newer.commit()
    newer.close()
    if journal == "wal":
        # As a newer CodePlane leaves it when it is killed: the last words are in the WAL alone.
        wal = sqlite3.connect(path)
        wal.execute("PRAGMA wal_autocheckpoint=0")
        wal.execute("UPDATE log_state SET last_position = last_position")
        wal.commit()
        data = path.read_bytes(), Path(f"{path}-wal").read_bytes()
        wal.close()
        path.write_bytes(data[0])
        Path(f"{path}-wal").write_bytes(data[1])
    before = {name: (tmp_path / name).read_bytes() for name in ("l.db", "l.db-wal") if (tmp_path / name).exists()}
    for _ in range(2):
        with pytest.raises(SchemaTooNew) as caught:
            open_log(path)
        assert caught.value.details == {"found": SCHEMA_VERSION + 1, "known": SCHEMA_VERSION}
    assert {name: (tmp_path / name).read_bytes() for name in before} == before


async def test_a_folder_that_cannot_be_written_is_said_to_be_so(tmp_path: Path) -> None:
    folder = tmp_path / "home"
    folder.mkdir()
    with read_only(folder), pytest.raises(StorageReadOnly):
        open_log(folder / "l.db")
    await filled(folder / "l.db")
    with read_only(folder), pytest.raises(StorageReadOnly):
        open_log(folder / "l.db")
    open_log(folder / "l.db").close()


def test_a_path_that_is_a_folder_or_in_no_folder(tmp_path: Path) -> None:
    (tmp_path / "l.db").mkdir()
    for path in (tmp_path / "l.db", tmp_path / "nowhere" / "l.db"):
        with pytest.raises(StorageReadOnly):
            open_log(path)


@pytest.mark.parametrize(
    "content", [b"this is not a database, and never was one" * 100, b"SQLite format 3\0" + b"x" * 5000]
)
def test_what_is_no_database_is_corrupt(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "l.db"
    path.write_bytes(content)
    for look in (open_log, examine):
        with pytest.raises(LedgerCorrupt) as caught:
            look(path)
        assert "cpl doctor --salvage" in caught.value.hint
    assert path.read_bytes() == content


def test_an_empty_file_is_a_new_ledger(tmp_path: Path) -> None:
    (tmp_path / "l.db").touch()
    open_log(tmp_path / "l.db").close()
    assert examine(tmp_path / "l.db") == "sound, at position 0"


@pytest.mark.parametrize("part", [0.3, 0.6, 0.9])
async def test_a_truncated_file_is_corrupt(tmp_path: Path, part: float) -> None:
    path = tmp_path / "l.db"
    await filled(path, 1000)
    with path.open("r+b") as file:
        file.truncate(int(path.stat().st_size * part))
    with pytest.raises(LedgerCorrupt):
        examine(path)

    with pytest.raises(LedgerCorrupt):
        # Found at the start or, at the latest, by whoever reads what is not there.
        async with opened(path) as log:
            for stream in range(5):
                await log.read(stream=f"s{stream}", limit=10_000)


async def test_a_damaged_page_is_corrupt_for_readers_and_writers(tmp_path: Path) -> None:
    path = tmp_path / "l.db"
    await filled(path, 1000)
    damage(path, "events")

    with pytest.raises(LedgerCorrupt):
        async with opened(path) as log:
            await log.select("SELECT count(payload) FROM events")
    with pytest.raises(LedgerCorrupt):
        examine(path)


async def test_damage_where_a_table_has_to_be_rebuilt_is_found_at_the_start(tmp_path: Path) -> None:
    path = tmp_path / "l.db"
    await filled(path, 1000)
    connection = sqlite3.connect(path)
    connection.execute("DROP TABLE counts")
    connection.commit()
    connection.close()
    damage(path, "events")
    with pytest.raises(LedgerCorrupt):
        open_log(path)


async def test_damage_that_sqlite_cannot_see_is_corrupt_too(tmp_path: Path) -> None:
    path = tmp_path / "l.db"
    await filled(path, 20)
    connection = sqlite3.connect(path)
    connection.execute("UPDATE events SET payload = '{' WHERE position = 7")
    connection.execute("UPDATE events SET source = 'NOBODY' WHERE position = 8")
    connection.commit()
    connection.close()
    async with opened(path) as log:
        for stream in ("s1", "s2"):
            with pytest.raises(LedgerCorrupt):
                await log.read(stream=stream)
        with pytest.raises(LedgerCorrupt):
            await log.query(EventQuery(conditions=(PayloadCondition(field="status", value="ok"),)))
        assert len(await log.read(stream="s3")) == 4
        assert len(await rows(log)) == 5


async def test_a_reader_cannot_write(tmp_path: Path) -> None:
    await filled(tmp_path / "l.db", 20)
    connection = open_reader(tmp_path / "l.db")
    with pytest.raises(sqlite3.OperationalError):
        connection.execute("DELETE FROM events")
    connection.close()
    with pytest.raises(StorageReadOnly):
        open_reader(tmp_path / "nothing.db")


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (sqlite3.SQLITE_FULL, StorageFull),
        (sqlite3.SQLITE_READONLY, StorageReadOnly),
        (sqlite3.SQLITE_READONLY_DBMOVED, StorageReadOnly),
        (sqlite3.SQLITE_CANTOPEN, StorageReadOnly),
        (sqlite3.SQLITE_CORRUPT, LedgerCorrupt),
        (sqlite3.SQLITE_NOTADB, LedgerCorrupt),
        (sqlite3.SQLITE_IOERR, StorageFailed),
        (sqlite3.SQLITE_BUSY, StorageFailed),
    ],
)
def test_what_sqlite_says_in_our_words(code: int, kind: type[Exception]) -> None:
    error = sqlite3.OperationalError("said by SQLite")
    error.sqlite_errorcode = code
    assert type(translate(error, Path("l.db"))) is kind

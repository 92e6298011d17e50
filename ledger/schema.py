"""The ledger's file: its table, the triggers that keep it append-only, and what a connection may do."""

import sqlite3
from pathlib import Path
from typing import Final
from urllib.parse import quote

from .errors import LedgerMissing, LedgerTooNew, NotALedger

APPLICATION_ID: Final = 0x53324C45  # "S2LE", marks the file as a ledger of this software
SCHEMA_VERSION: Final = 1

# The columns beside `raw` are there to filter by; `check` recomputes every one of them from `raw`.
SCHEMA: Final[dict[str, str]] = {
    "events": """
CREATE TABLE events (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  type TEXT NOT NULL,
  version INTEGER NOT NULL,
  actor TEXT NOT NULL,
  subject TEXT NOT NULL,
  visibility TEXT NOT NULL CHECK (visibility IN ('public', 'privileged')),
  leaf BLOB NOT NULL CHECK (length(leaf) = 32),
  raw BLOB NOT NULL
) STRICT""",
    "events_in_order": """
CREATE TRIGGER events_in_order BEFORE INSERT ON events
WHEN NEW.seq IS NOT (SELECT coalesce(max(seq), 0) + 1 FROM events)
BEGIN SELECT RAISE(ABORT, 'the next event must take the next sequence number'); END""",
    # INSERT OR REPLACE walks past events_no_delete on a connection without recursive triggers.
    "events_once": """
CREATE TRIGGER events_once BEFORE INSERT ON events
WHEN EXISTS (SELECT 1 FROM events WHERE id = NEW.id)
BEGIN SELECT RAISE(ABORT, 'an event is committed once'); END""",
    "events_no_update": """
CREATE TRIGGER events_no_update BEFORE UPDATE ON events
BEGIN SELECT RAISE(ABORT, 'events are never changed'); END""",
    "events_no_delete": """
CREATE TRIGGER events_no_delete BEFORE DELETE ON events
BEGIN SELECT RAISE(ABORT, 'events are never removed'); END""",
}

_WRITER_MAY: Final = {
    sqlite3.SQLITE_READ,
    sqlite3.SQLITE_SELECT,
    sqlite3.SQLITE_FUNCTION,
    sqlite3.SQLITE_TRANSACTION,
    sqlite3.SQLITE_RECURSIVE,
}


def authorize_writer(
    action: int, first: str | None, _second: str | None, _db: str | None, _by: str | None
) -> int:
    """Authorizer of the service's own connection: it may read, and insert events; nothing else."""
    if action in _WRITER_MAY or (action == sqlite3.SQLITE_INSERT and first == "events"):
        return sqlite3.SQLITE_OK
    return sqlite3.SQLITE_DENY


def primary_code(error: Exception) -> int:
    """SQLite's result code without its details; SQLITE_ERROR where Python's module failed by itself."""
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF


def check_header(connection: sqlite3.Connection, path: Path) -> bool:
    """True for a ledger that can be read, False for an empty file; raises NotALedger or LedgerTooNew."""
    try:
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:  # damage can spoil SQLite's own messages
        if primary_code(error) in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_ERROR):
            raise NotALedger(
                f"{path} is not a ledger, or damaged ({error}); name a run's ledger.db, or restore a copy."
            ) from error
        raise
    if application == 0 and version == 0 and tables == 0:
        return False
    if application != APPLICATION_ID:
        raise NotALedger(f"{path} is an SQLite file but not a ledger; name a run's ledger.db.")
    if version > SCHEMA_VERSION:
        raise LedgerTooNew(
            f"{path} has ledger format {version}, this software reads up to {SCHEMA_VERSION}; "
            "install the version of skill2real that wrote it, or a later one."
        )
    return True


def prepare(path: Path) -> None:
    """Create the ledger at `path`, or make sure that what is there can be written by this software."""
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        if check_header(connection, path):
            return
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("BEGIN IMMEDIATE")
        for statement in SCHEMA.values():
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        connection.execute("COMMIT")
    finally:
        connection.close()


def read_only_uri(path: Path) -> str:
    """URI for a connection that cannot write."""
    return f"file:{quote(str(path.resolve()))}?mode=ro"


def open_read_only(path: Path) -> sqlite3.Connection:
    """A connection that cannot write, to a ledger that may be growing meanwhile."""
    if not path.is_file():
        raise LedgerMissing(f"There is no ledger at {path}; name a run that has one.")
    uri = read_only_uri(path)
    connection = sqlite3.connect(uri, uri=True, isolation_level=None)
    try:
        try:
            found = check_header(connection, path)
        except sqlite3.OperationalError as error:
            # On a read-only medium SQLite cannot make the WAL's index; without a WAL the file is complete.
            wal = path.with_name(path.name + "-wal")
            pending = wal.exists() and wal.stat().st_size > 0
            if pending or primary_code(error) not in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY):
                raise
            connection.close()
            connection = sqlite3.connect(uri + "&immutable=1", uri=True, isolation_level=None)
            found = check_header(connection, path)
    except sqlite3.OperationalError as error:
        connection.close()
        raise LedgerMissing(
            f"The ledger at {path} cannot be opened ({error}); check its permissions."
        ) from error
    except BaseException:
        connection.close()
        raise
    if not found:
        connection.close()
        raise NotALedger(f"{path} is empty; name a run that has events.")
    return connection

"""Blobs: named by their content, whole or absent, checked when read."""

from hashlib import sha256

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skill2real.ledger.blobs import Blobs
from skill2real.ledger.errors import BadName, BlobDamaged, BlobMissing, DiskFull


@settings(max_examples=40, deadline=None)
@given(data=st.binary(max_size=5000))
def test_what_is_put_is_got(tmp_path_factory, data):
    blobs = Blobs(tmp_path_factory.getbasetemp() / "shared-blobs")
    name = blobs.put(data)
    assert name == sha256(data).hexdigest()
    assert name in blobs
    assert blobs.get(name) == data
    assert blobs.path(name) == blobs.folder / name[:2] / name[2:]


def test_known_bytes_are_not_written_again(tmp_path):
    blobs = Blobs(tmp_path / "blobs")
    name = blobs.put(b"once")
    before = blobs.path(name).stat()
    assert blobs.put(b"once") == name
    assert blobs.path(name).stat().st_ino == before.st_ino
    assert [p.name for p in (tmp_path / "blobs").rglob("*") if p.is_file()] == [name[2:]]


def test_missing_and_damaged(tmp_path):
    blobs = Blobs(tmp_path)
    name = blobs.put(b"data")
    absent = sha256(b"absent").hexdigest()
    assert absent not in blobs
    with pytest.raises(BlobMissing, match=absent):
        blobs.get(absent)
    blobs.path(name).write_bytes(b"date")
    with pytest.raises(BlobDamaged, match="restore"):
        blobs.get(name)


@pytest.mark.parametrize(
    "name", ["", "..", "../../etc/passwd", "A" * 64, "a" * 63, "a" * 65, "a" * 64 + "\n", "/" * 64]
)
def test_names_that_lead_elsewhere(tmp_path, name):
    blobs = Blobs(tmp_path)
    for use in (blobs.get, blobs.path, blobs.__contains__):
        with pytest.raises(BadName):
            use(name)


def test_a_failed_write_leaves_nothing(tmp_path, monkeypatch):
    blobs = Blobs(tmp_path / "blobs")

    def full(_handle: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("skill2real.ledger.blobs.os.fsync", full)
        with pytest.raises(DiskFull, match="free some space"):
            blobs.put(b"data")
    assert [p for p in (tmp_path / "blobs").rglob("*") if p.is_file()] == []
    assert blobs.get(blobs.put(b"data")) == b"data"

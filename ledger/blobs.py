"""Content-addressed blobs beside a ledger: images, depth, trajectories, prompts and responses."""

import contextlib
import errno
import os
import re
import secrets
from hashlib import sha256
from pathlib import Path

from .errors import BadName, BlobDamaged, BlobMissing, DiskFull

_NAME = re.compile(r"[0-9a-f]{64}")


class Blobs:
    """Blobs under `folder`, each in a file named by the SHA-256 of its bytes: `ab/cdef…`."""

    def __init__(self, folder: Path) -> None:
        self.folder = Path(folder)

    def path(self, name: str) -> Path:
        """Where the blob lies, if it exists. Raises BadName for anything but 64 lower-case hex digits."""
        if not _NAME.fullmatch(name):
            raise BadName(f"{name[:80]!r} is not a blob name; a name is 64 lower-case hexadecimal digits.")
        return self.folder / name[:2] / name[2:]

    def put(self, data: bytes) -> str:
        """Keep the bytes, durably, and return their name. Known bytes are not written again.

        Raises DiskFull; nothing is left of the blob then.
        """
        name = sha256(data).hexdigest()
        path = self.path(name)
        if path.exists():
            return name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            _write(path, data)
            for folder in (path.parent, self.folder):
                _flush_folder(folder)
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
                raise DiskFull(
                    f"No room for a blob in {self.folder} ({error.strerror}); free some space on its disk."
                ) from error
            raise
        return name

    def get(self, name: str) -> bytes:
        """The bytes of a blob, checked against its name. Raises BlobMissing or BlobDamaged."""
        path = self.path(name)
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            raise BlobMissing(
                f"Blob {name} is not in {self.folder}; copy the run's blobs folder with its ledger."
            ) from None
        if sha256(data).hexdigest() != name:
            raise BlobDamaged(f"The bytes of {path} do not match its name; restore it from a copy.")
        return data

    def __contains__(self, name: str) -> bool:
        return self.path(name).is_file()


def _write(path: Path, data: bytes) -> None:
    """Write the whole file or none of it: aside, flushed, then renamed."""
    aside = path.with_name(f".{secrets.token_hex(8)}")
    try:
        with open(aside, "xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(aside, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(aside)
        raise


def _flush_folder(folder: Path) -> None:
    """Make a rename in the folder survive a loss of power."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)

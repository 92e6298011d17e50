"""Packages of the Real-Time Data Exchange protocol, version 2, as bytes.

A package is big-endian: u16 size (these three bytes included), u8 type, then its content. Described by
Universal Robots, "Real-Time Data Exchange (RTDE) Guide".
"""

import struct
from collections.abc import Iterator
from enum import IntEnum

_HEADER = struct.Struct(">HB")
LARGEST = 0xFFFF


class Kind(IntEnum):
    """The type byte."""

    PROTOCOL_VERSION = ord("V")
    CONTROLLER_VERSION = ord("v")
    TEXT_MESSAGE = ord("M")
    DATA = ord("U")
    OUTPUTS = ord("O")
    INPUTS = ord("I")
    START = ord("S")
    PAUSE = ord("P")


# RTDE's name of a type → its code for `struct`
CODES = {
    "BOOL": "?",
    "UINT8": "B",
    "UINT32": "I",
    "UINT64": "Q",
    "INT32": "i",
    "DOUBLE": "d",
    "VECTOR3D": "3d",
    "VECTOR6D": "6d",
    "VECTOR6INT32": "6i",
    "VECTOR6UINT32": "6I",
}


class BadPackage(ValueError):
    """Bytes that are no package: the stream cannot be read any further."""


def package(kind: Kind, content: bytes) -> bytes:
    """One package, ready to be sent."""
    return _HEADER.pack(_HEADER.size + len(content), kind) + content


class Reader:
    """Cuts a stream of bytes into packages."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> Iterator[tuple[int, bytes]]:
        """Type and content of each package that is complete now. Raises BadPackage."""
        self._rest += data
        while len(self._rest) >= _HEADER.size:
            size, kind = _HEADER.unpack_from(self._rest)
            if size < _HEADER.size:
                raise BadPackage(f"an RTDE package cannot have {size} bytes; the least is {_HEADER.size}")
            if len(self._rest) < size:
                return
            content, self._rest = self._rest[_HEADER.size : size], self._rest[size:]
            yield kind, content

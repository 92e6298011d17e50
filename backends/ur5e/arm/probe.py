"""A reading of the controller's state over RTDE without the library: it cannot block, and it claims nothing
for long.

Protocol: Universal Robots, "Real-Time Data Exchange (RTDE) Guide", version 2.
"""

import contextlib
import socket
import struct
from collections.abc import Iterator
from dataclasses import dataclass

from ..errors import RobotMissing

PORT = 30004
_TIMEOUT = 1.0  # s
_PACKAGES = 100  # of other kinds that are passed over
_HEADER = struct.Struct(">HB")
_VERSION, _OUTPUTS, _INPUTS, _START, _DATA = b"VOISU"
_FREQUENCY = 125.0
_FIELDS = "timestamp,actual_q,actual_qd,safety_status_bits,robot_mode,runtime_state,target_speed_fraction"
_LAYOUT = struct.Struct(">13dIiId")
_WANTED = [f"input_int_register_{k}" for k in range(8)] + [f"input_double_register_{k}" for k in range(18)]


class Silent(TimeoutError):
    """It accepted the connection, and nothing comes."""


@dataclass(frozen=True)
class Reading:
    """time: the controller's clock, s. joints, speeds: rad, rad/s."""

    time: float
    joints: tuple[float, ...]
    speeds: tuple[float, ...]
    safety: int
    mode: int
    runtime: int
    slider: float


def read(address: str, count: int = 1) -> list[Reading]:
    """Some readings in a row. Raises RobotMissing without a route, an answer, or data."""
    with _connected(address) as connection:
        kinds = _exchange(connection, _OUTPUTS, struct.pack(">d", _FREQUENCY) + _FIELDS.encode())[1:]
        if b"NOT_FOUND" in kinds:
            raise RobotMissing(
                f"The controller at {address} lacks some of {_FIELDS}; update its PolyScope to 5.10 or later."
            )
        _exchange(connection, _START, b"")
        readings: list[Reading] = []
        while len(readings) < count:
            values = _LAYOUT.unpack(_receive(connection, _DATA)[1:])
            readings.append(Reading(values[0], values[1:7], values[7:13], *values[13:]))
        return readings


def registers_free(address: str) -> bool:
    """Whether nobody else sets the input registers that the control script uses. Raises RobotMissing."""
    with _connected(address) as connection:
        return b"IN_USE" not in _exchange(connection, _INPUTS, ",".join(_WANTED).encode())


@contextlib.contextmanager
def _connected(address: str) -> Iterator[socket.socket]:
    try:
        with socket.create_connection((address, PORT), _TIMEOUT) as connection:
            connection.settimeout(_TIMEOUT)
            if _exchange(connection, _VERSION, struct.pack(">H", 2)) != b"\x01":
                raise RobotMissing(
                    f"The controller at {address} does not speak RTDE 2; update its PolyScope."
                )
            yield connection
    except (OSError, struct.error) as error:
        raise RobotMissing(
            f"The controller at {address}:{PORT} gives no data ({error}); "
            "check its cable and address, and that it is on."
        ) from error


def _exchange(connection: socket.socket, kind: int, content: bytes) -> bytes:
    connection.sendall(_HEADER.pack(_HEADER.size + len(content), kind) + content)
    return _receive(connection, kind)


def _receive(connection: socket.socket, wanted: int) -> bytes:
    """The content of the next package of a kind."""
    for _ in range(_PACKAGES):
        size, kind = _HEADER.unpack(_exactly(connection, _HEADER.size))
        content = _exactly(connection, size - _HEADER.size)
        if kind == wanted:
            return content
    raise ConnectionError("it sent other packages than what was asked for")


def _exactly(connection: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        try:
            part = connection.recv(count - len(data))
        except TimeoutError as error:
            raise Silent("it accepted the connection and stays silent") from error
        if not part:
            raise ConnectionResetError("it closed the connection")
        data += part
    return data

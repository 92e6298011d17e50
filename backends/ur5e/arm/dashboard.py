"""Asks the controller's Dashboard, on a connection of its own: it works when the other one does not."""

import socket

from ..errors import RobotMissing

PORT = 29999
_TIMEOUT = 1.0  # s


def ask(address: str, *lines: str, timeout: float = _TIMEOUT) -> list[str]:
    """The answers to some lines, in order. Raises RobotMissing if the Dashboard is not there or stays
    silent."""
    try:
        with (
            socket.create_connection((address, PORT), timeout) as connection,
            connection.makefile("rb") as answers,
        ):
            connection.settimeout(timeout)
            _line(answers.readline())  # the banner
            replies = []
            for line in lines:
                connection.sendall(line.encode() + b"\n")
                replies.append(_line(answers.readline()))
    except OSError as error:
        raise RobotMissing(
            f"The controller's Dashboard at {address}:{PORT} does not answer ({error}); "
            "see `skill2real robot check`."
        ) from error
    return replies


def _line(data: bytes) -> str:
    if not data:
        raise ConnectionResetError("it closed the connection")
    return data.decode("utf-8", "replace").strip()

"""Real brokers for tests and benchmarks: the embedded one, and Mosquitto from what broker-acl prints."""

import asyncio
import os
import shutil
import socket
import subprocess
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from skill2real.ledger.acl import mosquitto_config
from skill2real.ledger.broker import EmbeddedBroker
from skill2real.ledger.credentials import parse_url

MOSQUITTO = shutil.which("mosquitto", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
KINDS = ["embedded", "mosquitto"]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for_port(port: int, seconds: float = 10.0) -> None:
    end = time.monotonic() + seconds
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.02)


@contextmanager
def mosquitto(folder: Path, passwords: dict[str, str], port: int | None = None) -> Iterator[tuple[str, int]]:
    """A running Mosquitto: its URL and process id."""
    assert MOSQUITTO, "Mosquitto is not installed: apt-get install mosquitto"
    port = port or free_port()
    folder.mkdir(parents=True, exist_ok=True)
    access, secret = folder / "skill2real.acl", folder / "skill2real.passwd"
    config = mosquitto_config(str(access), str(secret), port=port)
    access.write_text(config.access)
    secret.write_text("".join(f"{user}:{password}\n" for user, password in passwords.items()))
    subprocess.run(["mosquitto_passwd", "-U", secret], check=True, capture_output=True)  # hashes them
    settings = folder / "mosquitto.conf"
    # This line alone is not from there: started by root, Mosquitto gives up the rights to read these files.
    settings.write_text(config.settings + ("user root\n" if os.geteuid() == 0 else ""))
    process = subprocess.Popen([MOSQUITTO, "-c", str(settings)], stderr=(folder / "log").open("ab"))
    try:
        wait_for_port(port)
        yield f"mqtt://127.0.0.1:{port}", process.pid
    finally:
        process.kill()
        process.wait()


@asynccontextmanager
async def running(kind: str, folder: Path, passwords: dict[str, str]) -> AsyncIterator[str]:
    """The URL of a broker of this kind."""
    if kind == "embedded":
        async with EmbeddedBroker(passwords) as broker:
            yield broker.address.url
        return
    manager = mosquitto(folder / "mosquitto", passwords)
    url, _ = await asyncio.to_thread(manager.__enter__)
    try:
        yield url
    finally:
        await asyncio.to_thread(manager.__exit__, None, None, None)


def port_of(url: str) -> int:
    return parse_url(url).port

"""Real brokers for tests and benchmarks: the embedded one, and Mosquitto from what broker-acl prints."""

import asyncio
import os
import secrets
import shutil
import socket
import subprocess
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import aiomqtt
import msgspec

from skill2real.ledger import events
from skill2real.ledger.acl import mosquitto_config
from skill2real.ledger.broker import EmbeddedBroker
from skill2real.ledger.bus import Bus
from skill2real.ledger.credentials import parse_url, random_passwords
from skill2real.ledger.events import Actor, Event, MessageRefused
from skill2real.ledger.note import SigningKey
from skill2real.ledger.reader import Reader
from skill2real.ledger.service import Service, ledger_path

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
def mosquitto(
    folder: Path, passwords: dict[str, str], port: int | None = None, more: str = ""
) -> Iterator[tuple[str, int]]:
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
    settings.write_text(config.settings + ("user root\n" if os.geteuid() == 0 else "") + more)
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


class Lab(NamedTuple):
    """A broker and a ledger service that run."""

    url: str
    passwords: dict[str, str]
    home: Path
    service: Service

    def connect(self, actor: Actor, run: str = "lab", *, privileged: bool = False) -> Any:
        return Bus.connect(self.url, run, actor, self.passwords[actor], privileged=privileged)

    def client(self, user: str, name: str = "", **more: Any) -> aiomqtt.Client:
        """A raw client, which does what it likes."""
        address = parse_url(self.url)
        more.setdefault("password", self.passwords.get(user))
        more.setdefault("timeout", 1.5)
        return aiomqtt.Client(
            address.host,
            address.port,
            username=user,
            identifier=name or f"{user}-{secrets.token_hex(4)}",
            **more,
        )

    def stored(self, run: str = "lab") -> list[tuple[int, Event]]:
        with Reader(ledger_path(self.home, run)) as reader:
            return [(seq, events.decode(raw)) for seq, raw in reader.events()]

    def refusals(self, run: str = "lab") -> list[MessageRefused]:
        return [events.payload(event) for _, event in self.stored(run) if event.type == "message.refused"]


@asynccontextmanager
async def lab(
    kind: str, folder: Path, *, key: SigningKey | None = None, begin: bool = True
) -> AsyncIterator[Lab]:
    """A service on a broker of this kind, with a run "lab" that has begun."""
    passwords = random_passwords()
    async with running(kind, folder, passwords) as url:
        service = Service(folder / "runs", url, passwords["ledger"], key)
        task = asyncio.create_task(service.run())
        try:
            await service.ready()
            here = Lab(url, passwords, folder / "runs", service)
            if begin:
                async with here.connect("trainer") as bus:
                    await bus.publish(opening())
            yield here
        finally:
            service.stop()
            await task


def opening(run: str = "lab") -> Event:
    data = events.RunStarted(config={}, seeds={}, packages={}, api_hash="")
    return events.make(run, "run.started", "trainer", data)


def public(run: str = "lab", number: int = 1, pad: str = "") -> Event:
    """An event that everyone hears."""
    data = events.RoundStarted(layer="brain", round=number, name=f"B1{pad}")
    return events.make(run, "round.started", "trainer", data)


def secret(run: str = "lab", number: float = 1.0) -> Event:
    """Ground truth, from the runner."""
    data = events.OutcomeMeasured(success=True, settled=True, progress=number, truth={"pose": [1, 2, 3]})
    return events.make(run, "outcome.measured", "runner", data)


def verdict(actor: Actor, run: str = "lab") -> Event:
    """A verdict by whoever says so: only the Governor may."""
    data = events.VerdictGiven(verdict="accepted", reason="I say so")
    event = events.make(run, "verdict.given", "governor", data)
    return msgspec.structs.replace(event, actor=actor)

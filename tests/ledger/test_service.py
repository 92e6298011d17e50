"""The ledger service: signatures, floods, a full disk, and running it as a program."""

import asyncio
import json
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from brokers import free_port, lab, opening, public, verdict

from skill2real.ledger import events
from skill2real.ledger.broker import EmbeddedBroker
from skill2real.ledger.bus import Bus, Refused
from skill2real.ledger.bus_errors import NoPassword, ServiceFailed, ServiceRunning
from skill2real.ledger.checkpoint import checkpoints, open_note
from skill2real.ledger.credentials import (
    PASSWORD,
    SECRET,
    derive,
    password_from_environment,
    random_passwords,
)
from skill2real.ledger.floods import SINGLE
from skill2real.ledger.local import URL, local_bus
from skill2real.ledger.note import SigningKey
from skill2real.ledger.reader import Reader
from skill2real.ledger.serve import hosted
from skill2real.ledger.service import Service, ledger_path


def frozen(name: str = "C1") -> events.Event:
    data = events.LayerFrozen(name=name, layer="cerebellum", memory_hash="0" * 64, api_hash="1" * 64)
    return events.make("lab", "layer.frozen", "trainer", data, subject=name)


def test_a_frozen_layer_is_signed_over_the_tree_that_ends_with_it(tmp_path: Path) -> None:
    key = SigningKey.new("tests")

    async def main() -> None:
        async with lab("embedded", tmp_path, key=key) as here, here.connect("trainer") as trainer:
            following = trainer.follow()
            _, seq, _ = await trainer.publish(public(), frozen(), public())
            async with asyncio.timeout(10):
                async for committed in following:
                    if events.decode(committed.raw).type == "checkpoint.signed":
                        break
            await following.aclose()
            with Reader(ledger_path(here.home, "lab")) as reader:
                (point,) = checkpoints(reader)
                assert point.signed is not None
                assert (point.seq, point.signed.tree_size) == (seq, seq)
                signed = open_note(point.signed.note, key.verifier)
                assert (signed.size, signed.root) == (seq, reader.tree(seq).root(seq))

    asyncio.run(main())


def test_without_a_key_the_ledger_says_so_and_a_later_service_signs(tmp_path: Path) -> None:
    key = SigningKey.new("tests")

    async def main() -> None:
        async with lab("embedded", tmp_path) as here, here.connect("trainer") as trainer:
            await trainer.publish(frozen(), public())
        (said,) = here.refusals()
        assert said.code == "unsigned"
        assert "skill2real key new" in said.reason
        async with (
            lab("embedded", tmp_path, key=key, begin=False) as here,
            here.connect("trainer") as trainer,
        ):
            await trainer.publish(public())
            with Reader(ledger_path(here.home, "lab")) as reader:
                (point,) = checkpoints(reader)
        assert point.signed is not None
        assert open_note(point.signed.note, key.verifier).size == point.seq

    asyncio.run(main())


def test_a_flood_of_refusals_is_summarised(tmp_path: Path) -> None:
    async def main() -> None:
        async with (
            lab("embedded", tmp_path) as here,
            here.connect("proposer") as proposer,
            here.connect("trainer") as trainer,
        ):
            saying = [proposer.publish(verdict("proposer")) for _ in range(SINGLE + 30)]
            outcomes = await asyncio.gather(*saying, return_exceptions=True)
            assert all(isinstance(outcome, Refused) for outcome in outcomes)  # each one is told
            assert await trainer.publish(public())
        said = here.refusals()
        assert [one.code for one in said] == ["actor"] * SINGLE + ["flood"]
        assert sum(one.count for one in said) == SINGLE + 30

    asyncio.run(main())


def test_runs_do_not_mix(tmp_path: Path) -> None:
    async def main() -> None:
        async with lab("embedded", tmp_path) as here:
            async with here.connect("trainer", "one") as one, here.connect("trainer", "two") as two:
                await asyncio.gather(one.publish(opening("one")), two.publish(opening("two")))
                await asyncio.gather(
                    *[one.publish(public("one")) for _ in range(20)], two.publish(public("two"))
                )
                with pytest.raises(Refused, match="its topic of 'two'"):
                    await two.publish(public("one"))
            assert {event.run for _, event in here.stored("one")} == {"one"}
            assert [event.type for _, event in here.stored("two")] == [
                "run.started",
                "round.started",
                "message.refused",
            ]

    asyncio.run(main())


def test_a_full_disk_stops_acknowledgements_and_nothing_else(tmp_path: Path) -> None:
    """The limit on file sizes of the service's process stands for the disk."""

    async def main() -> None:
        async with local_bus(tmp_path) as local, local.connect("lab", "trainer") as trainer:
            assert local.keeper is not None
            await trainer.publish(opening())
            child = local.keeper.pid
            full = ledger_path(tmp_path, "lab").with_name("ledger.db-wal").stat().st_size + 20_000
            resource.prlimit(child, resource.RLIMIT_FSIZE, (full, resource.RLIM_INFINITY))
            said = [public(pad="x" * 1000) for _ in range(200)]
            waiting = asyncio.create_task(trainer.publish(*said))
            await asyncio.sleep(1.5)
            assert not waiting.done()
            # It still answers who asks.
            assert [seq async for seq, _ in trainer.follow(live=False)] == [1]
            resource.prlimit(child, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
            assert await asyncio.wait_for(waiting, 20) == list(range(2, 202))
            assert local.keeper.pid == child

    asyncio.run(main())


def test_a_local_bus_that_cannot_start_says_why(tmp_path: Path) -> None:
    async def main() -> None:
        with pytest.raises(ServiceFailed, match="No broker answers"):
            async with local_bus(tmp_path, broker=f"mqtt://127.0.0.1:{free_port()}"):
                pass

    asyncio.run(main())


def test_a_local_bus_runs_in_this_loop_too(tmp_path: Path) -> None:
    async def main() -> None:
        async with local_bus(tmp_path, process=False) as local, local.connect("lab", "trainer") as trainer:
            assert await trainer.publish(opening(), public()) == [1, 2]

    asyncio.run(main())


ACTOR = """
import asyncio, os, sys
from skill2real.ledger.bus import Bus
from skill2real.ledger.credentials import password_from_environment

async def main():
    password = password_from_environment("verifier")
    async with Bus.connect(sys.argv[1], "lab", "verifier", password, privileged=True) as bus:
        print([seq async for seq, _ in bus.follow(live=False)])

asyncio.run(main())
"""


def test_an_actor_in_another_process_needs_no_file(tmp_path: Path) -> None:
    async def main() -> None:
        async with local_bus(tmp_path) as local, local.connect("lab", "trainer") as trainer:
            await trainer.publish(opening(), public())
            extra = local.environment("verifier")
            assert local.passwords["trainer"] not in extra.values()
            child = await asyncio.create_subprocess_exec(
                sys.executable, "-c", ACTOR, extra[URL], env={**os.environ, **extra},
                stdout=asyncio.subprocess.PIPE,
            )  # fmt: skip
            printed, _ = await child.communicate()
            assert json.loads(printed) == [1, 2]

    asyncio.run(main())


SERVE = """
import asyncio, sys
from pathlib import Path
from skill2real.ledger.serve import serve

asyncio.run(serve(Path(sys.argv[1]), port=int(sys.argv[2]), started=lambda url: print(url, flush=True)))
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_serve_as_a_program(tmp_path: Path, number: signal.Signals) -> None:
    port, secret = free_port(), "a long random text"
    process = subprocess.Popen(
        [sys.executable, "-c", SERVE, str(tmp_path), str(port)],
        env={**os.environ, SECRET: secret},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    url = process.stdout.readline().strip()
    assert url == f"mqtt://127.0.0.1:{port}"

    async def main() -> None:
        async with Bus.connect(url, "lab", "trainer", derive(secret, "trainer")) as trainer:
            assert await trainer.publish(opening(), public()) == [1, 2]

    asyncio.run(main())
    process.send_signal(number)
    assert process.wait(10) == 0
    with Reader(ledger_path(tmp_path, "lab")) as reader:
        assert reader.head == 2


def test_one_service_a_broker(tmp_path: Path) -> None:
    async def main() -> None:
        passwords = random_passwords()
        async with (
            EmbeddedBroker(passwords) as broker,
            hosted(tmp_path, passwords, broker=broker.address.url) as (url, _),
            Bus.connect(url, "lab", "trainer", passwords["trainer"]) as trainer,
        ):
            assert await trainer.publish(opening()) == [1]
            # A second one would commit the same events elsewhere, and acknowledge them.
            with pytest.raises(ServiceRunning, match="stop it first"):
                async with hosted(tmp_path / "other", passwords, broker=url):
                    pass
            assert await trainer.publish(public()) == [2]
            # Of two that begin at the same time, one does.
        async with EmbeddedBroker(passwords) as broker:
            both = [Service(tmp_path / name, broker.address.url, passwords["ledger"]) for name in "ab"]
            running = [asyncio.create_task(service.run()) for service in both]
            outcomes = await asyncio.gather(*(service.ready() for service in both), return_exceptions=True)
            assert {type(outcome) for outcome in outcomes} == {ServiceRunning, type(None)}
            for service in both:
                service.stop()
            await asyncio.gather(*running, return_exceptions=True)

    asyncio.run(main())


def test_passwords_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (SECRET, PASSWORD):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(NoPassword, match=SECRET):
        password_from_environment("verifier")
    monkeypatch.setenv(SECRET, "s")
    derived = password_from_environment("verifier")
    assert derived != password_from_environment("proposer")
    monkeypatch.setenv(PASSWORD, "own")
    assert password_from_environment("verifier") == "own"

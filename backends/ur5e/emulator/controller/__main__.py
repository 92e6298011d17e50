"""The emulated controller as a process: says where it listens in one line of JSON, then runs until it is
ended.

It ends by itself when its standard input is closed, so that it does not outlive who started it.
"""

import argparse
import asyncio
import importlib
import json
import os
import sys

from .controller import Controller
from .faults import ControlConnection, Faults
from .plant import IdealPlant, Plant
from .safety import UNLOCK_DELAY, Safety
from .server import Server

_LAST = 254


def main() -> None:
    parser = argparse.ArgumentParser(prog="emulated-controller", description=__doc__)
    parser.add_argument("--address", default="", help="127.0.0.x; the first free one by default")
    parser.add_argument(
        "--plant", default="", help="MODULE:FUNCTION that makes the arm; an ideal one by default"
    )
    parser.add_argument("--version", default="5.12.0", help="of PolyScope")
    parser.add_argument("--unlock-delay", type=float, default=UNLOCK_DELAY, help="s after a protective stop")
    options = parser.parse_args()
    plant = _plant(options.plant)
    version = tuple(int(part) for part in options.version.split("."))
    asyncio.run(_serve(plant, (version[0], version[1], version[2]), options.unlock_delay, options.address))


def _plant(name: str) -> Plant:
    if not name:
        return IdealPlant()
    module, _, function = name.partition(":")
    plant: Plant = getattr(importlib.import_module(module), function)()
    return plant


async def _serve(plant: Plant, version: tuple[int, int, int], unlock_delay: float, address: str) -> None:
    first = 2 + os.getpid() % (_LAST - 1)
    reason: OSError | None = None
    numbers = [*range(first, _LAST + 1), *range(2, first)]
    for candidate in [address] if address else [f"127.0.0.{number}" for number in numbers]:
        server = Server(Controller(plant, version, Safety(unlock_delay)), candidate)
        try:
            await _run(server)
        except OSError as error:
            reason = error
        else:
            return
    sys.exit(
        f"No emulated controller: {reason}. It needs ports 29999, 30003 and 30004 of a loopback address."
    )


async def _run(server: Server) -> None:
    faults = Faults(server)
    loop = asyncio.get_running_loop()
    control = await loop.create_server(lambda: ControlConnection(faults), server.address, 0)
    port = control.sockets[0].getsockname()[1]

    def ready() -> None:
        print(json.dumps({"address": server.address, "control": port}), flush=True)
        loop.add_reader(sys.stdin, _end, server)

    async with control:
        await server.run(ready)


def _end(server: Server) -> None:
    if not os.read(sys.stdin.fileno(), 1024):
        asyncio.get_running_loop().remove_reader(sys.stdin)
        server.stop()


if __name__ == "__main__":
    main()

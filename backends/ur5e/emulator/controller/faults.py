"""What can be made to go wrong, and how the arm fares: asked over a control port, one line of JSON each way.

A line is {"do": NAME, …arguments}. The answer is {"time": emulated seconds, …}, or {"error": why not}.
"""

import asyncio
import json
import os
from collections.abc import Callable
from typing import Any

import numpy as np

from .forcing import Obstacle
from .kinematics import vector
from .server import Server

Answer = dict[str, Any]

_LARGEST = 1 << 16  # bytes of a line


class Faults:
    """The faults of one emulated controller, by name."""

    def __init__(self, server: Server) -> None:
        self._server, self._controller = server, server.controller
        c, links = server.controller, server.links
        self._acts: dict[str, Callable[..., Answer | None]] = {
            "state": self.state,
            "clear_track": self.clear_track,
            "protective_stop": c.protective_stop,
            "emergency_stop": c.emergency_stop,
            "release_emergency_stop": c.safety.release,
            "drop": links.drop,
            "freeze": lambda on=True: setattr(links, "frozen", on),
            "silence": lambda on=True: setattr(links, "silent", on),
            "die": lambda: os._exit(9),
            "local": lambda on=True: setattr(c, "remote", not on),
            "version": lambda version: setattr(c, "version", tuple(version)),
            "slider": lambda fraction: setattr(c, "slider", float(fraction)),
            "claim": lambda names: server.rtde.foreign.update(names),
            "free": server.rtde.foreign.clear,
            "obstacle": self.obstacle,
            "clear": self.clear,
            "plane": self.plane,
            "quit": server.stop,
        }

    def do(self, name: str, **arguments: Any) -> Answer:
        """Raises KeyError for an unknown name, TypeError or ValueError for wrong arguments."""
        answer = self._acts[name](**arguments)
        return {"time": self._controller.time} | (answer or {})

    def state(self) -> Answer:
        """Joints (rad, rad/s), tool (UR pose), and where both have been since the last `clear_track`."""
        c = self._controller
        return {
            "q": c.plant.q.tolist(),
            "qd": c.plant.qd.tolist(),
            "tool": vector(c.chain.tool(c.plant.q)),
            "force": c.felt.tolist(),
            "still": c.still,
            "moved": c.track.moved,
            "low": c.track.low.tolist(),
            "high": c.track.high.tolist(),
            "runtime": c.runtime.name,
            "safety": c.safety.mode.name,
            "robot": c.safety.robot.name,
            "slider": c.slider,
            "clients": len(self._server.rtde.clients),
        }

    def clear(self) -> None:
        """Neither obstacle nor safety plane."""
        self._controller.obstacle = self._controller.plane = None

    def clear_track(self) -> None:
        self._controller.track = type(self._controller.track)(moved=self._controller.track.moved)

    def obstacle(self, point: list[float], normal: list[float], stiffness: float = 20000.0) -> None:
        """Something solid behind a plane; see Obstacle."""
        self._controller.obstacle = _behind(point, normal, stiffness)

    def plane(self, point: list[float], normal: list[float]) -> None:
        """A safety plane: the tool must not go behind it."""
        self._controller.plane = _behind(point, normal, 1.0)


def _behind(point: list[float], normal: list[float], stiffness: float) -> Obstacle:
    out = np.array(normal, dtype=np.float64)
    return Obstacle(np.array(point), out / np.linalg.norm(out), stiffness)


class ControlConnection(asyncio.Protocol):
    """One who injects faults."""

    def __init__(self, faults: Faults) -> None:
        self._faults, self._rest = faults, b""
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        assert self._transport is not None
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            self._transport.write(json.dumps(_answer(self._faults, line)).encode() + b"\n")
        if len(self._rest) > _LARGEST:
            self._transport.close()


def _answer(faults: Faults, line: bytes) -> Answer:
    try:
        asked = json.loads(line)
        return faults.do(asked.pop("do"), **asked)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        return {"error": f"{type(error).__name__}: {error}"}

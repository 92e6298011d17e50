"""The process that holds the connection: ur_rtde may block or crash here without harm.

It answers requests, stops a guarded motion at contact, and keeps the controller's watchdog quiet only while
fresh data comes in and, during a motion, somebody asks how it goes. When the pipe closes it stops the arm and
ends.
"""

import math
import os
import signal
import time
from collections.abc import Sequence
from multiprocessing.connection import Connection
from typing import Any

from .messages import EMERGENCY, OK, PLAYING, PROTECTIVE, Phase, Sample

FREQUENCY = 125.0  # Hz, of what the controller sends
_PERIOD = 1 / FREQUENCY
_ASKED = 0.5  # s: a motion that nobody asks about for so long is stopped
_CONFIRM = 2  # readings above the limit that make a contact
_STARTING = 0.5  # s that a motion may take to show up as running
_STOP = 2.5  # m/s², at contact
_LEAVING = 2  # s
_TAKEN, _TAKEN_PATIENCE = 0.04, 0.3  # s of the controller's clock, and of ours, until it has seen force mode
_VARIABLES = [
    "timestamp",
    "actual_q",
    "actual_qd",
    "actual_TCP_pose",
    "actual_TCP_force",
    "robot_mode",
    "runtime_state",
    "robot_status_bits",
    "safety_status_bits",
    "target_speed_fraction",
]


def serve(pipe: Connection) -> None:
    """The process's whole life."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt is the driver's to handle
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)  # the library reports there what its return values already say
    os.dup2(quiet, 2)
    worker: Worker | None = None
    try:
        while True:
            if worker is not None:
                worker.attend()
            if not pipe.poll(_PERIOD if worker is not None else None):
                continue
            number, name, arguments = pipe.recv()
            try:
                if name == "connect":
                    worker = Worker(*arguments)
                    pipe.send((number, OK, worker.sample()))
                else:
                    pipe.send((number, OK, getattr(worker, name)(*arguments)))
            except Exception as error:
                pipe.send((number, f"{type(error).__name__}: {error}", None))
    except (EOFError, OSError):
        pass  # the driver is gone
    finally:
        if worker is not None:
            worker.leave()


class Worker:
    """One connection to a controller. tcp: UR pose of the tool in the flange's frame. watchdog: s."""

    def __init__(
        self, address: str, tcp: list[float], mass: float, centre: list[float], watchdog: float
    ) -> None:
        from rtde_control import RTDEControlInterface
        from rtde_receive import RTDEReceiveInterface

        self._receive: Any = RTDEReceiveInterface(address, FREQUENCY, _VARIABLES)
        self._control: Any = RTDEControlInterface(address, FREQUENCY)
        self._stamp, self._fresh, self._kicked = -1.0, time.monotonic(), -1.0
        self._asked = time.monotonic()
        self._phase, self._limit = Phase.NONE, math.inf
        self._rest: tuple[float, ...] = (0.0,) * 3
        self._felt, self._over, self._since, self._operation = 0.0, 0, 0.0, -1
        self._pressing = False
        self._sample = self._read()
        for name, done in (
            ("setTcp", self._control.setTcp(tcp)),
            ("setPayload", self._control.setPayload(mass, centre)),
            ("zeroFtSensor", self._control.zeroFtSensor()),
            ("setWatchdog", self._control.setWatchdog(1.0 / watchdog)),
        ):
            if not done:
                raise RuntimeError(f"the controller refused {name}")

    def sample(self) -> Sample:
        """The newest reading; says that somebody still asks."""
        self._asked = time.monotonic()
        self._sample = self._read()
        return self._sample

    def attend(self) -> None:
        """What has to be done all the time."""
        self._sample = sample = self._read()
        if self._phase is Phase.MOVING:
            self._watch(sample)
        if sample.program and sample.connected and self._stamp != self._kicked:
            self._kicked = self._stamp
            self._control.kickWatchdog()

    def tcp(self) -> list[float]:
        """The tool's pose in the flange's frame, as the controller has it."""
        return list(self._control.getTCPOffset())

    def move(
        self, line: bool, target: list[float], speed: float, acceleration: float, limit: float, first: bool
    ) -> bool:
        """Starts a motion. target: UR pose on a line, else joints. limit: N, where it stops. first: forces
        count from now."""
        self._asked = self._since = time.monotonic()
        if first:
            self._rest, self._felt = self._sample.force[:3], 0.0
        self._limit, self._over = limit, 0
        self._operation = self._control.getAsyncOperationProgressEx().operationId()
        start = self._control.moveL if line else self._control.moveJ
        begun = bool(start(target, speed, acceleration, True))
        self._phase = Phase.MOVING if begun else Phase.LOST
        return begun

    def stop(self, deceleration: float) -> bool:
        """Begins to stop whatever moves, m/s²."""
        return self._halt(Phase.STOPPED, deceleration)

    def press(self, frame: list[float], wrench: list[float], limits: list[float]) -> bool:
        """Force mode along the third axis of a frame (UR pose)."""
        self._pressing = True
        begun = bool(self._control.forceMode(frame, [0, 0, 1, 0, 0, 0], wrench, 2, limits))
        stamp, until = self._receive.getTimestamp(), time.monotonic() + _TAKEN_PATIENCE
        while self._receive.getTimestamp() < stamp + _TAKEN and time.monotonic() < until:
            time.sleep(_PERIOD)  # it is not acknowledged: the next command would overwrite it unseen
        return begun

    def release(self) -> bool:
        """Ends force mode."""
        self._pressing = False
        return bool(self._control.forceModeStop())

    def allowed(self, joints: list[float]) -> bool:
        """Whether the controller's own safety settings let the arm stand there."""
        return bool(self._control.isJointsWithinSafetyLimits(joints))

    def leave(self) -> None:
        """The last that is done: the arm stops, the program ends."""
        signal.alarm(_LEAVING)  # the calls below can block; then this ends the process
        if self._sample.program:
            self._control.stopJ(2.0)
            self._control.stopScript()
        os._exit(0)  # the library's own clean-up can block

    def _halt(self, phase: Phase, deceleration: float) -> bool:
        self._phase = phase
        if self._pressing:
            self.release()
        return bool(self._control.stopL(deceleration, True))

    def _watch(self, sample: Sample) -> None:
        """Ends the motion where it has to end."""
        now = time.monotonic()
        self._over = self._over + 1 if self._feel(sample) > self._limit else 0
        if self._over >= _CONFIRM:
            self._halt(Phase.CONTACT, _STOP)
        elif now - self._asked > _ASKED:
            self._halt(Phase.ABANDONED, _STOP)
        elif not sample.program or sample.safety & (PROTECTIVE | EMERGENCY):
            self._phase = Phase.LOST
        else:
            status = self._control.getAsyncOperationProgressEx()
            begun = status.operationId() != self._operation or now - self._since > _STARTING
            if begun and not status.isAsyncOperationRunning():
                self._phase = Phase.DONE

    def _feel(self, sample: Sample) -> float:
        """N that came since the motion began: what pushed before, or less of it, counts for nothing."""
        felt = beyond(sample.force[:3], self._rest)
        self._felt = max(self._felt, felt)
        return felt

    def _read(self) -> Sample:
        r, now = self._receive, time.monotonic()
        stamp = r.getTimestamp()
        if stamp != self._stamp:
            self._stamp, self._fresh = stamp, now
        status = r.getRobotStatus()
        return Sample(
            joints=tuple(r.getActualQ()),
            speeds=tuple(r.getActualQd()),
            pose=tuple(r.getActualTCPPose()),
            force=tuple(r.getActualTCPForce()),
            age=now - self._fresh,
            connected=bool(r.isConnected()),
            program=bool(r.getRuntimeState() == PLAYING and status & 2),
            safety=int(r.getSafetyStatusBits()),
            mode=int(r.getRobotMode()),
            slider=float(r.getTargetSpeedFraction()),
            phase=self._phase,
            felt=self._felt,
        )


def beyond(force: Sequence[float], before: Sequence[float]) -> float:
    """How far a force is from all that lies between none and the one before."""
    square = sum(b * b for b in before)
    share = sum(f * b for f, b in zip(force, before, strict=True)) / square if square > 0 else 0.0
    share = min(max(share, 0.0), 1.0)
    return math.dist(force, [share * b for b in before])

"""A UR5e as the rest of the program sees it: state, motions that are checked first, and stops that hold.

After a halt every call raises the same RobotHalted until a person has confirmed a recovery. Poses are
tool_to_base, 4×4, in the base frame (x forward, y left, z up).
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ...device import Matrix, Motion
from ..errors import Cause, RobotError, RobotHalted, RobotMissing
from . import halting
from .driving import Driver, Halt
from .kinematics import Joints, Kinematics
from .limits import ArmLimits, Timing, Tool
from .link import Link, LinkLost, Refused
from .messages import Sample
from .planning import Planner, Segment
from .poses import distance, is_rigid, pose_of, ur_vector
from .preflight import Finding, preflight

_ACQUIRE = 3.0  # s that `stop` waits for the thread that moves the arm to stop it
_SHORTEST = 0.001  # m, of a motion until contact
_SOFT: tuple[Cause, ...] = ("operator_abort", "speed_slider")  # the connection itself is in order


@dataclass(frozen=True)
class ArmReading:
    """tool_to_base: 4×4, read back from the controller. joints: rad. force: N at the tool since the sensor
    was zeroed. age: s since the controller's clock last moved."""

    tool_to_base: Matrix
    joints: Joints
    force: float
    age: float


class UrArm:
    """One arm. Use `connect`; then one thread moves, and any thread may `stop`."""

    def __init__(self, address: str, limits: ArmLimits, tool: Tool, timing: Timing) -> None:
        self.address, self.limits, self.tool, self.timing = address, limits, tool, timing
        self._planner = Planner(Kinematics(tool.flange_to_tool, limits.joints), limits)
        self._link: Link | None = None
        self._driver: Driver | None = None
        self._halted: RobotHalted | None = None
        self._lock = threading.Lock()
        self._mover = 0  # the thread that moves the arm
        self._abort = threading.Event()

    @classmethod
    def connect(
        cls, address: str, limits: ArmLimits, tool: Tool | None = None, timing: Timing | None = None
    ) -> Self:
        """Nothing moves. Raises RobotHalted if the arm is stopped, RobotMissing for all else that preflight
        finds."""
        arm = cls(address, limits, tool or Tool(), timing or Timing())
        arm._open()
        return arm

    def preflight(self) -> list[Finding]:
        """All that is wrong now, each with what to do about it."""
        return preflight(self.address, self.limits, self.tool, ours=self._link is not None)

    def state(self) -> ArmReading:
        """The newest reading. Raises RobotHalted."""
        with self._guarded():
            sample = self._look()
        return ArmReading(
            pose_of(sample), np.array(sample.joints), float(np.linalg.norm(sample.force[:3])), sample.age
        )

    def reachable(self, targets: list[Matrix]) -> int:
        """How many of the targets, in order, the arm can go to from here. The controller's own safety
        settings are asked only before it moves. Raises RobotHalted."""
        start = self.state().joints
        return len(self._planner.plan(start, [_checked(t) for t in targets], self.limits.speed).ends)

    def follow(
        self, targets: list[Matrix], speed: float, force: float, tolerance: float, press: float = 0.0
    ) -> Motion:
        """Straight through the targets where the arm can, else across in joint space.

        speed: m/s. force: N that end it as `blocked`. tolerance: m, for each target. press: N to keep pushing
        along the tool's approach. `unreachable`: found before anything moves. Raises RobotHalted.
        """
        goals = [_checked(target) for target in targets]
        speed, force = self._bounded(speed, force)
        with self._guarded():
            start = self._look()
            if not goals:
                return Motion("", 0, 0.0, 0.0, False)
            plan = self._planner.plan(np.array(start.joints), goals, speed)
            if len(plan.ends) < len(goals):
                return Motion("unreachable", len(plan.ends), distance(start, goals[-1]), 0.0, False)
            return self._moving().follow(plan, goals, force, tolerance, press)

    def touch(self, direction: NDArray[np.float64], distance: float, speed: float, force: float) -> Motion:
        """Goes along a direction (3 numbers, base frame) until more than `force` N is felt; as far as
        `distance` (m) and the limits allow. Raises RobotHalted."""
        way = np.asarray(direction, dtype=np.float64)
        length = float(np.linalg.norm(way))
        if way.shape != (3,) or not np.isfinite(way).all() or length < 1e-9 or not 0 < distance < 10:
            raise RobotError(
                "A motion until contact needs a direction of three numbers and a distance in metres."
            )
        speed, force = self._bounded(speed, force)
        with self._guarded():
            start = self._look()
            segment = self._towards(np.array(start.joints), way / length * distance, speed)
            if segment is None:
                return Motion("unreachable", 0, distance, 0.0, False)
            return self._moving().touch(segment, force)

    def go_to(self, joints: Joints, speed: float, force: float, tolerance: float = 0.01) -> Motion:
        """Moves to joints (rad) in joint space, the tool no faster than `speed` (m/s). Raises RobotHalted."""
        target = np.asarray(joints, dtype=np.float64)
        if target.shape != (6,) or not np.isfinite(target).all():
            raise RobotError("A motion in joint space needs six finite angles in radians.")
        speed, force = self._bounded(speed, force)
        with self._guarded():
            start = self._look()
            goal = self._planner.tool(target)
            segment = self._planner.across(np.array(start.joints), target, speed)
            if segment is None:
                return Motion("unreachable", 0, distance(start, goal), 0.0, False)
            return self._moving().cross(segment, goal, force, tolerance)

    def stop(self) -> None:
        """Stops the arm, from any thread and from a signal handler; a motion under way raises RobotHalted
        there."""
        self._abort.set()
        if self._mover == threading.get_ident():
            return  # in a signal handler amid a motion, which looks at this next
        if not self._lock.acquire(timeout=_ACQUIRE):
            halting.end_program(self.address)
            return
        try:
            if self._link is not None:
                self._halt("operator_abort")
        finally:
            self._lock.release()

    def recover(self, confirmed: bool) -> None:
        """Makes the arm usable after a halt; it stays where it is. confirmed: a person has looked and agrees.
        Raises RobotError, also if it is not confirmed."""
        if not confirmed:
            raise RobotError("A person has to look at the cell and confirm before the robot may move again.")
        with self._lock:
            self._drop_link()
            halting.release(self.address)
            self._open()
            self._halted = None
            self._abort.clear()

    def close(self) -> None:
        """Ends the controller's program; the arm stands still."""
        with self._lock:
            if self._link is not None:
                self._link.close()
                self._link = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _open(self) -> None:
        findings = preflight(self.address, self.limits, self.tool)
        for finding in findings:
            if finding.cause is not None:
                raise RobotHalted(finding.cause, str(finding))
        if findings:
            raise RobotMissing(" ".join(str(finding) for finding in findings))
        link = Link(self.timing.answer)
        tcp = ur_vector(self.tool.flange_to_tool)
        try:
            link.ask(
                "connect",
                self.address,
                tcp,
                self.tool.mass,
                list(self.tool.centre),
                self.timing.watchdog,
                deadline=self.timing.connect,
            )
            if not np.allclose(link.ask("tcp"), tcp, atol=1e-4):
                raise Refused("the controller did not take over the tool's frame")
        except BaseException as error:
            halting.end_program(self.address)
            link.kill()
            if not isinstance(error, LinkLost | Refused):
                raise
            raise RobotMissing(
                f"The controller at {self.address} could not be taken over: {error}"
            ) from error
        self._link = link
        self._driver = Driver(link, self._look, self._planner)

    def _drop_link(self) -> None:
        if self._link is not None:
            self._link.kill()
            self._link = None

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        """One call at a time; whatever breaks it off stops the arm."""
        with self._lock:
            if self._halted is not None:
                raise RobotHalted(self._halted.cause, str(self._halted))
            if self._link is None:
                raise RobotError("The arm's connection is closed; connect again.")
            self._mover = threading.get_ident()
            try:
                yield
            except Halt as halt:
                raise self._halt(halt.cause, halt.detail) from None
            except LinkLost as error:
                raise self._halt(halting.why_lost(self.address)) from error
            except Refused as error:
                raise self._halt("connection_lost", str(error)) from error
            except KeyboardInterrupt:
                raise self._halt("operator_abort") from None
            except RobotHalted:
                raise
            except BaseException as error:
                self._halt("operator_abort", f"{type(error).__name__} in the driver")
                raise
            finally:
                self._mover = 0

    def _look(self) -> Sample:
        """A reading in which nothing is wrong. Raises Halt or LinkLost."""
        assert self._link is not None
        sample = self._link.sample()
        cause = halting.diagnose(sample, self.timing.stale)
        if cause in ("connection_lost", "watchdog") and not sample.connected:
            cause = halting.why_lost(self.address)
        if cause is not None:
            raise Halt(cause)
        if self._abort.is_set():
            raise Halt("operator_abort")
        return sample

    def _moving(self) -> Driver:
        assert self._driver is not None
        return self._driver

    def _halt(self, cause: Cause, detail: str = "") -> RobotHalted:
        """Brings the arm to rest by whatever still works, and reads back that it is. detail: for a person."""
        with _uninterrupted():
            if cause in _SOFT and self._driver is not None:
                self._driver.rest()
            halting.end_program(self.address)
            self._drop_link()
            self._halted = halting.halted(cause, halting.at_rest(self.address), detail)
        return self._halted

    def _towards(self, joints: Joints, way: NDArray[np.float64], speed: float) -> Segment | None:
        """The straight move along `way` (m), as far as the limits allow."""
        target = self._planner.tool(joints)
        target[:3, 3] += way
        path, whole = self._planner.along(joints, target)
        if not whole:
            target = self._planner.tool(path[-1])
            target[:3, :3] = self._planner.tool(joints)[:3, :3]
        if np.linalg.norm(target[:3, 3] - self._planner.tool(joints)[:3, 3]) < _SHORTEST:
            return None
        return self._planner.line(joints, target, speed)

    def _bounded(self, speed: float, force: float) -> tuple[float, float]:
        """Within the limits. Raises RobotError for what is no speed or no force."""
        if not (0 < speed < np.inf and 0 < force < np.inf):
            raise RobotError("A motion needs a speed in m/s and a force in N, both above 0.")
        return min(speed, self.limits.speed), min(force, self.limits.force)


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """A second interrupt from the keyboard must not keep the arm from being stopped."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before: Any = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _checked(target: Matrix) -> Matrix:
    """A pose that is one. Raises RobotError."""
    pose = np.asarray(target, dtype=np.float64)
    if not is_rigid(pose):
        raise RobotError("A target is a rigid 4×4 matrix of finite numbers, tool_to_base in metres.")
    return pose

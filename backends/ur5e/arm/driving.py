"""Drives planned segments one by one and watches over each: progress, contact, halts, and where the arm
really is."""

import contextlib
import time
from collections.abc import Callable

import numpy as np

from ...device import Matrix, Motion, Stop
from ..errors import Cause
from .link import Link, LinkLost, Refused
from .messages import Phase, Sample
from .planning import Plan, Planner, Segment
from .poses import distance, pose_of, ur_vector
from .preflight import SLOWEST

_POLL = 0.02  # s between looks
_LONGER, _MORE = 1.5, 1.0  # a motion may take so many times as long as planned, and so many s more
_SETTLE = 0.5  # s to come to rest after the controller says that it is done
_SLIDER = 0.3  # s at a speed slider of nothing before it counts
_STOP = 2.5  # m/s²
_NEAR = 0.02  # rad: a joint move has arrived
_PRESS_SPEED, _PRESS_SIDE = 0.03, 0.05  # m/s along the approach; what other axes may deviate, m and rad


class Halt(Exception):
    """The arm has to be halted, or has halted by itself. detail: for a person."""

    def __init__(self, cause: Cause, detail: str = "") -> None:
        super().__init__(cause)
        self.cause, self.detail = cause, detail


class Driver:
    """Moves one arm. look: gives a reading in which nothing is wrong, or raises Halt."""

    def __init__(self, link: Link, look: Callable[[], Sample], planner: Planner) -> None:
        self._link, self._look, self._planner = link, look, planner

    def follow(self, plan: Plan, goals: list[Matrix], force: float, tolerance: float, press: float) -> Motion:
        """All segments of a plan that reaches all its goals."""
        allowed = self._allowed(plan)
        if allowed < len(goals):
            return Motion("unreachable", allowed, distance(self._look(), goals[-1]), 0.0, False)
        if press > 0:
            self._press(press)
        try:
            done = 0
            for number, segment in enumerate(plan.segments):
                stop, sample = self._drive(segment, force + press, number == 0)
                arrived = number + 1 == plan.ends[done]
                error = _off(sample, goals[done], press > 0)
                if not stop and arrived and error > tolerance:
                    stop = "blocked"
                if stop:
                    contact = sample.phase is Phase.CONTACT
                    return Motion(stop, done, distance(sample, goals[-1]), sample.felt, contact)
                done += arrived
            return Motion("", done, error, sample.felt, False)
        finally:
            if press > 0:
                with contextlib.suppress(LinkLost, Refused):
                    self._link.ask("release")

    def touch(self, segment: Segment, force: float) -> Motion:
        """One segment, until more than `force` N is felt."""
        if not self._allowed(Plan((segment,), (1,))):
            return Motion(
                "unreachable", 0, distance(self._look(), self._planner.tool(segment.joints)), 0.0, False
            )
        stop, sample = self._drive(segment, force, True)
        goal = self._planner.tool(segment.joints)
        if sample.phase is Phase.CONTACT:
            return Motion("", 1, distance(sample, goal), sample.felt, True)
        return Motion(stop or "no_contact", 0, distance(sample, goal), sample.felt, False)

    def cross(self, segment: Segment, goal: Matrix, force: float, tolerance: float) -> Motion:
        """One segment in joint space."""
        if not self._allowed(Plan((segment,), (1,))):
            return Motion("unreachable", 0, distance(self._look(), goal), 0.0, False)
        stop, sample = self._drive(segment, force, True)
        away = float(np.abs(np.array(sample.joints) - segment.joints).max())
        error = distance(sample, goal)
        if not stop and (away > _NEAR or error > tolerance):
            stop = "blocked"
        return Motion(stop, int(not stop), error, sample.felt, sample.phase is Phase.CONTACT)

    def rest(self) -> bool:
        """Stops and waits until the arm stands still; False where that cannot be seen here."""
        try:
            self._link.ask("stop", _STOP)
            return self._settled(self._link.sample).still
        except (LinkLost, Refused):
            return False

    def _allowed(self, plan: Plan) -> int:
        """How many goals, in order, the controller's own safety settings allow."""
        for number, segment in enumerate(plan.segments):
            self._look()
            if not self._link.ask("allowed", segment.joints.tolist()):
                return sum(end <= number for end in plan.ends)
        return len(plan.ends)

    def _drive(self, segment: Segment, force: float, first: bool) -> tuple[Stop, Sample]:
        """Why it ended, and a reading at rest."""
        target = ur_vector(segment.pose) if segment.line else segment.joints.tolist()
        self._look()
        begun = self._link.ask(
            "move", segment.line, target, segment.speed, segment.acceleration, force, first
        )
        if not begun:
            self._look()
            raise Halt("watchdog", "it did not begin to move")
        left = segment.seconds * _LONGER + _MORE
        held = 0.0
        before = time.monotonic()
        while True:
            time.sleep(_POLL)
            sample = self._look()
            now = time.monotonic()
            passed, before = now - before, now
            held = held + passed if sample.slider < SLOWEST else 0.0
            left -= passed * max(sample.slider, SLOWEST)
            if sample.phase is Phase.DONE:
                return "", self._rested()
            if sample.phase is Phase.CONTACT:
                return "blocked", self._rested()
            if sample.phase is Phase.ABANDONED:
                raise Halt("watchdog", "this program did not look at the motion in time")
            if sample.phase is not Phase.MOVING:
                raise Halt("watchdog")
            if held > _SLIDER:
                raise Halt("speed_slider")
            if left < 0:
                self._link.ask("stop", _STOP)
                return "timeout", self._rested()

    def _rested(self) -> Sample:
        """A reading at rest. Raises Halt where the arm goes on although it should not."""
        sample = self._settled(self._look)
        if not sample.still:
            raise Halt("watchdog", "the arm did not come to rest")
        return sample

    def _settled(self, look: Callable[[], Sample]) -> Sample:
        until = time.monotonic() + _SETTLE
        sample = look()
        while not sample.still and time.monotonic() < until:
            time.sleep(_POLL)
            sample = look()
        return sample

    def _press(self, force: float) -> None:
        """Lets the arm give way along its approach until it pushes with `force` N."""
        sample = self._look()
        limits = [_PRESS_SIDE, _PRESS_SIDE, _PRESS_SPEED, _PRESS_SIDE, _PRESS_SIDE, _PRESS_SIDE]
        self._link.ask("press", list(sample.pose), [0.0, 0.0, force, 0.0, 0.0, 0.0], limits)


def _off(sample: Sample, goal: Matrix, pressing: bool) -> float:
    """m from a goal; across the approach only, where the arm presses along it."""
    away = goal[:3, 3] - pose_of(sample)[:3, 3]
    if pressing:
        approach = goal[:3, 2]
        away = away - approach * float(away @ approach)
    return float(np.linalg.norm(away))

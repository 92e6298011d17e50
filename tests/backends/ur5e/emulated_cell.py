"""An arm driver connected to an emulated controller, as the driver's tests use it."""

import threading
import time
from contextlib import contextmanager

import numpy as np
import pytest

from skill2real.backends.ur5e.arm import ArmLimits, Timing, Tool, UrArm
from skill2real.backends.ur5e.emulator.controller.handle import EmulatedController
from skill2real.backends.ur5e.errors import RobotError, RobotHalted

LIMITS = ArmLimits(
    box=((0.2, 0.75), (-0.5, 0.5), (0.0, 0.7)),
    speed=0.5,
    acceleration=2.0,
    joint_speed=2.0,
    joint_acceleration=5.0,
    joints=((-3.2, 3.2),) * 6,
)
_FINGERS = np.eye(4)
_FINGERS[2, 3] = 0.15
TOOL = Tool(_FINGERS, 0.9, (0.0, 0.0, 0.05))
PATIENT = Timing(stale=0.3, watchdog=0.5, answer=0.6, connect=20.0)  # machines that run tests are busy
HOME = (0.0, -1.5708, 1.5708, -1.5708, -1.5708, 0.0)
FORCE, TOLERANCE = 40.0, 0.005


@contextmanager
def cell(*options):
    """An emulated controller and the driver, connected to it."""
    with EmulatedController(*options) as emulator, connected(emulator) as arm:
        yield emulator, arm


@contextmanager
def connected(emulator):
    arm = UrArm.connect(emulator.address, LIMITS, TOOL, PATIENT)
    try:
        yield arm
    finally:
        arm.close()


def shifted(pose, x=0.0, y=0.0, z=0.0):
    moved = pose.copy()
    moved[:3, 3] += (x, y, z)
    return moved


def eventually(condition, seconds=5.0):
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "it did not come to pass"
        time.sleep(0.01)


def long_motion(arm):
    """Some seconds there and back."""
    start = arm.state().tool_to_base
    return arm.follow([shifted(start, y=-0.25), start] * 3, 0.1, FORCE, TOLERANCE)


def while_moving(emulator, act):
    """Runs `act` from another thread once the arm moves. Returns where its result will be."""
    results = []

    def wait_and_act():
        eventually(lambda: not emulator.state()["still"], 10.0)
        time.sleep(0.1)
        results.append(act())

    thread = threading.Thread(target=wait_and_act, daemon=True)
    thread.start()
    return thread, results


def halted(emulator, arm, act):
    """The error that a fault in mid-motion ends in."""
    thread, _ = while_moving(emulator, act)
    began = time.monotonic()
    with pytest.raises(RobotHalted) as caught:
        long_motion(arm)
    assert time.monotonic() - began < 15.0
    thread.join(5.0)
    return caught.value


def still_ever_since(emulator, since):
    """Still within one second of emulated time, and from then on."""
    eventually(lambda: emulator.state()["time"] > since + 1.4, 10.0)
    state = emulator.state()
    assert state["still"]
    assert state["moved"] - since < 1.0
    return state


def refused(arm):
    """Nothing moves without a confirmation, whatever is asked for."""
    for motion in (
        lambda: arm.follow([], 0.1, FORCE, TOLERANCE),
        lambda: arm.touch([0, 0, -1.0], 0.1, 0.05, 8.0),
        lambda: arm.go_to([0.0] * 6, 0.1, FORCE),
        arm.state,
    ):
        with pytest.raises(RobotHalted):
            motion()
    with pytest.raises(RobotError, match="confirm"):
        arm.recover(confirmed=False)

"""After a halt: what is found later, what a person may undo, and that nothing goes on by itself."""

import time

import pytest

pytest.importorskip("rtde_control")

from emulated_cell import FORCE, TOLERANCE, cell, eventually, halted, refused, shifted

from skill2real.backends.ur5e.arm import dashboard
from skill2real.backends.ur5e.errors import RobotError, RobotHalted


@pytest.fixture
def both():
    with cell("--unlock-delay", "0.5") as pair:
        yield pair


def test_a_program_that_somebody_ends_is_noticed(both):
    emulator, arm = both
    error = halted(emulator, arm, lambda: dashboard.ask(arm.address, "stop"))
    assert error.cause == "watchdog"
    refused(arm)


@pytest.mark.parametrize("stop", ["protective_stop", "emergency_stop"])
def test_a_stop_while_idle_is_found_and_recovered_from(both, stop):
    emulator, arm = both
    before = arm.state()
    emulator.do(stop)
    with pytest.raises(RobotHalted) as caught:
        eventually(lambda: arm.state() is None)
    assert caught.value.cause == stop
    if stop == "emergency_stop":
        with pytest.raises(RobotError, match="turn the emergency stop out"):
            arm.recover(confirmed=True)
        refused(arm)
        emulator.do("release_emergency_stop")
    arm.recover(confirmed=True)
    after = arm.state()
    assert abs(after.tool_to_base - before.tool_to_base).max() < 1e-6, "recovering moves nothing"
    assert arm.follow([shifted(after.tool_to_base, y=-0.05)], 0.3, FORCE, TOLERANCE).stop == ""


def test_nothing_goes_on_after_the_protective_stop_is_unlocked_by_hand(both):
    """A paused program would go on; the driver has ended it."""
    emulator, arm = both
    halted(emulator, arm, lambda: emulator.do("protective_stop"))
    time.sleep(0.6)
    since = emulator.state()["time"]
    assert dashboard.ask(arm.address, "unlock protective stop", "play")[1].startswith("Failed")
    eventually(lambda: emulator.state()["time"] > since + 0.5)
    assert emulator.state()["moved"] < since

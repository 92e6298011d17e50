"""Stopping by hand and from the keyboard, and a connection process that dies or hangs."""

import os
import signal

import pytest

pytest.importorskip("rtde_control")

from emulated_cell import cell, halted, long_motion, refused, still_ever_since, while_moving

from skill2real.backends.ur5e.errors import RobotHalted


@pytest.fixture
def both():
    with cell("--unlock-delay", "0.5") as pair:
        yield pair


@pytest.mark.parametrize("signal_", [signal.SIGKILL, signal.SIGSTOP])
def test_a_connection_process_that_dies_or_hangs_is_replaced(both, signal_):
    emulator, arm = both
    process = arm._link._process
    at = []

    def act():
        at.append(emulator.state()["time"])
        os.kill(process.pid, signal_)

    assert halted(emulator, arm, act).cause == "connection_lost"
    still_ever_since(emulator, at[0])
    assert not process.is_alive()
    refused(arm)
    arm.recover(confirmed=True)
    assert arm.state().age < 1.0


def test_stop_from_another_thread_stops_a_motion(both):
    emulator, arm = both
    at = []

    def act():
        at.append(emulator.state()["time"])
        arm.stop()
        return emulator.state()["still"]

    thread, results = while_moving(emulator, act)
    with pytest.raises(RobotHalted) as caught:
        long_motion(arm)
    thread.join(5.0)
    assert caught.value.cause == "operator_abort"
    assert results == [True], "when stop returns, the arm is still"
    still_ever_since(emulator, at[0])
    refused(arm)


def test_an_interrupt_stops_the_arm_not_only_the_program(both):
    emulator, arm = both
    at = []

    def act():
        at.append(emulator.state()["time"])
        os.kill(os.getpid(), signal.SIGINT)

    assert halted(emulator, arm, act).cause == "operator_abort"
    still_ever_since(emulator, at[0])
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    refused(arm)


def test_stop_while_nothing_moves_holds_as_well(both):
    _, arm = both
    arm.stop()
    arm.stop()
    refused(arm)

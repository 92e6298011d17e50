"""The death of any process that takes part: the arm stands still within a second, whoever is left."""

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("rtde_control")

from emulated_cell import cell, eventually, halted, refused, still_ever_since

from skill2real.backends.ur5e.emulator.controller.handle import EmulatedController


@pytest.fixture
def driver():
    """An emulated controller and a driver in a process group of its own that moves it."""
    with EmulatedController() as emulator:
        script = Path(__file__).with_name("moving_driver.py")
        process = subprocess.Popen(
            [sys.executable, script, emulator.address],
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        try:
            eventually(lambda: not emulator.state()["still"], 20.0)
            yield emulator, process
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.communicate(timeout=5.0)


def test_the_arm_stops_when_the_driver_is_killed(driver):
    emulator, process = driver
    since = emulator.state()["time"]
    process.kill()
    assert still_ever_since(emulator, since)["runtime"] == "STOPPED"


def test_the_arm_stops_when_the_whole_program_is_killed(driver):
    """The process that holds the connection as well: the controller's watchdog is all that is left."""
    emulator, process = driver
    since = emulator.state()["time"]
    os.killpg(process.pid, signal.SIGKILL)
    assert still_ever_since(emulator, since)["runtime"] == "STOPPED"


def test_the_arm_stops_when_the_driver_hangs(driver):
    emulator, process = driver
    since = emulator.state()["time"]
    process.send_signal(signal.SIGSTOP)
    still_ever_since(emulator, since)
    process.send_signal(signal.SIGCONT)
    assert process.communicate(timeout=10.0)[0].strip() == "watchdog"
    assert emulator.state()["still"]


def test_ctrl_c_in_a_terminal_stops_the_arm(driver):
    """An interrupt goes to all processes of the group at once."""
    emulator, process = driver
    since = emulator.state()["time"]
    os.killpg(process.pid, signal.SIGINT)
    still_ever_since(emulator, since)
    assert process.communicate(timeout=10.0)[0].strip() == "operator_abort"


def test_a_dead_controller_is_called_so():
    with cell() as (emulator, arm):
        error = halted(emulator, arm, emulator.kill)
        assert error.cause == "controller_dead"
        assert "could NOT be read back" in str(error)
        refused(arm)

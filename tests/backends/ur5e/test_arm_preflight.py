"""What is wrong before anything moves is named, with a remedy; nothing here may take long."""

import socket
import time
from dataclasses import replace

import pytest

pytest.importorskip("rtde_control")

from emulated_cell import LIMITS, PATIENT, TOOL, connected

from skill2real.backends.ur5e.arm import UrArm, arm, preflight
from skill2real.backends.ur5e.emulator.controller.handle import EmulatedController
from skill2real.backends.ur5e.errors import RobotHalted, RobotMissing

CLAIMED = ["input_double_register_3"]


@pytest.fixture(scope="module")
def emulator():
    with EmulatedController("--unlock-delay", "0") as running:
        yield running


def found(address, limits=LIMITS):
    """Names of what is wrong; each has something to say and something to do."""
    began = time.monotonic()
    findings = preflight(address, limits, TOOL)
    assert time.monotonic() - began < 8.0
    assert all(finding.problem.endswith((".", "%.")) and finding.remedy for finding in findings)
    return [finding.name for finding in findings]


def refused(address, error=RobotMissing):
    """Connecting raises with what was found."""
    with pytest.raises(error) as caught:
        UrArm.connect(address, LIMITS, TOOL, PATIENT)
    return caught.value


def test_a_controller_in_order_has_no_findings(emulator):
    assert found(emulator.address) == []


@pytest.mark.parametrize(
    ("fault", "undo", "name"),
    [
        (("local", {}), ("local", {"on": False}), "remote_control"),
        (("claim", {"names": CLAIMED}), ("free", {}), "registers_in_use"),
        (("version", {"version": [5, 4, 0]}), ("version", {"version": [5, 12, 0]}), "wrong_polyscope"),
        (("silence", {}), ("silence", {"on": False}), "silent"),
        (("freeze", {}), ("freeze", {"on": False}), "silent"),
    ],
)
def test_what_is_wrong_is_named(emulator, fault, undo, name):
    emulator.do(fault[0], **fault[1])
    try:
        assert found(emulator.address) == [name]
        text = str(refused(emulator.address))
        assert len(text) > 40
        assert emulator.state()["runtime"] == "STOPPED", "no program has been sent"
    finally:
        emulator.do(undo[0], **undo[1])


def test_a_speed_slider_at_nothing_is_named(emulator):
    emulator.do("slider", fraction=0.0)
    assert found(emulator.address) == ["speed_slider"]
    assert refused(emulator.address, RobotHalted).cause == "speed_slider"
    emulator.do("slider", fraction=1.0)


def test_stops_are_named(emulator):
    emulator.do("protective_stop")
    assert found(emulator.address) == ["protective_stop"]
    assert refused(emulator.address, RobotHalted).cause == "protective_stop"
    emulator.do("emergency_stop")
    assert found(emulator.address) == ["emergency_stop"]
    assert refused(emulator.address, RobotHalted).cause == "emergency_stop"
    emulator.do("release_emergency_stop")
    assert found(emulator.address) == ["not_running"]
    refused(emulator.address)


def test_nobody_there_is_named():
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))  # an address without a controller
        assert found("127.0.0.1") == ["no_route"]


def test_polyscope_x_is_named():
    with EmulatedController("--version", "10.7.0") as emulator:
        assert found(emulator.address) == ["wrong_polyscope"]


def test_an_arm_outside_its_limits_is_named():
    with EmulatedController() as emulator:
        assert found(emulator.address, replace(LIMITS, box=((0.2, 0.3), (-0.5, 0.5), (0.0, 0.7)))) == [
            "safety_limits"
        ]
        assert found(emulator.address, replace(LIMITS, joints=((-1.0, 1.0),) * 6)) == ["safety_limits"]
        with connected(emulator) as arm:
            assert arm.preflight() == [], "its own connection is not a finding"
            assert found(emulator.address) == ["registers_in_use"]


def test_a_missing_library_is_named(emulator, monkeypatch):
    from skill2real.backends.ur5e.arm import preflight as package

    module = __import__(package.__module__, fromlist=["importlib"])
    monkeypatch.setattr(module.importlib.util, "find_spec", lambda name: None)
    assert found(emulator.address)[:2] == ["library_missing", "library_missing"]


def test_a_controller_that_falls_silent_while_connecting_blocks_nobody(monkeypatch):
    """The client library would block without limit."""
    monkeypatch.setattr(arm, "preflight", lambda *arguments: [])
    with EmulatedController() as emulator:
        emulator.do("silence")
        began = time.monotonic()
        with pytest.raises(RobotMissing, match="did not answer connect"):
            UrArm.connect(emulator.address, LIMITS, TOOL, replace(PATIENT, connect=2.0))
        assert time.monotonic() - began < 10.0

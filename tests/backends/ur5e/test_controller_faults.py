"""The emulated controller when things go wrong: stops, watchdog, lost connections, as the client sees
them."""

import socket
import time

import pytest
from real_client import RealClient

pytest.importorskip("rtde_control")

from skill2real.backends.ur5e.emulator.controller.handle import EmulatedController
from skill2real.backends.ur5e.emulator.controller.plant import HOME, IdealPlant
from skill2real.backends.ur5e.errors import RobotMissing


@pytest.fixture
def emulator():
    with EmulatedController("--unlock-delay", "0.5") as running:
        yield running


@pytest.fixture
def client(emulator):
    with RealClient(emulator.address, "receive", "control", "dashboard") as connected:
        yield connected


def eventually(condition, seconds=5.0):
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "it did not come to pass"
        time.sleep(0.02)


def set_off(emulator, client):
    """A motion of several seconds."""
    tool = client.receive("getActualTCPPose")
    assert client.control("moveL", [tool[0] + 0.2, *tool[1:]], 0.05, 1.0, True)
    eventually(lambda: not emulator.state()["still"])


def still_within_a_second(emulator, since):
    eventually(lambda: emulator.state()["time"] > since + 1.0)
    state = emulator.state()
    assert state["still"]
    assert state["moved"] - since < 1.0
    return state


def test_a_protective_stop_pauses_the_program_until_it_is_unlocked(emulator, client):
    set_off(emulator, client)
    since = emulator.do("protective_stop")["time"]
    with pytest.raises(RuntimeError, match="Cannot unlock protective stop until"):
        client("dashboard", "unlockProtectiveStop")
    state = still_within_a_second(emulator, since)
    assert (state["safety"], state["runtime"]) == ("PROTECTIVE_STOP", "PAUSED")
    assert client.receive("isProtectiveStopped")
    assert client.control("getAsyncOperationProgressEx")[0], "it still calls itself running"
    assert not client.control("moveL", client.receive("getActualTCPPose"), 0.1, 1.0)
    client("dashboard", "unlockProtectiveStop")
    assert emulator.state()["safety"] == "NORMAL"
    assert emulator.state()["still"]
    client("dashboard", "play")
    eventually(lambda: not emulator.state()["still"])  # this is why a driver ends the program first


def test_the_client_can_ask_for_a_protective_stop(emulator, client):
    client.control("triggerProtectiveStop")
    eventually(lambda: emulator.state()["safety"] == "PROTECTIVE_STOP")


def test_an_emergency_stop_takes_the_power(emulator, client):
    set_off(emulator, client)
    since = emulator.do("emergency_stop")["time"]
    state = still_within_a_second(emulator, since)
    assert (state["runtime"], state["robot"]) == ("STOPPED", "POWER_OFF")
    assert client.receive("isEmergencyStopped")
    client("dashboard", "powerOn")
    assert emulator.state()["robot"] == "POWER_OFF", "the button is still pressed"
    emulator.do("release_emergency_stop")
    client("dashboard", "powerOn")
    client("dashboard", "brakeRelease")
    assert client("dashboard", "robotmode") == "Robotmode: RUNNING"


def test_the_watchdog_ends_the_program_of_a_dead_client(emulator, client):
    assert client.control("setWatchdog", 5.0)
    set_off(emulator, client)
    for _ in range(20):
        assert client.control("kickWatchdog")
        time.sleep(0.02)
    assert not emulator.state()["still"]
    since = emulator.state()["time"]
    client.close()
    assert still_within_a_second(emulator, since)["runtime"] == "STOPPED"


def test_without_a_watchdog_the_arm_goes_on(emulator, client):
    set_off(emulator, client)
    client.close()
    time.sleep(0.5)
    assert not emulator.state()["still"]


def test_the_slider_holds_the_arm_and_lets_it_go_on(emulator, client):
    set_off(emulator, client)
    since = emulator.do("slider", fraction=0.0)["time"]
    still_within_a_second(emulator, since)
    emulator.do("slider", fraction=1.0)
    eventually(lambda: not emulator.state()["still"])


def test_hard_contact_is_a_protective_stop(emulator, client):
    tool = client.receive("getActualTCPPose")
    emulator.do("obstacle", point=[tool[0] + 0.02, 0, 0], normal=[-1, 0, 0], stiffness=50000.0)
    set_off(emulator, client)
    eventually(lambda: emulator.state()["safety"] == "PROTECTIVE_STOP")


def test_frozen_data_stops_while_the_connection_lives(emulator):
    with RealClient(emulator.address, "receive") as client:
        emulator.do("freeze")
        time.sleep(0.1)
        stamp = client.receive("getTimestamp")
        time.sleep(0.1)
        assert client.receive("getTimestamp") == stamp
        assert client.receive("isConnected")


def test_dropped_connections_are_seen(emulator):
    with RealClient(emulator.address, "receive") as client:
        emulator.do("drop")
        eventually(lambda: not client.receive("isConnected"))


def test_local_control_ignores_scripts_and_orders(emulator):
    emulator.do("local")
    with pytest.raises(RuntimeError, match="remote control"):
        RealClient(emulator.address, "control")
    with RealClient(emulator.address, "dashboard") as client:
        assert not client("dashboard", "isInRemoteControl")
    assert emulator.state()["runtime"] == "STOPPED"


def test_registers_that_others_use_are_refused(emulator):
    emulator.do("claim", names=["input_int_register_0"])
    with pytest.raises(RuntimeError, match="already in use"):
        RealClient(emulator.address, "control")
    with RealClient(emulator.address, "receive", "upper") as client:
        assert client.control("kickWatchdog")
        tool = client.receive("getActualTCPPose")
        assert client.control("moveL", [tool[0] + 0.02, *tool[1:]], 0.3, 1.0)


def test_polyscope_x_has_no_dashboard():
    with EmulatedController("--version", "10.7.0") as other, RealClient(other.address, "receive") as client:
        assert client.receive("isConnected")
        with pytest.raises(OSError, match="refused"):
            socket.create_connection((other.address, 29999), 1.0)


def test_it_ends_with_who_started_it(emulator):
    emulator.kill()
    with pytest.raises(OSError, match=r"gone|reset|pipe"):
        emulator.do("state")


def test_unknown_faults_are_refused(emulator):
    with pytest.raises(ValueError, match="no_such"):
        emulator.do("no_such")
    with pytest.raises(ValueError, match="argument"):
        emulator.do("slider", much=2)
    assert emulator.state()["runtime"] == "STOPPED"


def test_another_plant_can_be_plugged_in():
    name = f"{IdealPlant.__module__}:IdealPlant"
    with EmulatedController("--plant", name) as emulator:
        assert emulator.state()["q"] == list(HOME)


def test_an_address_in_use_is_refused(emulator):
    with pytest.raises(RobotMissing, match="did not start"):
        EmulatedController("--address", emulator.address)

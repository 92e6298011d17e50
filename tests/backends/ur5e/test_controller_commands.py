"""The emulated controller with the real client library: connecting, commands, and what they answer."""

import time

import numpy as np
import pytest
from real_client import RealClient

pytest.importorskip("rtde_control")

from skill2real.backends.ur5e.emulator.controller.handle import EmulatedController

HOME = (0.0, -1.5708, 1.5708, -1.5708, -1.5708, 0.0)


@pytest.fixture(scope="module")
def emulator():
    with EmulatedController() as running:
        yield running


@pytest.fixture(scope="module")
def client(emulator):
    with RealClient(emulator.address, "receive", "control", "dashboard") as connected:
        yield connected


@pytest.fixture(autouse=True)
def at_home(emulator, client):
    emulator.do("clear")
    client.control("moveJ", HOME, 3.0, 8.0)


def eventually(condition, seconds=5.0):
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "it did not come to pass"
        time.sleep(0.02)


def pose(client):
    return np.array(client.receive("getActualTCPPose"))


def moved(client, *step):
    return (pose(client) + np.array([*step, 0, 0, 0])).tolist()


def test_all_interfaces_connect_at_once(emulator, client):
    with RealClient(emulator.address, "io") as io:
        assert io("io", "setSpeedSlider", 0.5)
        eventually(lambda: emulator.state()["slider"] == 0.5)
        assert io("io", "setSpeedSlider", 1.0)
        eventually(lambda: emulator.state()["slider"] == 1.0)
    assert client.receive("isConnected")
    assert client.control("isProgramRunning")
    assert emulator.state()["runtime"] == "PLAYING"
    assert client("dashboard", "polyscopeVersion").startswith("5.12")
    assert client("dashboard", "robotmode") == "Robotmode: RUNNING"
    assert client("dashboard", "running")


def test_two_control_clients_meet_in_the_registers(emulator, client):
    with pytest.raises(RuntimeError, match="already in use"):
        RealClient(emulator.address, "control")


@pytest.mark.parametrize("name", ["moveL", "moveJ_IK"])
def test_moves_to_poses_arrive(client, name):
    target = moved(client, 0.05, 0.03, -0.04)
    assert client.control(name, target, 0.5, 1.5)
    assert np.allclose(pose(client), target, atol=1e-6)


@pytest.mark.parametrize("name", ["moveJ", "moveL_FK"])
def test_moves_to_joints_arrive(client, name):
    target = np.array(HOME) + 0.2
    assert client.control(name, target.tolist(), 0.8, 2.0)
    assert np.allclose(client.receive("getActualQ"), target, atol=1e-6)


def test_a_line_is_straight(emulator, client):
    start, target = pose(client), moved(client, 0.1, 0.1, 0.0)
    client.control("moveL", target, 0.25, 1.0, True)
    along = (np.array(target) - start)[:3]
    along /= np.linalg.norm(along)
    places = []
    eventually(lambda: places.append(pose(client)[:3]) or np.allclose(places[-1], target[:3], atol=1e-5))
    assert len(places) > 10
    assert max(np.linalg.norm(np.cross(place - start[:3], along)) for place in places) < 1e-4


def test_an_asynchronous_move_reports_how_it_goes(client):
    before = client.control("getAsyncOperationProgressEx")[1]
    assert client.control("moveL", moved(client, 0.08, 0.0, 0.0), 0.1, 1.0, True)
    eventually(lambda: client.control("getAsyncOperationProgressEx")[:2] == (True, before + 1))
    eventually(lambda: not client.control("getAsyncOperationProgressEx")[0])


@pytest.mark.parametrize(
    ("name", "wait"), [("stopL", True), ("stopL", False), ("stopJ", True), ("stopJ", False)]
)
def test_a_move_can_be_stopped(emulator, client, name, wait):
    target = moved(client, 0.1, 0.0, 0.0)
    client.control("moveL", target, 0.1, 1.0, True)
    eventually(lambda: not emulator.state()["still"])
    client.control(name, 2.0, not wait)
    eventually(lambda: emulator.state()["still"] and not client.control("getAsyncOperationProgressEx")[0])
    assert np.linalg.norm(pose(client)[:3] - target[:3]) > 0.01


def test_a_path_goes_through_its_waypoints(client):
    start = pose(client)
    path = [[*(start + np.array([0, k * 0.03, 0, 0, 0, 0])), 0.3, 1.0, 0.0] for k in (1, 2)]
    assert client.control("moveL", path)
    assert np.allclose(pose(client), path[-1][:6], atol=1e-6)
    joints = [[*(np.array(HOME) + k * 0.05), 0.8, 2.0, 0.0] for k in (2, 1)]
    assert client.control("moveJ", joints, True)
    seen = set()
    eventually(lambda: seen.add(client.control("getAsyncOperationProgressEx")[2]) or 1 in seen)
    eventually(lambda: not client.control("getAsyncOperationProgressEx")[0])
    assert np.allclose(client.receive("getActualQ"), joints[-1][:6], atol=1e-6)


def test_speeds_go_on_until_they_are_stopped(emulator, client):
    start = pose(client)
    assert client.control("speedL", [0, 0, -0.05, 0, 0, 0], 0.5)
    eventually(lambda: pose(client)[2] < start[2] - 0.02)
    assert client.control("speedStop")
    assert emulator.state()["still"]
    assert client.control("speedJ", [0.2, 0, 0, 0, 0, 0], 1.0)
    eventually(lambda: client.receive("getActualQ")[0] > 0.05)
    assert client.control("speedStop")
    assert emulator.state()["still"]


def test_servoing_follows_its_target(client):
    target = [*HOME[:5], 0.05]
    assert client.control("servoJ", target, 0.5, 0.5, 0.002, 0.1, 300)
    eventually(lambda: np.allclose(client.receive("getActualQ"), target, atol=1e-3))
    assert client.control("servoStop")


def test_contact_ends_a_motion_where_it_was_felt(emulator, client):
    height = pose(client)[2] - 0.05
    emulator.do("obstacle", point=[0, 0, height], normal=[0, 0, 1])
    assert client.control("moveUntilContact", [0, 0, -0.05, 0, 0, 0])
    assert height - 0.002 < pose(client)[2] < height
    assert emulator.state()["still"]


def test_force_mode_pushes_as_hard_as_asked(emulator, client):
    emulator.do("obstacle", point=[0, 0, pose(client)[2] - 0.01], normal=[0, 0, 1], stiffness=5000.0)
    frame, axes, limits = [0.0] * 6, [0, 0, 1, 0, 0, 0], [0.1] * 6
    assert client.control("forceMode", frame, axes, [0, 0, -20, 0, 0, 0], 2, limits)
    eventually(lambda: abs(client.receive("getActualTCPForce")[2] - 20) < 1)
    assert client.control("forceModeStop")
    held = pose(client)
    assert np.allclose(pose(client), held)


def test_the_force_sensor_is_zeroed(emulator, client):
    emulator.do("obstacle", point=[0, 0, pose(client)[2] + 0.001], normal=[0, 0, 1], stiffness=5000.0)
    eventually(lambda: client.receive("getActualTCPForce")[2] > 4)
    assert client.control("zeroFtSensor")
    eventually(lambda: abs(client.receive("getActualTCPForce")[2]) < 1e-9)
    emulator.do("clear")
    assert client.control("zeroFtSensor")


def test_tool_and_payload_are_kept(client):
    bare = pose(client)
    assert client.control("setTcp", [0, 0, 0.1, 0, 0, 0])
    assert np.allclose(client.control("getTCPOffset"), [0, 0, 0.1, 0, 0, 0])
    eventually(lambda: abs(pose(client)[2] - bare[2] + 0.1) < 1e-6)
    assert client.control("setTcp", [0.0] * 6)
    assert client.control("setPayload", 0.9, [0, 0, 0.05])
    eventually(lambda: client.receive("getPayload") == 0.9)


def test_the_controller_computes_kinematics(client):
    here = pose(client)
    assert np.allclose(client.control("getInverseKinematics", here.tolist()), HOME, atol=1e-6)
    near = client.control("getInverseKinematics", here.tolist(), list(HOME), 1e-6, 1e-6)
    assert np.allclose(near, HOME, atol=1e-6)
    assert np.allclose(client.control("getForwardKinematics"), here, atol=1e-6)
    assert client.control("isPoseWithinSafetyLimits", here.tolist())
    assert not client.control("isPoseWithinSafetyLimits", [3.0, 0, 0, 0, 0, 0])
    assert client.control("isJointsWithinSafetyLimits", list(HOME))
    assert client.control("isSteady")


def test_a_pose_out_of_reach_ends_the_script(emulator, client):
    """As on the real controller: the answer is empty and the program is dead."""
    assert client.control("getInverseKinematics", [3.0, 0, 0, 0, 0, 0]) == []
    assert emulator.state()["runtime"] == "STOPPED"
    assert client.control("reuploadScript")
    eventually(lambda: client.control("isProgramRunning"))

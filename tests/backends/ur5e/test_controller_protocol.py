"""The parts of the emulated controller without sockets: frames, recipes, profiles, paths, the safety
system."""

import struct

import numpy as np
import pytest

pytest.importorskip("ur_analytic_ik")

from skill2real.backends.ur5e.emulator.controller.controller import Controller
from skill2real.backends.ur5e.emulator.controller.frames import BadPackage, Kind, Reader, package
from skill2real.backends.ur5e.emulator.controller.kinematics import Chain, NoSolution, matrix, vector
from skill2real.backends.ur5e.emulator.controller.motion import JointMove, LineMove, Trapezoid
from skill2real.backends.ur5e.emulator.controller.plant import HOME, TICK, IdealPlant
from skill2real.backends.ur5e.emulator.controller.recipes import IN_USE, NOT_FOUND, Receiver, inputs, outputs
from skill2real.backends.ur5e.emulator.controller.safety import RobotMode, Safety, SafetyMode


def test_packages_are_cut_wherever_the_bytes_are_split():
    stream = package(Kind.START, b"") + package(Kind.DATA, b"\x01abc")
    for cut in range(len(stream)):
        reader = Reader()
        found = [*reader.feed(stream[:cut]), *reader.feed(stream[cut:])]
        assert found == [(Kind.START, b""), (Kind.DATA, b"\x01abc")]


def test_a_package_shorter_than_its_header_is_refused():
    with pytest.raises(BadPackage, match="2 bytes"):
        list(Reader().feed(b"\x00\x02U"))


def test_recipes_say_what_is_unknown_and_what_is_taken():
    assert outputs(["timestamp", "nonsense"]).types == ("DOUBLE", NOT_FOUND)
    taken = inputs(["input_int_register_0", "input_int_register_1"], lambda name: name.endswith("0"))
    assert taken.types == (IN_USE, "INT32")
    assert not taken.usable


def test_input_values_are_unpacked_by_name():
    receiver = Receiver(inputs(["input_int_register_3", "external_force_torque"], lambda name: False))
    values = receiver.unpack(struct.pack(">i6d", -7, 1, 2, 3, 4, 5, 6))
    assert values == {"input_int_register_3": (-7,), "external_force_torque": (1, 2, 3, 4, 5, 6)}
    with pytest.raises(struct.error):
        receiver.unpack(b"\x00")


@pytest.mark.parametrize(
    ("length", "speed", "acceleration"), [(1.0, 0.5, 2.0), (0.01, 0.5, 2.0), (0.0, 1.0, 1.0)]
)
def test_a_profile_keeps_its_limits_and_arrives(length, speed, acceleration):
    profile = Trapezoid(length, speed, acceleration)
    times = np.arange(0.0, profile.seconds + 0.1, TICK)
    way = np.array([profile.at(time) for time in times])
    rate = np.diff(way) / TICK
    assert rate.max() <= speed + 1e-9
    assert np.abs(np.diff(rate)).max() / TICK <= acceleration * 1.01 + 1e-9
    assert way[-1] == length


def run(motion):
    path = []
    while not motion.finished:
        path.append(motion.advance(TICK))
    return np.array(path)


def test_moves_end_at_their_targets():
    start, target = np.array(HOME), np.array(HOME) + 0.3
    assert np.allclose(run(JointMove(start, target, 1.0, 2.0))[-1], target)
    chain = Chain()
    pose = chain.tool(start)
    pose[:3, 3] += [0.1, 0.05, -0.1]
    path = run(LineMove(chain, start, pose, 0.25, 1.0))
    assert np.allclose(chain.tool(path[-1]), pose, atol=1e-9)
    assert np.abs(np.diff(path, axis=0)).max() < 0.01


def test_a_line_out_of_reach_is_no_line():
    chain = Chain()
    pose = chain.tool(np.array(HOME))
    pose[0, 3] = 2.0
    with pytest.raises(NoSolution):
        run(LineMove(chain, np.array(HOME), pose, 0.5, 1.0))


def test_poses_as_vectors_and_back():
    random = np.random.default_rng(3)
    chain = Chain()
    for joints in random.uniform(-3, 3, (50, 6)):
        pose = chain.tool(joints)
        assert np.allclose(matrix(vector(pose)), pose, atol=1e-12)
        assert np.allclose(chain.tool(chain.solve(pose, joints)), pose, atol=1e-6)


def test_safety_refuses_power_while_the_button_is_pressed():
    safety = Safety()
    safety.press()
    assert not safety.power(RobotMode.IDLE)
    safety.release()
    assert safety.power(RobotMode.RUNNING)
    assert safety.ready


def test_safety_unlocks_only_after_its_delay():
    safety = Safety()
    safety.protect(10.0)
    assert not safety.unlock(14.9)
    assert safety.unlock(15.1)
    assert safety.mode is SafetyMode.NORMAL


def test_the_plant_never_passes_its_hard_stops():
    controller = Controller(IdealPlant())
    controller.motion = JointMove(controller.target, np.full(6, 7.0), 3.0, 20.0)
    for _ in range(5000):
        controller.tick()
    assert np.abs(controller.plant.q).max() <= 2 * np.pi
    assert controller.safety.mode is SafetyMode.PROTECTIVE_STOP
    assert controller.still

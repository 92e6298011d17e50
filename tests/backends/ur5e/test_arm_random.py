"""Random targets through the whole driver: where the arm really was is read from the emulator's track."""

import numpy as np
import pytest

pytest.importorskip("rtde_control")

from emulated_cell import FORCE, LIMITS, TOLERANCE, cell
from test_arm_planning import HIGH, LOW, random_target


def test_random_targets_never_take_the_arm_out_of_its_limits():
    random = np.random.default_rng(11)
    with cell() as (emulator, arm):
        emulator.do("clear_track")
        ends = []
        while ends.count("") < 5:
            target = random_target(random)
            motion = arm.follow([target], 0.5, FORCE, TOLERANCE)
            ends.append(motion.stop)
            if not motion.stop:
                assert np.allclose(arm.state().tool_to_base, target, atol=1e-3)
        state = emulator.state()
    assert set(ends) == {"", "unreachable"}
    low, high = np.array(state["low"]), np.array(state["high"])
    assert (-high[:2] > LOW[:2] - 0.002).all(), "the UR base frame has x and y the other way"
    assert (-low[:2] < HIGH[:2] + 0.002).all()
    assert LOW[2] - 0.002 < low[2] <= high[2] < HIGH[2] + 0.002
    assert low[3:].min() >= LIMITS.joints[0][0]
    assert high[3:].max() <= LIMITS.joints[0][1]

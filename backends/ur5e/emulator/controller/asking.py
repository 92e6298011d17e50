"""Commands of the control script that ask the controller something or set something; the arm stays."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .kinematics import Joints, NoSolution, matrix, vector
from .plant import JOINT_LIMIT, TICK

if TYPE_CHECKING:
    from .script import ControlScript


def solve(script: ControlScript) -> Joints:
    """For the pose in the registers. Raises NoSolution."""
    return script.controller.chain.solve(matrix(script.six(0).tolist()), script.controller.target)


def zero_ftsensor(script: ControlScript) -> None:
    script.controller.bias = script.controller.wrench.copy()


def tool_contact(script: ControlScript) -> None:
    script.answer(1, script.controller.contact(script.six(0)[:3]))


def step_time(script: ControlScript) -> None:
    script.answer_six((TICK,))


def history(script: ControlScript) -> None:
    past = script.controller.past
    script.answer_six(past[max(-len(past), -1 - script.number(1))])


def set_payload(script: ControlScript) -> None:
    script.controller.payload = script.double(0)


def set_tcp(script: ControlScript) -> None:
    script.controller.chain.tcp = matrix(script.six(0).tolist())


def get_tcp(script: ControlScript) -> None:
    script.answer_six(vector(script.controller.chain.tcp))


def inverse_kinematics(script: ControlScript) -> None:
    """Without a solution the script ends, as get_inverse_kin does."""
    script.answer_six(solve(script))


def inverse_kinematics_near(script: ControlScript) -> None:
    script.answer_six(script.controller.chain.solve(matrix(script.six(0).tolist()), script.six(6)))


def has_solution(script: ControlScript) -> None:
    try:
        solve(script)
    except NoSolution:
        script.answer(1, 0)
    else:
        script.answer(1, 1)


def forward_kinematics(script: ControlScript) -> None:
    script.answer_six(vector(script.controller.chain.tool(script.controller.plant.q)))


def forward_kinematics_of(script: ControlScript) -> None:
    """With the tool centre point in the registers after the joints, set or left over."""
    flange = script.controller.chain.flange(script.six(0))
    script.answer_six(vector(flange @ matrix(script.six(6).tolist())))


def pose_trans(script: ControlScript) -> None:
    script.answer_six(vector(matrix(script.six(0).tolist()) @ matrix(script.six(6).tolist())))


def flange_pose(script: ControlScript) -> None:
    script.answer_six(vector(script.controller.chain.flange(script.controller.plant.q)))


def joint_torques(script: ControlScript) -> None:
    script.answer_six(np.zeros(6))


def pose_allowed(script: ControlScript) -> None:
    has_solution(script)


def joints_allowed(script: ControlScript) -> None:
    joints = script.six(0)
    within = np.abs(joints).max() <= JOINT_LIMIT
    script.answer(1, int(within and script.controller.permits(script.controller.chain.tool(joints))))


def steady(script: ControlScript) -> None:
    script.answer(1, int(script.controller.still))


def set_watchdog(script: ControlScript) -> None:
    script.controller.watchdog(script.watched, script.double(0))


def protective_stop(script: ControlScript) -> None:
    script.controller.protective_stop()

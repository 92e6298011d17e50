"""The variables that RTDE clients receive, read from the controller."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from scipy.spatial.transform import Rotation

from ....device import Matrix
from .kinematics import vector
from .plant import TICK
from .recipes import OUTPUTS, REGISTERS

if TYPE_CHECKING:
    from .controller import Controller

_WIDTHS = {"VECTOR6D": 6, "VECTOR3D": 3, "VECTOR6INT32": 6}
_JOINT_RUNNING = 253
_POWER_ON, _PROGRAM_RUNNING = 1, 2

Readers = dict[str, Callable[[], Sequence[float]]]


def readers(controller: Controller) -> Readers:
    """For each variable what gives its numbers now. Currents, temperatures and the like are constant."""
    c = controller
    found: Readers = {name: _constant(kind) for name, kind in OUTPUTS.items()}
    for k in range(REGISTERS):
        found[f"output_int_register_{k}"] = _element(c.registers.int_outputs, k)
        found[f"output_double_register_{k}"] = _element(c.registers.double_outputs, k)
    found |= {
        "timestamp": lambda: (c.time,),
        "target_q": lambda: c.target.tolist(),
        "target_qd": lambda: c.target_speed.tolist(),
        "actual_q": lambda: c.plant.q.tolist(),
        "actual_qd": lambda: c.plant.qd.tolist(),
        "actual_TCP_pose": lambda: vector(c.chain.tool(c.plant.q)),
        "target_TCP_pose": lambda: vector(c.chain.tool(c.target)),
        "actual_TCP_speed": lambda: _tool_speed(c.chain.tool, c.plant.q, c.plant.qd),
        "target_TCP_speed": lambda: _tool_speed(c.chain.tool, c.target, c.target_speed),
        "actual_TCP_force": lambda: c.felt.tolist(),
        "ft_raw_wrench": lambda: c.wrench.tolist(),
        "robot_mode": lambda: (int(c.safety.robot),),
        "safety_mode": lambda: (int(c.safety.mode),),
        "safety_status": lambda: (int(c.safety.mode),),
        "safety_status_bits": lambda: (c.safety.bits,),
        "runtime_state": lambda: (int(c.runtime),),
        "robot_status_bits": lambda: (
            _POWER_ON * (c.safety.robot > 3) + _PROGRAM_RUNNING * (c.runtime >= 2),
        ),
        "speed_scaling": lambda: (c.scale,),
        "target_speed_fraction": lambda: (c.slider,),
        "actual_digital_output_bits": lambda: (c.registers.digital_outputs,),
        "payload": lambda: (c.payload,),
        "joint_mode": lambda: (_JOINT_RUNNING,) * 6,
    }
    return found


def _constant(kind: str) -> Callable[[], Sequence[float]]:
    zero = 0.0 if "D" in kind.removeprefix("VECTOR") and "INT" not in kind else 0
    numbers = (zero,) * _WIDTHS.get(kind, 1)
    return lambda: numbers


def _element(values: Sequence[float], index: int) -> Callable[[], Sequence[float]]:
    return lambda: (values[index],)


def _tool_speed(
    tool: Callable[[np.ndarray], Matrix], joints: np.ndarray, speed: np.ndarray
) -> Sequence[float]:
    """m/s and rad/s in the base frame."""
    if not speed.any():
        return (0.0,) * 6
    now, before = tool(joints), tool(joints - speed * TICK)
    turned = Rotation.from_matrix(now[:3, :3] @ before[:3, :3].T).as_rotvec()
    rates: list[float] = (np.concatenate([now[:3, 3] - before[:3, 3], turned]) / TICK).tolist()
    return rates

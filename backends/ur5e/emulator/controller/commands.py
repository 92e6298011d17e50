"""What each command of the control script does, by its number in ur_rtde 1.6."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from . import acting, asking

if TYPE_CHECKING:
    from .script import ControlScript

Command = Callable[["ControlScript"], Iterator[None] | None]
"""Those that last yield tick by tick; the others return nothing."""

COMMANDS: dict[int, Command] = {
    1: acting.movej,
    2: acting.movej_ik,
    3: acting.movel,
    4: acting.movel_fk,
    45: acting.move_path,
    6: acting.force_mode,
    7: acting.force_mode_stop,
    8: asking.zero_ftsensor,
    9: acting.speedj,
    10: acting.speedl,
    15: acting.speed_stop,
    11: acting.servoj,
    24: acting.servol,
    12: acting.servoc,
    16: acting.speed_stop,
    33: acting.stop,
    34: acting.stop,
    41: acting.jog,
    42: acting.jog_stop,
    17: asking.set_payload,
    65: asking.set_payload,
    29: asking.set_tcp,
    40: asking.get_tcp,
    25: asking.tool_contact,
    51: acting.move_until_contact,
    62: acting.contact_start,
    63: acting.contact_stop,
    64: acting.contact_read,
    254: acting.contact_seen,
    26: asking.step_time,
    27: asking.history,
    38: asking.joint_torques,
    58: asking.flange_pose,
    30: asking.inverse_kinematics_near,
    46: asking.inverse_kinematics,
    60: asking.has_solution,
    61: asking.has_solution,
    43: asking.forward_kinematics,
    44: asking.forward_kinematics_of,
    39: asking.pose_trans,
    31: asking.protective_stop,
    35: asking.set_watchdog,
    36: asking.pose_allowed,
    37: asking.joints_allowed,
    47: asking.steady,
}

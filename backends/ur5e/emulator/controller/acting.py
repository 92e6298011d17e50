"""Commands of the control script that move the arm. Those that last yield tick by tick.

Joints, poses and speeds come in double registers 0–5, then speed and acceleration; integer register 1 says
whether a motion is asynchronous.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .asking import solve
from .forcing import ForceMode
from .kinematics import Joints, matrix
from .motion import JointMove, JointSpeed, LineMove, Motion, Servo, ToolSpeed
from .plant import TICK

if TYPE_CHECKING:
    from .script import ControlScript

Steps = Iterator[None]

_CONTACT_SEEN = 254  # what the contact thread asks the main loop to do
_LINE_SPEED, _LINE_ACCELERATION = 0.25, 1.2  # m/s, m/s²: movel's defaults
_CONTACT_STOP, _FORCE_STOP, _JOG_STOP = 3.0, 10.0, 1.2  # m/s²: decelerations in the script


def _joint_move(script: ControlScript, target: Joints) -> Motion:
    return JointMove(script.controller.origin, target, script.double(6), script.double(7))


def _line_move(script: ControlScript, target: NDArray[np.float64]) -> Motion:
    c = script.controller
    return LineMove(c.chain, c.origin, target, script.double(6), script.double(7))


def _move(script: ControlScript, motion: Motion) -> Steps | None:
    stop_moving(script)
    if script.number(1) != 1:
        return script.wait(motion)
    script.run("move", _operation(script, script.wait(motion)))
    return None


def _operation(script: ControlScript, steps: Steps) -> Steps:
    """A thread that reports how it goes on."""
    script.progress(0)
    yield from steps
    script.progress(-1)


def stop_moving(script: ControlScript) -> None:
    """Ends the thread of an asynchronous move; the arm itself goes on until it is told otherwise."""
    if script.kill("move"):
        script.progress(-1)


def movej(script: ControlScript) -> Steps | None:
    return _move(script, _joint_move(script, script.six(0)))


def movej_ik(script: ControlScript) -> Steps | None:
    return _move(script, _joint_move(script, solve(script)))


def movel(script: ControlScript) -> Steps | None:
    return _move(script, _line_move(script, matrix(script.six(0).tolist())))


def movel_fk(script: ControlScript) -> Steps | None:
    return _move(script, _line_move(script, script.controller.chain.tool(script.six(0))))


def move_path(script: ControlScript) -> Steps | None:
    stop_moving(script)
    if script.number(1) != 1:
        return _path(script, False)
    script.run("move", _operation(script, _path(script, True)))
    return None


def _path(script: ControlScript, report: bool) -> Steps:
    """Waypoint by waypoint, without blending."""
    c = script.controller
    for point in script.path:
        if report and point.progress > 0:
            script.progress(point.progress)
        target = np.array(point.target)
        if point.joint_move:
            joints = c.chain.solve(matrix(point.target), c.target) if point.pose else target
            yield from script.wait(JointMove(c.origin, joints, point.speed, point.acceleration))
        else:
            pose = matrix(point.target) if point.pose else c.chain.tool(target)
            yield from script.wait(LineMove(c.chain, c.origin, pose, point.speed, point.acceleration))


def stop(script: ControlScript) -> Steps | None:
    """stopL and stopJ alike: the script itself stops the joints when it waits, the tool when it does not."""
    c = script.controller
    if script.kill("stop"):
        script.progress(-1)
    stop_moving(script)
    if script.number(1) != 1:
        return script.wait(c.halted(script.double(0), 0.0))
    script.run("stop", _operation(script, script.wait(c.halted(0.0, script.double(0)))))
    return None


def speedj(script: ControlScript) -> None:
    c = script.controller
    if not isinstance(c.motion, JointSpeed):
        c.motion = JointSpeed(c.origin, c.target_speed)
    c.motion.target, c.motion.acceleration = script.six(0), script.double(6)


def speedl(script: ControlScript) -> None:
    _go_at(script, script.six(0), script.double(6))


def _go_at(script: ControlScript, speed: NDArray[np.float64], acceleration: float) -> None:
    c = script.controller
    if not isinstance(c.motion, ToolSpeed):
        c.motion = ToolSpeed(c.chain, c.origin)
    c.motion.target, c.motion.acceleration = speed, acceleration


def speed_stop(script: ControlScript) -> Steps:
    """Of the tool after speedl, else of the joints."""
    c = script.controller
    tool = isinstance(c.motion, ToolSpeed)
    return script.wait(c.halted(0.0, script.double(0)) if tool else c.halted(script.double(0), 0.0))


def servoj(script: ControlScript) -> None:
    _serve(script, script.six(0), script.double(9))


def servol(script: ControlScript) -> None:
    _serve(script, solve(script), script.double(9))


def servoc(script: ControlScript) -> None:
    _serve(script, solve(script), 0.1)


def _serve(script: ControlScript, target: Joints, lookahead: float) -> None:
    c = script.controller
    if not isinstance(c.motion, Servo):
        c.motion = Servo(c.origin)
    c.motion.target, c.motion.lookahead = target, max(lookahead, TICK)


def jog(script: ControlScript) -> None:
    """In the base's frame or the tool's, as this is now."""
    speed = script.six(0)
    if script.double(6) == 1:
        turn = script.controller.chain.tool(script.controller.plant.q)[:3, :3]
        speed = np.concatenate([turn @ speed[:3], turn @ speed[3:]])
    _go_at(script, speed, script.double(7) or 0.5)


def jog_stop(script: ControlScript) -> Steps:
    return script.wait(script.controller.halted(0.0, _JOG_STOP))


def force_mode(script: ControlScript) -> None:
    c = script.controller
    frame, selection = (
        matrix(script.six(0).tolist()),
        np.array([float(script.number(2 + k)) for k in range(6)]),
    )
    if c.force_mode is None:
        c.force_mode = ForceMode(frame, selection, script.six(6), script.six(12))
    mode = c.force_mode
    mode.frame, mode.selection, mode.wrench, mode.limits = frame, selection, script.six(6), script.six(12)


def force_mode_stop(script: ControlScript) -> Steps:
    script.controller.force_mode = None
    return script.wait(script.controller.halted(0.0, _FORCE_STOP))


def move_until_contact(script: ControlScript) -> Steps:
    """Without a direction, contact is looked for where the tool goes."""
    c, speed = script.controller, script.six(0)
    direction = script.six(6)[:3]
    if not direction.any():
        direction = speed[:3]
    while not c.contact(direction):
        _go_at(script, speed, script.double(12))
        yield
    yield from _back(script, c.past[-1])


def _back(script: ControlScript, touched: Joints) -> Steps:
    """Stops, and goes back to where the contact was first seen."""
    c = script.controller
    yield from script.wait(c.halted(0.0, _CONTACT_STOP))
    yield from script.wait(
        LineMove(c.chain, c.origin, c.chain.tool(touched), _LINE_SPEED, _LINE_ACCELERATION)
    )


def contact_start(script: ControlScript) -> None:
    script.kill("contact")
    script.run("contact", _contact(script, script.six(0)[:3]))


def _contact(script: ControlScript, direction: NDArray[np.float64]) -> Steps:
    c, before = script.controller, script.controller.chain.tool(script.controller.plant.q)
    while True:
        now = c.chain.tool(c.plant.q)
        along = direction if direction.any() else now[:3, 3] - before[:3, 3]
        before = now
        if c.contact(along):
            script.internal = _CONTACT_SEEN
            script.answer(1, 1)
            return
        yield


def contact_stop(script: ControlScript) -> None:
    script.answer(1, 0 if script.kill("contact") else 1)


def contact_read(script: ControlScript) -> None:
    script.answer(1, 0 if script.runs("contact") else 1)


def contact_seen(script: ControlScript) -> Steps:
    stop_moving(script)
    return _back(script, script.controller.past[-1])

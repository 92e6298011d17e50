"""The controller without its sockets: one tick moves the arm, runs the program and watches over both."""

from collections import deque
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ....device import Matrix
from .forcing import ForceMode, Obstacle, about_tool
from .kinematics import Chain, Joints, NoSolution
from .motion import Halt, Motion
from .outputs import readers
from .plant import JOINT_LIMIT, JOINT_SPEED, TICK, Plant
from .recipes import Numbers
from .registers import Registers
from .safety import RobotMode, RuntimeState, Safety
from .script import ControlScript

CONTACT_FORCE = 10.0  # N: what tool_contact calls a contact
STOP_FORCE = 150.0  # N: the safety system's limit, a protective stop
_SCALE_STEP = TICK / 0.2  # a stop along the path takes 0.2 s from full speed
_HALT = 8.0  # rad/s²: when the program ends in mid-move
_SLOWEST_STOP = 0.1  # rad/s² or m/s²
_STILL = 1e-3  # rad/s
_MEMORY = 200  # ticks of joint positions that are kept


@dataclass
class Track:
    """Where the arm has been since it was last cleared. moved: when (s) it last moved. low, high: of the tool
    centre point in the UR base frame (m) and of the joints (rad)."""

    moved: float = 0.0
    low: NDArray[np.float64] = field(default_factory=lambda: np.full(9, np.inf))
    high: NDArray[np.float64] = field(default_factory=lambda: np.full(9, -np.inf))

    def add(self, place: NDArray[np.float64], joints: Joints, time: float, moving: bool) -> None:
        both = np.concatenate([place, joints])
        self.low, self.high = np.minimum(self.low, both), np.maximum(self.high, both)
        if moving:
            self.moved = time


class Controller:
    """An emulated UR5e controller. version: of PolyScope. remote: whether it takes commands from the
    network."""

    def __init__(
        self, plant: Plant, version: tuple[int, int, int] = (5, 12, 0), safety: Safety | None = None
    ) -> None:
        self.plant, self.version, self.remote = plant, version, True
        self.safety = safety or Safety()
        self.chain = Chain()
        self.registers = Registers()
        self.ticks, self.slider, self.scale, self.payload = 0, 1.0, 1.0, 0.0
        self.runtime = RuntimeState.STOPPED
        self.program: ControlScript | None = None
        self.target: Joints = plant.q.copy()
        self.target_speed: Joints = np.zeros(6)
        self.motion: Motion | None = None
        self.force_mode: ForceMode | None = None
        self.obstacle: Obstacle | None = None
        self.plane: Obstacle | None = None  # of the safety settings
        self.wrench = self.bias = np.zeros(6)
        self.past: deque[Joints] = deque([self.target], _MEMORY)
        self.track = Track()
        self._watched, self._period, self._kicked = "", 0.0, 0.0
        self.readers = readers(self)

    @property
    def time(self) -> float:
        """Seconds since it was switched on: the RTDE timestamp."""
        return self.ticks * TICK

    @property
    def felt(self) -> NDArray[np.float64]:
        """What acts on the tool from outside since the sensor was zeroed, in the UR base frame."""
        difference: NDArray[np.float64] = self.wrench - self.bias
        return difference

    @property
    def origin(self) -> Joints:
        """Where a motion begins; in force mode, how far the arm gave way comes on top of it."""
        mode = self.force_mode
        return self.target if mode is None or mode.rest is None else mode.rest

    @property
    def still(self) -> bool:
        return float(np.abs(self.plant.qd).max()) < _STILL

    def tick(self) -> None:
        """2 ms."""
        self.ticks += 1
        if self.runtime is RuntimeState.PLAYING:
            self._run()
        moving = self.safety.ready and self.runtime is not RuntimeState.PAUSED
        wanted = self.slider if moving else 0.0
        self.scale += float(np.clip(wanted - self.scale, -_SCALE_STEP, _SCALE_STEP))
        self._move()
        tool = self._sense()
        self.track.add(tool[:3, 3], self.plant.q, self.time, not self.still)

    def set(self, name: str, numbers: Numbers) -> None:
        """What an RTDE client sets."""
        self.registers.set(name, numbers)
        if name == self._watched:
            self._kicked = self.time
        if name == "speed_slider_fraction":
            self.slider = min(max(numbers[0], 0.0), 1.0)

    def load(self, text: str) -> None:
        """A script that came over the network; ignored in silence where the robot takes none."""
        if self.remote and self.safety.ready and ControlScript.recognises(text):
            self.stop()
            self.program = ControlScript(self, text)
            self.runtime = RuntimeState.PLAYING

    def stop(self) -> None:
        """Ends the program; the arm comes to rest."""
        self.program, self.force_mode = None, None
        self.runtime = RuntimeState.STOPPED
        self._watched = ""
        self.halted(_HALT, 0.0)

    def pause(self) -> None:
        if self.runtime is RuntimeState.PLAYING:
            self.runtime = RuntimeState.PAUSED

    def play(self) -> bool:
        """Goes on with a paused program: the arm moves again."""
        if self.runtime is not RuntimeState.PAUSED or not self.safety.ready:
            return False
        self.runtime = RuntimeState.PLAYING
        self._kicked = self.time
        return True

    def protective_stop(self) -> None:
        """The arm stops on its path; the program is paused."""
        self.safety.protect(self.time)
        self.pause()

    def emergency_stop(self) -> None:
        self.safety.press()
        self.stop()

    def watchdog(self, register: str, frequency: float) -> None:
        """The program ends when this input register is set less often than this (Hz)."""
        self._watched, self._period, self._kicked = register, 1.0 / max(frequency, 1e-3), self.time

    def halted(self, joint: float, tool: float) -> Motion:
        """Starts to bring the arm to rest, decelerating joints (rad/s²) or tool (m/s²); 0 for whichever it is
        not."""
        turning = float(np.abs(self.target_speed).max())
        seconds = turning / max(joint, _SLOWEST_STOP) if joint else 0.0
        if tool:
            ahead = self.chain.tool(self.target + self.target_speed * TICK)[:3, 3]
            way = float(np.linalg.norm(ahead - self.chain.tool(self.target)[:3, 3]))
            seconds = max(way / TICK / max(tool, _SLOWEST_STOP), turning / _HALT)
        self.motion = Halt(self.origin, self.target_speed, seconds)
        return self.motion

    def contact(self, direction: NDArray[np.float64]) -> int:
        """tool_contact: ticks since something was touched in a direction (base frame); 0 for no contact."""
        length = float(np.linalg.norm(direction))
        if length < 1e-9 or float(-self.felt[:3] @ direction) / length < CONTACT_FORCE:
            return 0
        return 1

    def permits(self, tool: Matrix) -> bool:
        """Whether the safety settings allow the tool there."""
        return self.plane is None or not self.plane.force(tool[:3, 3]).any()

    def _run(self) -> None:
        if self._watched and self.time - self._kicked > self._period:
            self.stop()
        elif self.program is not None:
            try:
                going = self.program.step()
            except NoSolution:  # a runtime error of the script
                going = False
            if not going and self.program is not None:
                self.stop()

    def _move(self) -> None:
        target, moving = self.target, self.motion is not None
        if self.motion is not None:
            passes = TICK if isinstance(self.motion, Halt) else TICK * self.scale
            try:
                target = self.motion.advance(passes)
            except NoSolution:
                self.motion = None
                self.protective_stop()
            else:
                if self.motion.finished:
                    self.motion = None
        if self.force_mode is not None:
            target = self._compliant(target if moving else None)
        speed = (target - self.target) / TICK
        if np.abs(speed).max() > 1.1 * JOINT_SPEED or np.abs(target).max() > JOINT_LIMIT:
            self.motion = None  # a jump, as beside a singularity
            self.protective_stop()
            target, speed = self.target, np.zeros(6)
        self.target, self.target_speed = target, speed
        self.plant.step(target, speed)
        self.past.append(self.plant.q.copy())

    def _compliant(self, wanted: Joints | None) -> Joints:
        """wanted: what a motion asks for; None to stay."""
        mode = self.force_mode
        assert mode is not None
        mode.rest = self.origin if wanted is None else wanted
        mode.yield_to(self.felt, TICK * self.scale)
        return mode.bend(self.chain, mode.rest, self.target)

    def _sense(self) -> Matrix:
        """Feels what acts on the tool. Returns where that is."""
        flange = self.chain.flange(self.plant.q)
        tool = flange @ self.chain.tcp
        wrench = about_tool(self.plant.wrench(), flange, tool)
        if self.obstacle is not None:
            wrench[:3] += self.obstacle.force(tool[:3, 3])
        self.wrench = wrench
        if np.linalg.norm(wrench[:3]) > STOP_FORCE or not self.permits(tool):
            self.protective_stop()
        return tool

    def power(self, robot: RobotMode) -> bool:
        """Power and brakes, as the Dashboard switches them."""
        if robot is RobotMode.POWER_OFF:
            self.stop()
        return self.safety.power(robot)

"""The simulated cell as a Device: frames, motion, gripper, and nothing else of the simulator."""

import zlib
from collections.abc import Callable
from typing import Any

import numpy as np

from ..device import ArmState, Facts, Frame, Matrix, Motion
from . import depth as depth_camera
from .arm import inverse, pose
from .control import Control, toward
from .errors import SimError
from .library import load
from .limb import Limb
from .rendering import Renderer
from .scene import Scene
from .trajectory import Trajectory, across, plan, reach, time

CAMERAS = {"scene": "agentview", "wrist": "robot0_eye_in_hand"}
SECOND_WRIST = {"second_wrist": "robot1_eye_in_hand"}
_OPENCV = np.diag([1.0, -1.0, -1.0])  # MuJoCo's cameras look along -z with y up
_BOX_X, _BOX_Y, _BOX_HEIGHT = (0.0, 0.95), (-0.7, 0.7), 0.9
_BELOW = 0.02  # m, of the box under the table's top
_HOME_SPEED = 0.4


class SimDevice:
    """One or two arms with parallel grippers, a camera on a stand ("scene") and one on each hand ("wrist",
    "second_wrist").

    size: width and height of pictures. seed: of the depth noise.
    """

    def __init__(self, scene: Scene, renderer: Renderer, size: tuple[int, int], seed: str) -> None:
        self._scene, self._size, self._seed = scene, size, zlib.crc32(seed.encode())
        self._renderer = renderer
        self._frames, self._episode = 0, scene.episode
        self._model, self._data = scene.model, scene.data
        limbs = {
            name: Limb(self._model, self._data, arm, scene.kinematics[name])
            for name, arm in scene.arms.items()
        }
        self.control = Control(self._model, self._data, limbs)
        self._arms = tuple(limbs)
        self._base_to_world = limbs[self._arms[0]].arm.base_to_world
        self._to_base = inverse(self._base_to_world)
        cameras = CAMERAS | SECOND_WRIST if len(limbs) > 1 else CAMERAS
        self._cameras = {name: self._model.camera(camera).id for name, camera in cameras.items()}
        self._facts = self._describe()
        self.captured: Callable[[int, str, Matrix, Matrix, tuple[int, int]], None] = lambda *picture: None

    def facts(self) -> Facts:
        return self._facts

    def frame(self, camera: str) -> Frame:
        """Renders now. Raises KeyError for an unknown camera, RenderingMissing without OpenGL."""
        self.alive()
        index = self._cameras[camera]
        self._kinematics()
        width, height = self._size
        colour, true = self._renderer.render(self._data, index, width, height)
        focal = 0.5 * height / np.tan(0.5 * np.deg2rad(self._model.cam_fovy[index]))
        intrinsics = np.array(
            [[focal, 0.0, width / 2 - 0.5], [0.0, focal, height / 2 - 0.5], [0.0, 0.0, 1.0]]
        )
        self._frames += 1
        generator = np.random.default_rng([self._seed, self._frames])
        camera_to_base = self._to_base @ self._camera_pose(camera)
        self.captured(self._frames, camera, intrinsics, camera_to_base, self._size)
        return Frame(
            camera=camera,
            colour=colour,
            depth=depth_camera.measure(true, focal, generator),
            intrinsics=intrinsics,
            camera_to_base=camera_to_base,
        )

    def arm(self, arm: str) -> ArmState:
        limb = self._limb(arm)
        return ArmState(limb.tool, limb.width, float(np.linalg.norm(limb.force)), limb.holding)

    def reachable(self, arm: str, targets: list[Matrix]) -> int:
        limb = self._limb(arm)
        inside = 0
        while inside < len(targets) and self._inside(targets[inside]):
            inside += 1
        return len(reach(limb.kinematics, limb.goal, targets[:inside]))

    def follow(
        self,
        arm: str,
        targets: list[Matrix],
        speed: float,
        force: float,
        press: float,
        tolerance: float,
        also: tuple[str, Matrix] | None,
    ) -> Motion:
        limb = self._limb(arm)
        if not targets:
            return Motion("", 0, 0.0, 0.0, False)
        path = self._plan(limb, targets, speed, 0.0)
        if isinstance(path, int):
            return self._refused(limb, path, targets[-1])
        if also is None:
            return self.control.follow(arm, path, force, press, tolerance)
        other = self._limb(also[0])
        second = self._plan(other, [also[1]], speed, path.seconds)
        if isinstance(second, int):
            return self._refused(other, 0, also[1])
        if second.seconds > path.seconds:
            slower = self._plan(limb, targets, speed, second.seconds)
            assert not isinstance(slower, int)
            path = slower
        return self.control.follow(arm, path, force, press, tolerance, (also[0], second))

    def touch(self, arm: str, direction: Matrix, distance: float, speed: float, force: float) -> Motion:
        """direction: 3 numbers in the base frame. Goes as far as the arm's limits allow."""
        limb = self._limb(arm)
        path = toward(limb, np.asarray(direction, dtype=np.float64), distance, speed, self.control.tick)
        if path is None:
            return self._refused(limb, 0, limb.tool)
        return self.control.touch(arm, path, force)

    def grip(self, arm: str, width: float, force: float) -> Motion:
        self._limb(arm)
        return self.control.grip(arm, width, force)

    def home(self, arm: str) -> Motion:
        limb = self._limb(arm)
        rest = across(limb.goal, limb.kinematics.rest)
        path = time(limb.kinematics, limb.goal, [rest], _HOME_SPEED, self.control.tick)
        return self.control.follow(arm, path, 40.0, 0.0, 0.01)

    def snapshot(self) -> tuple[Any, ...]:
        """What it keeps beside the scene: the noise of the next picture depends on the number before."""
        return self._frames, self.control.snapshot()

    def restore(self, kept: tuple[Any, ...]) -> None:
        """Sets what `snapshot` took. The device is that of the scene's present episode from now on."""
        self._frames, control = kept
        self.control.restore(control)
        self._episode = self._scene.episode

    def alive(self) -> None:
        """Raises SimError if the scene has been opened for another episode since."""
        if self._episode != self._scene.episode:
            raise SimError("This world is over: its scene has been opened for another episode.")

    def _describe(self) -> Facts:
        self._kinematics()
        limbs = self.control.limbs
        first = limbs[self._arms[0]].arm
        table = float(self._scene.table - self._base_to_world[2, 3])
        fingers = self._model.jnt_range[first.fingers]
        wrists = dict(zip(list(self._cameras)[1:], self._arms, strict=True))
        roots = {name: limb.arm.root_to_base for name, limb in limbs.items()}
        far = max(_BOX_X[1], *(float(root[0, 3]) for root in roots.values()))
        return Facts(
            box=((_BOX_X[0], far), _BOX_Y, (table - _BELOW, table + _BOX_HEIGHT)),
            cameras=tuple(self._cameras),
            arms=self._arms,
            max_width=float((fingers[:, 1] - fingers[:, 0]).sum()),
            hand_width=first.hand_width,
            finger_length=first.finger_length,
            wrist_cameras={
                camera: inverse(limbs[arm].tool) @ self._to_base @ self._camera_pose(camera)
                for camera, arm in wrists.items()
            },
            camera_arm=wrists,
            roots=roots,
        )

    def _camera_pose(self, camera: str) -> Matrix:
        """Pose of a camera in the world, in OpenCV's convention."""
        index = self._cameras[camera]
        return pose(self._data.cam_xpos[index], self._data.cam_xmat[index].reshape(3, 3) @ _OPENCV)

    def _kinematics(self) -> None:
        """Brings poses up to the present joints; the next physics step does not notice."""
        mujoco = load().mujoco
        mujoco.mj_kinematics(self._model, self._data)
        mujoco.mj_comPos(self._model, self._data)
        mujoco.mj_camlight(self._model, self._data)

    def _inside(self, target: Matrix) -> bool:
        return all(
            low <= value <= high for value, (low, high) in zip(target[:3, 3], self._facts.box, strict=True)
        )

    def _plan(self, limb: Limb, targets: list[Matrix], speed: float, seconds: float) -> Trajectory | int:
        for index, target in enumerate(targets):
            if not self._inside(target):
                return index
        return plan(limb.kinematics, limb.goal, targets, speed, self.control.tick, seconds)

    def _refused(self, limb: Limb, done: int, last: Matrix) -> Motion:
        error = float(np.linalg.norm(last[:3, 3] - limb.tool[:3, 3]))
        return Motion("unreachable", done, error, 0.0, False)

    def _limb(self, arm: str) -> Limb:
        self.alive()
        if arm not in self._arms:
            raise SimError(f"There is no arm {arm!r}; this cell has {' and '.join(self._arms)}.")
        return self.control.limbs[arm]

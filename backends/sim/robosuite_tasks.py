"""robosuite's tasks. Their initial states are seeds: robosuite samples the placements.

Cube restack is not one of robosuite's own. As in the work that introduced it (CaP-X), it is the Stack
environment with the green cube standing on the red one at the start; the red one has to end on the green
one, so the green one has to be put aside first. Here the instruction says so.
"""

from dataclasses import dataclass

ROBOSUITE = "robosuite"
SEEDS = 1000  # initial states offered for each task


@dataclass(frozen=True)
class RobosuiteTask:
    """name: short and unique. goal: what the environment's check stands for. steps: conditions on the way,
    which need not hold in the end: "beside" is on the same surface, near. fixed: bodies that are targets.
    environment: its name in robosuite, "" for the same. arms: how many. stacked: a thing, and another that
    stands on it at the start. camera: where the scene camera stands in the world, where robosuite's own place
    does not show the table."""

    name: str
    instruction: str
    goal: tuple[tuple[str, ...], ...]
    fixed: tuple[str, ...] = ()
    environment: str = ""
    arms: int = 1
    stacked: tuple[str, str] | None = None
    steps: tuple[tuple[str, ...], ...] = ()
    camera: tuple[float, float, float] | None = None


_PEGS, _BINS = ("peg1", "peg2"), ("bin1", "bin2")
_SQUARE, _ROUND = ("on", "SquareNut", "peg1"), ("on", "RoundNut", "peg2")

TASKS = (
    RobosuiteTask("Lift", "lift the red cube", (("lifted", "cube"),)),
    RobosuiteTask("Stack", "stack the red cube on the green cube", (("on", "cubeA", "cubeB"),)),
    RobosuiteTask("NutAssemblySquare", "put the square nut on the square peg", (_SQUARE,), _PEGS),
    RobosuiteTask("NutAssemblyRound", "put the round nut on the round peg", (_ROUND,), _PEGS),
    RobosuiteTask(
        "NutAssembly",
        "put the square nut on the square peg and the round nut on the round peg",
        (_SQUARE, _ROUND),
        _PEGS,
    ),
    RobosuiteTask("PickPlaceCan", "put the can in its bin", (("in", "Can", "bin2"),), _BINS),
    RobosuiteTask("PickPlaceMilk", "put the milk carton in its bin", (("in", "Milk", "bin2"),), _BINS),
    RobosuiteTask("PickPlaceCereal", "put the cereal box in its bin", (("in", "Cereal", "bin2"),), _BINS),
    RobosuiteTask("PickPlaceBread", "put the bread in its bin", (("in", "Bread", "bin2"),), _BINS),
    RobosuiteTask("Door", "open the door", (("open", "Door"),)),
    RobosuiteTask("Wipe", "wipe the dirt off the table", (("clean", "table"),), ("table",)),
    RobosuiteTask(
        "Restack",
        "put the green cube next to the red cube and stack the red cube on the green cube",
        (("on", "cubeA", "cubeB"),),
        environment="Stack",
        steps=(("beside", "cubeB", "cubeA"),),
        stacked=("cubeA", "cubeB"),
    ),
    RobosuiteTask("TwoArmLift", "lift the pot with both arms", (("lifted", "pot"),), arms=2),
    RobosuiteTask(
        "TwoArmHandover",
        "lift the hammer and hand it over to the other arm",
        (("handed", "hammer"),),
        arms=2,
        camera=(1.5, 0.0, 2.5),
    ),
)

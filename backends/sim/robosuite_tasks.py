"""robosuite's single-arm tasks. Their initial states are seeds: robosuite samples the placements."""

from dataclasses import dataclass

ROBOSUITE = "robosuite"
SEEDS = 1000  # initial states offered for each task


@dataclass(frozen=True)
class RobosuiteTask:
    """name: of robosuite's environment. goal: what its check stands for. fixed: bodies that are targets."""

    name: str
    instruction: str
    goal: tuple[tuple[str, ...], ...]
    fixed: tuple[str, ...] = ()


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
)

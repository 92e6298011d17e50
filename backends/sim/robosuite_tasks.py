"""robosuite's single-arm tasks. Their initial states are seeds: robosuite samples the placements."""

from dataclasses import dataclass

ROBOSUITE = "robosuite"
SEEDS = 1000  # initial states offered for each task


@dataclass(frozen=True)
class RobosuiteTask:
    """name: robosuite's environment.."""

    name: str
    instruction: str
    options: tuple[tuple[str, object], ...] = ()


TASKS = (
    RobosuiteTask("Lift", "lift the red cube"),
    RobosuiteTask("Stack", "stack the red cube on the green cube"),
    RobosuiteTask("NutAssemblySquare", "put the square nut on the square peg"),
    RobosuiteTask("NutAssemblyRound", "put the round nut on the round peg"),
    RobosuiteTask("NutAssembly", "put the square nut on the square peg and the round nut on the round peg"),
    RobosuiteTask("PickPlaceCan", "put the can in its bin"),
    RobosuiteTask("PickPlaceMilk", "put the milk carton in its bin"),
    RobosuiteTask("PickPlaceCereal", "put the cereal box in its bin"),
    RobosuiteTask("PickPlaceBread", "put the bread in its bin"),
    RobosuiteTask("Door", "open the door"),
    RobosuiteTask("Wipe", "wipe the dirt off the table"),
)

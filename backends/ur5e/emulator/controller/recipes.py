"""What an RTDE client may ask for and set, and the recipes that pick from it.

A recipe is a list of variable names; its packages carry their values in that order. An output recipe fixes
what the client receives, an input recipe what it may set.
"""

import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from .frames import CODES

REGISTERS = 48  # of integers and of doubles, each way; clients use 0–23, or 24–47
NOT_FOUND, IN_USE = "NOT_FOUND", "IN_USE"

Numbers = tuple[float, ...]

_SIX_NUMBERS = """
target_q target_qd target_qdd target_current target_moment actual_q actual_qd actual_current
joint_control_output actual_TCP_pose actual_TCP_speed actual_TCP_force target_TCP_pose target_TCP_speed
joint_temperatures actual_joint_voltage ft_raw_wrench payload_inertia
"""
_NUMBER = """
timestamp actual_execution_time speed_scaling target_speed_fraction actual_momentum actual_main_voltage
actual_robot_voltage actual_robot_current standard_analog_input0 standard_analog_input1
standard_analog_output0 standard_analog_output1 payload tcp_force_scalar
"""
_BYTE_INPUT = """
standard_digital_output_mask standard_digital_output configurable_digital_output_mask
configurable_digital_output tool_digital_output_mask tool_digital_output standard_analog_output_mask
standard_analog_output_type
"""

OUTPUTS = {
    **dict.fromkeys(_SIX_NUMBERS.split(), "VECTOR6D"),
    **dict.fromkeys(_NUMBER.split(), "DOUBLE"),
    **dict.fromkeys(("actual_tool_accelerometer", "elbow_position", "payload_cog"), "VECTOR3D"),
    **dict.fromkeys(("actual_digital_input_bits", "actual_digital_output_bits"), "UINT64"),
    **dict.fromkeys(("robot_mode", "safety_mode", "safety_status"), "INT32"),
    **dict.fromkeys(("runtime_state", "robot_status_bits", "safety_status_bits"), "UINT32"),
    "joint_mode": "VECTOR6INT32",
    **{f"output_int_register_{k}": "INT32" for k in range(REGISTERS)},
    **{f"output_double_register_{k}": "DOUBLE" for k in range(REGISTERS)},
}

INPUTS = {
    **{f"input_int_register_{k}": "INT32" for k in range(REGISTERS)},
    **{f"input_double_register_{k}": "DOUBLE" for k in range(REGISTERS)},
    **dict.fromkeys(_BYTE_INPUT.split(), "UINT8"),
    **dict.fromkeys(
        ("speed_slider_fraction", "standard_analog_output_0", "standard_analog_output_1"), "DOUBLE"
    ),
    "speed_slider_mask": "UINT32",
    "external_force_torque": "VECTOR6D",
}


@dataclass(frozen=True)
class Recipe:
    """names: variables in order. types: what the controller answers, one for each name; not all may be
    types."""

    names: tuple[str, ...]
    types: tuple[str, ...]

    @property
    def usable(self) -> bool:
        return all(kind in CODES for kind in self.types)

    def layout(self) -> struct.Struct:
        return struct.Struct(">" + "".join(CODES[kind] for kind in self.types))


def outputs(names: Iterable[str]) -> Recipe:
    """The recipe of what a client wants to receive."""
    names = tuple(names)
    return Recipe(names, tuple(OUTPUTS.get(name, NOT_FOUND) for name in names))


def inputs(names: Iterable[str], taken: Callable[[str], bool]) -> Recipe:
    """The recipe of what a client wants to set. taken: whether another client sets this variable."""
    names = tuple(names)
    return Recipe(names, tuple(IN_USE if taken(name) else INPUTS.get(name, NOT_FOUND) for name in names))


class Sender:
    """Packs the values of an output recipe. read: what gives the numbers of each variable."""

    def __init__(self, recipe: Recipe, read: Mapping[str, Callable[[], Sequence[float]]]) -> None:
        self._read, self._layout = [read[name] for name in recipe.names], recipe.layout()

    def pack(self) -> bytes:
        flat: list[float] = []
        for read in self._read:
            flat.extend(read())
        return self._layout.pack(*flat)


class Receiver:
    """Unpacks the values of an input recipe."""

    def __init__(self, recipe: Recipe) -> None:
        self._names = recipe.names
        self._layout = recipe.layout()
        self._widths = [6 if kind == "VECTOR6D" else 1 for kind in recipe.types]

    def unpack(self, content: bytes) -> dict[str, Numbers]:
        """Variable → its numbers. Raises struct.error for a wrong length."""
        flat = self._layout.unpack(content)
        values: dict[str, Numbers] = {}
        at = 0
        for name, width in zip(self._names, self._widths, strict=True):
            values[name] = flat[at : at + width]
            at += width
        return values

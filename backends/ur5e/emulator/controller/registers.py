"""The controller's general purpose registers, and what else RTDE clients set."""

from dataclasses import dataclass, field

from .recipes import REGISTERS, Numbers


def _ints() -> list[int]:
    return [0] * REGISTERS


def _doubles() -> list[float]:
    return [0.0] * REGISTERS


@dataclass
class Registers:
    """Inputs are set by clients and read by the program, outputs the other way."""

    int_inputs: list[int] = field(default_factory=_ints)
    double_inputs: list[float] = field(default_factory=_doubles)
    int_outputs: list[int] = field(default_factory=_ints)
    double_outputs: list[float] = field(default_factory=_doubles)
    digital_outputs: int = 0

    def set(self, name: str, numbers: Numbers) -> None:
        """An input register by RTDE's name; other names are not for registers and do nothing here."""
        stem, _, number = name.rpartition("_")
        if stem == "input_int_register":
            self.int_inputs[int(number)] = int(numbers[0])
        elif stem == "input_double_register":
            self.double_inputs[int(number)] = numbers[0]

"""A driver in a process of its own that moves an emulated arm until something happens to it: `ADDRESS`."""

import sys

from emulated_cell import FORCE, LIMITS, PATIENT, TOLERANCE, TOOL, shifted

from skill2real.backends.ur5e.arm import UrArm
from skill2real.backends.ur5e.errors import RobotHalted


def main():
    arm = UrArm.connect(sys.argv[1], LIMITS, TOOL, PATIENT)
    start = arm.state().tool_to_base
    try:
        while True:
            arm.follow([shifted(start, y=-0.2), start], 0.1, FORCE, TOLERANCE)
    except RobotHalted as error:
        print(error.cause, flush=True)


if __name__ == "__main__":
    main()

"""The arm: a driver around ur_rtde that checks before it moves, watches while it moves, and stops for
good."""

from .arm import ArmReading, UrArm
from .limits import ArmLimits, Timing, Tool
from .preflight import Finding, preflight

__all__ = ["ArmLimits", "ArmReading", "Finding", "Timing", "Tool", "UrArm", "preflight"]

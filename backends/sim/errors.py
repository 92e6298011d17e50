"""What can be wrong with the simulator or with what is asked of it; each message says the remedy."""

import difflib

RENDERING_PACKAGES = "libegl1 libgl1 libosmesa6"


class SimError(Exception):
    """Base of everything that this package raises on purpose."""


class SimulatorMissing(SimError):
    """The simulator's Python packages or their assets are not installed, or have the wrong version."""

    def __init__(self, cause: str) -> None:
        super().__init__(
            f"The simulator cannot be loaded ({cause}). Install it with: pip install 'skill2real[sim]'."
        )


class RenderingMissing(SimError):
    """No off-screen rendering: the OpenGL libraries are missing or do not work."""

    def __init__(self, cause: str) -> None:
        super().__init__(
            f"Pictures cannot be rendered off screen ({cause}). "
            f"Install the system packages with: apt-get install {RENDERING_PACKAGES}."
        )


class UnknownSuite(SimError):
    """There is no suite of this name, or its files are not in the distribution."""

    def __init__(self, suite: str, known: list[str]) -> None:
        near = difflib.get_close_matches(suite, known, n=5, cutoff=0.4) or known[:5]
        super().__init__(
            f"There is no suite {suite!r}; the nearest of {len(known)} are {', '.join(near)}. "
            "All: `skill2real suites`."
        )


class UnknownTask(SimError):
    """The suite has no such task, the tasks cannot be joined, or the initial state does not exist."""

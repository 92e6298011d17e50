"""What can go wrong in a run, as sentences for the person who started it."""


class AgentError(Exception):
    """One sentence: what was wrong, what would be right, what to do."""


class ConfigError(AgentError):
    """A run configuration that cannot work."""


class MissingError(AgentError):
    """Something the run needs is not there: a library, a device, a key."""


class RolloutFailed(AgentError):
    """An episode could not be played to its end, for reasons that are not the program's."""


class RunMismatch(AgentError):
    """A run of this name exists with another configuration."""

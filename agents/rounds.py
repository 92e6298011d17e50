"""Names, order and stages of rounds: C1, C2, … for the Cerebellum, then B1, B2, … for the Brain."""

from ..ledger.events import EpisodeStarted, Layer

# In which order a round reflects: each stage stands on what the one before it brought into memory.
STAGES: dict[Layer, tuple[str, ...]] = {
    "cerebellum": ("nouns", "parts", "grasps", "releases", "work"),
    "brain": ("words", "order", "room", "retry"),
}
# A language model reflects on a round as a whole.
WHOLE = ("skills",)
LETTERS: dict[Layer, str] = {"cerebellum": "C", "brain": "B"}


def stages(layer: Layer, language: bool) -> tuple[str, ...]:
    """What a round reflects on, in order. language: whether a language model proposes."""
    return WHOLE if language else STAGES[layer]


def name_of(layer: Layer, number: int) -> str:
    return f"{LETTERS[layer]}{number}"


def layer_of(name: str) -> Layer:
    return "brain" if name.startswith("B") else "cerebellum"


def position(name: str) -> tuple[int, int]:
    """Sorts rounds in the order in which they are run."""
    return (1 if name.startswith("B") else 0, int(name[1:]))


def before(one: EpisodeStarted, other: EpisodeStarted) -> bool:
    """Whether an episode belongs to an earlier batch."""
    return (*position(one.round), one.batch) < (*position(other.round), other.batch)

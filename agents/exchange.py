"""A control: what is said of an episode belongs to another one.

Words and outcome of each episode are those of a training episode of an earlier batch, drawn by a seed: the
same shares of good and bad, and nothing in them about this episode. What is drawn depends on the seed and
on what the ledger holds of earlier batches alone, so a resumed run says the same. In the first batch there
is nothing to draw from, and nothing is said.
"""

from dataclasses import dataclass
from random import Random

from ..ledger import events as ev
from .models.base import EpisodeView
from .rounds import before, position


@dataclass(frozen=True)
class Words:
    """What was found of an episode."""

    episode: str
    started: ev.EpisodeStarted
    findings: tuple[ev.Finding, ...]
    success: bool


class Exchange:
    """Keeps what was truly found of training episodes, and gives it to others."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._known: dict[str, Words] = {}

    def keep(self, words: Words) -> None:
        if words.started.purpose == "train":
            self._known[words.episode] = words

    def draw(self, episode: EpisodeView) -> tuple[tuple[ev.Finding, ...], bool]:
        """Findings for an episode's decisions and an outcome, both of one other episode where it has taken
        these decisions too."""
        rng = Random(f"{self._seed}/{episode.id}")
        pool = sorted(self._earlier(episode.started), key=lambda words: words.episode)
        if not pool:
            return (), False
        donor = rng.choice(pool)
        others = [f for words in pool for f in words.findings]
        found: dict[tuple[int, str], ev.Finding] = {}
        for turn in range(len(episode.turns)):
            for choice in episode.turns[turn].proposed.choices:
                decision = choice["decision"]
                drawn = [f for f in donor.findings if f.decision == decision]
                drawn = drawn or [f for f in others if f.decision == decision]
                if drawn:
                    fitted = _fitted(rng.choice(drawn), episode, turn, choice, rng)
                    found[fitted.clause, fitted.decision] = fitted
        return tuple(found.values()), donor.success

    def _earlier(self, started: ev.EpisodeStarted) -> list[Words]:
        """Training episodes that are all judged when this one is played, whoever was fastest."""
        if started.purpose == "train":
            return [w for w in self._known.values() if before(w.started, started)]
        limit = position(started.round)
        return [w for w in self._known.values() if position(w.started.round) <= limit]


def _fitted(
    drawn: ev.Finding, episode: EpisodeView, turn: int, choice: dict[str, int], rng: Random
) -> ev.Finding:
    """A finding in the numbers of another episode: the chosen one where it was right, else any other."""
    region, part = drawn.region, drawn.part
    if region >= 0:
        regions = len(episode.value("regions") or ())
        region = _other(choice.get("region", -1), regions, drawn.good or drawn.decision == "part", rng)
    if part >= 0:
        parts = len(episode.parts(turn).get(choice.get("region", -1), ()))
        part = _other(choice.get("part", -1), parts, drawn.good, rng)
    return ev.Finding(
        clause=choice["clause"], decision=drawn.decision, good=drawn.good, kind=drawn.kind, region=region,
        part=part, direction=drawn.direction, amount=drawn.amount,
    )  # fmt: skip


def _other(chosen: int, count: int, same: bool, rng: Random) -> int:
    """The chosen number, or any other below `count`; -1 where there is none."""
    if same:
        return chosen
    left = [number for number in range(count) if number != chosen]
    return rng.choice(left) if left else -1

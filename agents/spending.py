"""What language models may cost in a run, and what they have cost so far."""

from dataclasses import dataclass

from ..ledger import events as ev
from .config import RunConfig
from .errors import AgentError


class LimitReached(AgentError):
    """The run stopped where its limit on cost or tokens was; it can be resumed with a higher one."""


@dataclass(frozen=True)
class Limit:
    """0: no limit. cost: by the run's price table."""

    cost: float = 0.0
    tokens: int = 0


NO_LIMIT = Limit()


class Spending:
    """Sums what the ledger says of calls, earlier sessions of the run included."""

    def __init__(self, limit: Limit = NO_LIMIT) -> None:
        self._limit = limit
        self.cost, self.tokens = 0.0, 0

    def hear(self, called: ev.ModelCalled) -> None:
        self.cost += called.cost
        self.tokens += called.input_tokens + called.output_tokens

    @property
    def over(self) -> bool:
        limit = self._limit
        return bool(
            (limit.cost and self.cost >= limit.cost) or (limit.tokens and self.tokens >= limit.tokens)
        )

    def check(self) -> None:
        """Raises LimitReached."""
        if self.over:
            raise LimitReached(
                f"the run has used {self.tokens:,} tokens at a cost of {self.cost:.2f} and stopped at its "
                "limit; go on with --resume and a higher --max-cost or --max-tokens"
            )


def limit_of(config: RunConfig) -> Limit:
    """The limit that a configuration sets."""
    return Limit(config.max_cost, config.max_tokens)

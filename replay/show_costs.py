"""A run's costs as text."""

from rich.console import RenderableType

from .costs import Costs
from .layout import duration, heading, stack, table


def show_costs(costs: Costs) -> RenderableType:
    """A summary, and a line for each role, model and purpose."""
    if not costs.calls:
        return heading(costs.run, "no language model was called")
    head = heading(
        costs.run,
        f"{costs.calls:,} calls, {costs.errors:,} failed",
        f"{costs.tokens:,} tokens",
        f"cost {costs.cost:.4f}",
    )
    each = table(
        ("", ">count", ">cost each", ">seconds of calls each"),
        [
            ("episodes", costs.episodes, *_each(costs.per_episode)),
            ("accepted skills", costs.accepted, *_each(costs.per_skill)),
        ],
    )
    waiting = heading(
        "Waiting for models",
        f"{duration(costs.waited)} of {duration(costs.elapsed)}, {costs.waiting:.0%}",
    )
    rows = [
        (
            one.role,
            one.model,
            one.purpose,
            f"{one.use.calls:,}",
            f"{one.use.errors:,}",
            f"{one.use.input_tokens:,}",
            f"{one.cached_tokens:,}",
            f"{one.use.output_tokens:,}",
            f"{one.latency:.1f}",
            f"{one.use.cost:.4f}",
        )
        for one in costs.roles
    ]
    columns = (
        "role", "model", "for", ">calls", ">errors", ">tokens in", ">cached", ">tokens out", ">median s",
        ">cost",
    )  # fmt: skip
    return stack(head, each, waiting, table(columns, rows))


def _each(pair: tuple[float, float]) -> tuple[str, str]:
    return f"{pair[0]:.4f}", f"{pair[1]:.1f}"

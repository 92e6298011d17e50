"""A pool that plays nothing, for tests of what stands around it."""

import asyncio
from dataclasses import dataclass, field

from skill2real.backends.sim.rollout import Played, Rollout
from skill2real.backends.trace import ProgramResult

PICTURE = b"a picture"


@dataclass
class Rehearsed:
    """Results follow from the rollout, as they do in a deterministic simulator."""

    size: int = 2
    asked: list[Rollout] = field(default_factory=list)
    error: Exception | None = None
    gate: asyncio.Event | None = None

    async def play(self, rollout: Rollout) -> Played:
        self.asked.append(rollout)
        if self.gate is not None:
            await self.gate.wait()
        if self.error is not None:
            raise self.error
        told = f"{rollout.state}/{'/'.join(rollout.sources)}"
        outcome = {"success": True, "settled": True, "progress": 1.0, "record": {"told": told}}
        return Played(
            result=ProgramResult(value=told),
            start_digest=f"start {rollout.state}",
            end_digest=f"end {told}",
            operations=len(rollout.sources),
            seconds=0.0,
            outcome=outcome if rollout.finish else None,
            pictures=(PICTURE,),
        )

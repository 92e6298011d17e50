"""Tasks joined two by two for the Brain's rounds: two things for one target, in one instruction.

A suite of single tasks never asks for two things in the same place, but what a second thing needs can only be
learned where there is one.
"""

from collections.abc import Iterable
from itertools import pairwise

from ..ledger import events as ev
from .grammar import parse


def joined(tasks: Iterable[ev.Task]) -> list[str]:
    """Names ("50+51") of tasks of one scene that put different things to one target in one way, each with the
    next."""
    groups: dict[tuple[str, str, str], list[tuple[str, ev.Task]]] = {}
    for task in tasks:
        clauses = parse(task.instruction)
        if len(task.parts) == 1 and len(clauses) == 1 and clauses[0].target is not None:
            clause, target = clauses[0], clauses[0].target
            group = groups.setdefault((task.scene, clause.relation, target.text()), [])
            group.append((clause.thing.noun, task))
    return [
        f"{one.parts[0]}+{other.parts[0]}"
        for group in groups.values()
        for (noun, one), (next_noun, other) in pairwise(group)
        if noun != next_noun
    ]

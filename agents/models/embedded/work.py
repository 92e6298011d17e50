"""Moves on parts of things: opening, closing, turning."""

from random import Random
from typing import Any

from ....ledger.events import Entry
from ..base import Candidate
from .skills import Rule

WORK = ""


def choose_work(
    verb: str, noun: str, part: dict[str, Any], rules: list[Entry], tried: list[Any] | None, rng: Random
) -> Rule:
    """How to work on a part; `tried` None: by the memory alone."""
    return Rule({"style": "front", "motion": "push", "tilt": 0.0, "length": 0.1, "lateral": 0.0}, "")


def work_candidates(tried: list[Any], rules: list[Entry], instructions: list[str]) -> list[Candidate]:
    return []

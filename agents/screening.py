"""What the Governor checks of a candidate before any trial: right layer, tied to evidence, not a
duplicate."""

import re

from ..ledger import events as ev
from ..ledger.events import Entry, Layer

KINDS: dict[Layer, frozenset[str]] = {
    "cerebellum": frozenset(
        {"skill", "appearance", "part", "grasp", "release", "work", "wipe", "both", "hand over"}
    ),
    "brain": frozenset({"skill", "word", "order", "room", "retry"}),
}
# Contact geometry belongs to the Cerebellum: these operations may not stand in a Brain entry's template.
CONTACT = ("compile_grasp", "compile_place", "set_gripper", "move_until_contact", "offset_pose")


def screen(
    candidate: ev.CandidateProposed, memory: tuple[Entry, ...], frozen: set[Layer], evidence: set[str]
) -> str:
    """Why the candidate cannot be tried, or "" if it can. `evidence`: training episodes with a critique."""
    if candidate.layer in frozen:
        return f"out of layer: the {candidate.layer} is frozen"
    if not candidate.entries:
        return "empty: a candidate adds at least one entry"
    have = {entry.id: entry for entry in memory}
    for gone in candidate.replaces:
        if gone not in have:
            return f"replaces {gone}, which is not in memory"
    for entry in candidate.entries:
        reason = _screen_entry(entry, candidate, have, evidence)
        if reason:
            return reason
    return ""


def _screen_entry(
    entry: Entry, candidate: ev.CandidateProposed, have: dict[str, Entry], evidence: set[str]
) -> str:
    if entry.layer != candidate.layer or entry.kind not in KINDS[entry.layer]:
        return f"out of layer: {entry.id} is of kind {entry.kind}, which the {candidate.layer} does not hold"
    contact = [name for name in CONTACT if re.search(rf"\b{name}\b", entry.template)]
    if entry.layer == "brain" and contact:
        return (
            f"out of layer: {entry.id} uses {', '.join(contact)}; contact geometry belongs to the cerebellum"
        )
    if not entry.provenance.evidence:
        return f"no evidence: {entry.id} names no episode"
    unknown = [episode for episode in entry.provenance.evidence if episode not in evidence]
    if unknown:
        return (
            f"no evidence: {entry.id} names {unknown[0]}, which is not a judged training episode of this run"
        )
    if entry.id in have and entry.id not in candidate.replaces:
        return f"duplicate: {entry.id} is in memory and is not replaced"
    same = [e.id for e in have.values() if e.kind == entry.kind and e.state == entry.state]
    return f"duplicate: {same[0]} says the same" if same else ""

"""Findings as sentences that a person or a language model can use."""

from ..ledger.events import Finding

AMOUNTS = {"near": "by less than a finger's length", "hand": "by about a hand's width", "far": "far"}
SIDES = {
    "left": "the picture's left",
    "right": "the picture's right",
    "up": "the picture's top",
    "down": "the picture's bottom",
}


WHAT = {"which": "the thing you were asked for", "target": "the target that was named"}


def sentences(findings: tuple[Finding, ...], success: bool | None) -> str:
    """The critique's text: first the whole, then what went wrong, clause by clause. success None: unknown."""
    whole = {True: "The goal was reached.", False: "The goal was not reached."}
    text = [whole[success] if success is not None else "Whether the goal was reached was not seen."]
    for finding in findings:
        said = _sentence(finding)
        if said:
            text.append(f"Clause {finding.clause + 1}: {said}")
    return " ".join(text)


def _sentence(f: Finding) -> str:
    if f.decision in WHAT:
        what = WHAT[f.decision]
        if f.good:
            return f"region {f.region} was {what}."
        return (
            f"your region {f.region} was {what}." if f.region >= 0 else f"{what} is not among your regions."
        )
    if f.decision == "part":
        return _about_a_part(f)
    if f.good or f.decision == "room":  # the release's own sentence has said it
        return ""
    if f.direction:
        return f"{f.kind}: it ended too far to {SIDES[f.direction]}, {AMOUNTS[f.amount]}."
    return f"{f.kind or f.decision + ' failed'}."


def _about_a_part(f: Finding) -> str:
    if f.good:
        return f"part {f.part} of region {f.region} was the right one."
    if f.part >= 0:
        return f"part {f.part} of your region {f.region} was the right one."
    if f.kind == "not among your parts":
        return f"the right part of region {f.region} is not among your parts."
    return f"region {f.region} is right, but {f.kind}."

"""Findings as sentences that a person or a language model can use."""

from ..ledger.events import Finding

AMOUNTS = {"near": "by less than a finger's length", "hand": "by about a hand's width", "far": "far"}
SIDES = {
    "left": "the picture's left",
    "right": "the picture's right",
    "up": "the picture's top",
    "down": "the picture's bottom",
}


def sentences(findings: tuple[Finding, ...], success: bool) -> str:
    """The critique's text: first the whole, then what went wrong, part by part."""
    text = ["The goal was reached." if success else "The goal was not reached."]
    for finding in findings:
        said = _sentence(finding)
        if said:
            text.append(f"Part {finding.clause + 1}: {said}")
    return " ".join(text)


def _sentence(f: Finding) -> str:
    if f.decision in ("which", "target"):
        what = "the thing you were asked for" if f.decision == "which" else "the target that was named"
        if f.good:
            return f"region {f.region} was {what}."
        return (
            f"your region {f.region} was {what}." if f.region >= 0 else f"{what} is not among your regions."
        )
    if f.good or f.decision == "room":  # the release's own sentence has said it
        return ""
    if f.direction:
        return f"{f.kind}: it ended too far to {SIDES[f.direction]}, {AMOUNTS[f.amount]}."
    return f"{f.kind or f.decision + ' failed'}."

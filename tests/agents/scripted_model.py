"""A language model by script: it reads the real prompts, and answers as one that can do one task."""

import json
import re
from typing import Any

import numpy as np
from chat_server import Answer, Request

LOOK = """
view = capture()
things = find_regions(view)
shapes = [measure_region(thing) for thing in things]
for number, thing in enumerate(things):
    print(number, "height", round(shapes[number].height, 3), "lab", describe_region(thing).lab)
"""
ACT = """
def put(thing: int, target: int) -> str:
    shape = shapes[thing]
    place = shapes[target]
    set_gripper(0.08)
    grasp = compile_grasp(shape, style="centre")
    if not grasp.ok:
        return "no grasp: " + grasp.reason
    reached = move_to([grasp.start, grasp.pose])
    closed = set_gripper(0.0)
    if not reached.ok or not closed.holding:
        return "nothing held"
    lifted = move_to(offset_pose(grasp.pose, dz=0.25))
    goal = compile_place(Point(place.x, place.y, place.top), shape, grasp, clearance=0.05)
    carried = move_to([offset_pose(goal.pose, dz=0.1), goal.pose])
    if not lifted.ok or not carried.ok:
        return "not carried"
    set_gripper(0.08)
    return "done" if go_home().ok else "stuck"

print(put(%d, %d))
"""
MISTYPED = "view = capture()\nview.widht\n"
CRITIQUE = "The butter lies in the basket; your grasp held from above."


def plays_butter(request: Request, *, mistaken: bool = False) -> Answer:
    """Every role of a run on "pick up the butter and put it in the basket". mistaken: the second program does
    not pass the type check at first."""
    fields = set((request.schema or {}).get("properties", {}))
    if "left" in fields:
        return Answer(json.dumps(_colours(request)))
    if "program" in fields:
        return Answer(json.dumps(_program(request, mistaken)))
    if "candidates" in fields:
        return Answer(json.dumps({"candidates": _candidates(request)}))
    if "findings" in fields:
        found = {
            "clause": 0, "decision": "grasp", "good": True, "kind": "", "region": -1, "direction": "",
            "amount": "",
        }  # fmt: skip
        return Answer(json.dumps({"text": CRITIQUE, "findings": [found]}))
    return Answer(json.dumps({"pass": True, "reason": "it fits"}))


def _colours(request: Request) -> dict[str, str]:
    """What a model that sees says of the picture; one that gets none can only repeat what it is told."""
    pictures = request.pictures()
    if not pictures:
        return {"left": "red", "right": "blue"}
    names = {(255, 0, 0): "red", (0, 0, 255): "blue"}
    at = pictures[0][32, [8, 56]]
    return {side: names[tuple(map(int, colour))] for side, colour in zip(("left", "right"), at, strict=True)}


def _program(request: Request, mistaken: bool) -> dict[str, Any]:
    uses = re.findall(r"### ([\w-]+) \(", request.system)
    answer = {"thought": "", "program": LOOK, "uses": uses, "last": False}
    told = re.findall(
        r"^(\d+) height ([\d.]+) lab \(([-\d.]+), [-\d.]+, ([-\d.]+)\)", request.text, re.MULTILINE
    )
    if not told:
        return answer
    (picture,) = request.pictures()
    assert picture.shape == (1024, 1024, 3)
    assert np.ptp(picture) > 100
    if mistaken and "Refused before anything moved" not in request.text:
        return answer | {"program": MISTYPED, "last": True}
    flat = [(float(b), int(n)) for n, height, _, b in told if float(height) < 0.05]  # the butter is yellow
    bright = max((float(light), int(n)) for n, _, light, _ in told)  # the basket's cloth is white
    return answer | {"program": ACT % (max(flat)[1], bright[1]), "last": True}


def _candidates(request: Request) -> list[dict[str, Any]]:
    """One, from the first episode that it is shown; none once it has proposed it."""
    episodes = re.findall(r"^# Episode (\S+)", request.text, re.MULTILINE)
    if "flat-box" in request.text or not episodes:
        return []
    return [
        {
            "id": "flat-box", "when": "a flat box is to be put into a basket",
            "advice": "Grasp it from above.",
            "program": ACT.partition("print")[0], "reason": "It worked.", "replaces": [],
            "tasks": ["pick up the butter and put it in the basket"], "evidence": episodes[:1],
        }
    ]  # fmt: skip

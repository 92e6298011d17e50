"""Pictures as a language model gets them: enlarged, with a grid in the pixels that operations understand, and
the regions that a program found."""

from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np

from ....ledger import events as ev
from ..base import EpisodeView

SIDE = 1024  # longest side of what is shown, in pixels
GRID = 64  # pixels between grid lines where 512 are shown; in proportion for others
QUALITY = 85  # of JPEG

Image = Any  # uint8 H×W×3, as OpenCV types it


@dataclass(frozen=True)
class Shot:
    """A picture of an episode. name: its handle in the program. blob: where its pixels are kept. regions: by
    handle, their boxes (u0, v0, u1, v1). zoom: the part that the program asked to see enlarged, or None."""

    turn: int
    name: str
    camera: str
    blob: str
    regions: dict[str, tuple[int, int, int, int]]
    zoom: tuple[int, int, int, int] | None


def shots(episode: EpisodeView) -> list[Shot]:
    """All pictures of an episode that were kept, in order."""
    found = []
    for number, turn in enumerate(episode.turns):
        if turn.executed is None:
            continue
        taken = [c for c in turn.executed.calls if c.operation == "capture" and c.result.get("ok")]
        for call, blob in zip(taken, turn.pictures, strict=False):
            name = call.result["id"]
            zoom = call.arguments.get("zoom")
            found.append(
                Shot(
                    number, name, call.result["camera"], blob, _regions(turn.executed, name),
                    _corners(zoom) if zoom else None,
                )
            )  # fmt: skip
    return found


def _regions(executed: ev.ProgramExecuted, view: str) -> dict[str, tuple[int, int, int, int]]:
    """Boxes of the regions that were found in one view, by handle."""
    boxes = {}
    for call in executed.calls:
        seen = call.arguments.get("view")
        if isinstance(seen, dict) and seen.get("id") == view:
            results = call.result if isinstance(call.result, list) else [call.result]
            boxes.update({r["id"]: _corners(r["box"]) for r in results if r.get("ok") and "box" in r})
    return boxes


def _corners(box: dict[str, Any]) -> tuple[int, int, int, int]:
    return box["u0"], box["v0"], box["u1"], box["v1"]


def shown(data: bytes, shot: Shot) -> list[bytes]:
    """The picture, and the enlarged part where one was asked for, as JPEG. Nothing for what is no picture."""
    plain: Image = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)
    if plain is None:
        return []
    height, width = plain.shape[:2]
    parts = [(0, 0, width, height)] + ([shot.zoom] if shot.zoom else [])
    return [_drawn(plain, part, shot) for part in parts]


def _drawn(plain: Image, part: tuple[int, int, int, int], shot: Shot) -> bytes:
    height, width = plain.shape[:2]
    u0, v0, u1, v1 = max(0, part[0]), max(0, part[1]), min(width, part[2]), min(height, part[3])
    piece = plain[v0 : max(v1, v0 + 1), u0 : max(u1, u0 + 1)]
    scale = SIDE / max(piece.shape[:2])
    picture = cv2.resize(piece, None, fx=scale, fy=scale, interpolation=cv2.INTER_CUBIC)
    step = max(4, round(GRID * max(piece.shape[:2]) / 512))
    for u in range(-(-u0 // step) * step, u1, step):
        _line(picture, (u - u0) * scale, None, str(u))
    for v in range(-(-v0 // step) * step, v1, step):
        _line(picture, None, (v - v0) * scale, str(v))
    for name, box in shot.regions.items():
        a, b, c, d = (round((at - origin) * scale) for at, origin in zip(box, (u0, v0, u0, v0), strict=True))
        cv2.rectangle(picture, (a, b), (c, d), (0, 255, 255), 2)
        _label(picture, name.removeprefix("region"), (a + 3, b + 18), (0, 255, 255))
    done, encoded = cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, QUALITY])
    return encoded.tobytes() if done else b""


def _line(picture: Image, u: float | None, v: float | None, label: str) -> None:
    if u is not None:
        overlay = picture[:, round(u) : round(u) + 1]
        overlay[:] = (overlay * 0.6 + 100).astype(np.uint8)
        _label(picture, label, (round(u) + 2, 12), (255, 255, 255))
    if v is not None:
        overlay = picture[round(v) : round(v) + 1]
        overlay[:] = (overlay * 0.6 + 100).astype(np.uint8)
        _label(picture, label, (2, round(v) + 14), (255, 255, 255))


def _label(picture: Image, text: str, at: tuple[int, int], colour: tuple[int, int, int]) -> None:
    cv2.putText(picture, text, at, cv2.FONT_HERSHEY_SIMPLEX, 0.5, (0, 0, 0), 3, cv2.LINE_AA)
    cv2.putText(picture, text, at, cv2.FONT_HERSHEY_SIMPLEX, 0.5, colour, 1, cv2.LINE_AA)

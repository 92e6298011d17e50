"""Parts of one thing: what stands out of its faces, room in it, levels on it, panels that left its body."""

import numpy as np
from scipy.spatial import cKDTree

from ..geometry import Array
from .faces import Bump, find_bumps
from .feature import Feature, Skin, skin, turned
from .leaves import Leaf, find_leaves
from .measuring import Body
from .rooms import Room, find_rooms
from .segmenting import Piece, find_pieces

_BEFORE = 0.07  # as far as a handle stands out of a door
_KNOB = 0.12  # a small thing of at most this extent …
_GAP = 0.015  # … and this near to another one may be that one's knob
_ABOVE = 0.008  # as find_regions sees things by default
_CELL = 0.004
_PARALLEL = 0.95  # cosine between lines of sight that count as one


def find_parts(pieces: list[Piece], body: Body) -> list[Feature]:
    """Parts of the thing that these pieces show, from the lowest to the highest. Where all were seen along
    one direction, none: most of what tells them apart is hidden from it."""
    surface = skin(pieces, body) if _from_sides(pieces) else None
    if surface is None:
        return []
    rooms = find_rooms(surface)
    leaves = find_leaves(surface, rooms)
    found = [_room(surface, body, room) for room in rooms]
    found += [_leaf(surface, body, leaf) for leaf in leaves]
    found += [_bump(one, body, bump, surface) for one in _split(surface, leaves) for bump in find_bumps(one)]
    for knob in _knobs(pieces, body):
        near = skin(knob, body)
        if near is not None:
            more = [_bump(near, body, bump, surface) for bump in find_bumps(near)]
            found += [b for b in more if not any(_same(b, other) for other in found)]
    return sorted(found, key=lambda feature: tuple(np.round(feature.centre[[2, 1, 0]], 3)))


def _from_sides(pieces: list[Piece]) -> bool:
    along = np.array([piece.sight.frame.camera_to_base[:3, 2] for piece in pieces])
    return bool((along @ along.T).min() < _PARALLEL)


def _same(bump: Feature, other: Feature) -> bool:
    return other.kind == "bump" and bool(np.linalg.norm(bump.centre - other.centre) < other.length / 2)


def _knobs(pieces: list[Piece], body: Body) -> list[list[Piece]]:
    """Small things that all but touch this one: all that is seen where each of them stands."""
    tree = cKDTree(body.cloud)
    boxes: list[tuple[Array, Array]] = []
    for piece in pieces:
        for other in find_pieces(piece.sight, _ABOVE):
            points = piece.sight.points[other.mask]
            low, high = points[:, :2].min(axis=0), points[:, :2].max(axis=0)
            if (high - low).max() > _KNOB or (other.mask & piece.mask).any():
                continue
            if other.support > piece.support + _ABOVE:
                continue  # it stands on it
            if np.min(tree.query(points[::3], distance_upper_bound=_GAP)[0]) > _GAP:
                continue
            # of one thing, views may show a half each
            apart = []
            for box in boxes:
                if (box[0] < high).all() and (low < box[1]).all():
                    low, high = np.minimum(low, box[0]), np.maximum(high, box[1])
                else:
                    apart.append(box)
            boxes = apart
            boxes.append((low, high))
    groups = []
    for low, high in boxes:
        group = []
        for sight, support in [(piece.sight, piece.support) for piece in pieces]:
            place, height = sight.points[..., :2], sight.points[..., 2]
            inside = ((place > low - _CELL) & (place < high + _CELL)).all(axis=-1)
            group.append(Piece(sight, sight.seen & inside & (height > support + _ABOVE / 2), support))
        if (high - low).max() < 1.2 * _KNOB:
            groups.append(group)
    return groups


def _split(surface: Skin, leaves: list[Leaf]) -> list[Skin]:
    """The skin without its doors, and each of them in its own frame, with what stands out of it."""
    rest, skins = np.ones(len(surface.points), dtype=bool), []
    for leaf in leaves:
        if leaf.hinge is None:
            continue
        off = (surface.points - leaf.centre) @ leaf.outward
        lying = np.cross(np.array([0.0, 0.0, 1.0]), leaf.outward)
        half = np.abs((leaf.hinge - leaf.centre) @ lying)
        along = np.abs((surface.points - leaf.centre) @ lying)
        mine = (np.abs(off) < _BEFORE) & (along < half + 0.01)
        skins.append(turned(surface, mine, leaf.outward))
        rest &= ~mine
    return [turned(surface, rest, np.array([1.0, 0.0, 0.0])), *skins]


def _bump(surface: Skin, body: Body, bump: Bump, whole: Skin) -> Feature:
    """whole: the skin of the thing that it is told as a part of."""
    outward = surface.to_base(bump.face.frame[2])
    centre = surface.to_base(bump.centre)
    return Feature(
        "bump",
        body,
        surface.to_base(bump.cloud),
        centre,
        outward,
        surface.to_base(bump.axis),
        bump.length,
        bump.width,
        bump.depth,
        *_place(whole, whole.axes @ centre, whole.axes @ outward),
    )


def _room(surface: Skin, body: Body, room: Room) -> Feature:
    rise = room.depth / 2 if room.kind == "hollow" and room.outward[2] > 0.5 else 0.0
    return Feature(
        room.kind,
        body,
        surface.to_base(room.cloud),
        surface.to_base(room.centre),
        surface.to_base(room.outward),
        surface.to_base(room.axis),
        room.length,
        room.width,
        room.depth,
        *_place(surface, room.centre + np.array([0.0, 0.0, rise]), room.outward),
    )


def _leaf(surface: Skin, body: Body, leaf: Leaf) -> Feature:
    return Feature(
        "leaf",
        body,
        surface.to_base(leaf.cloud),
        surface.to_base(leaf.centre),
        surface.to_base(leaf.outward),
        surface.to_base(leaf.axis),
        leaf.length,
        leaf.width,
        leaf.depth,
        *_place(surface, leaf.centre, leaf.outward),
        None if leaf.hinge is None else surface.to_base(leaf.hinge),
    )


def _place(surface: Skin, centre: Array, outward: Array) -> tuple[float, float]:
    """rise and along of a middle (3,) on a face that looks along `outward`, both in the skin's frame."""
    height = max(surface.top - surface.bottom, 1e-3)
    rise = float((centre[2] - surface.bottom) / height)
    if abs(outward[2]) > 0.7:
        right = surface.axes @ np.array([0.0, -1.0, 0.0])  # as seen from the robot's base
    else:
        right = np.cross(-outward, np.array([0.0, 0.0, 1.0]))
    spread = np.quantile(surface.points @ right, (0.02, 0.98))
    along = (float(centre @ right) - spread.mean()) / max(float(np.ptp(spread)) / 2, 1e-3)
    return float(np.clip(rise, 0.0, 1.0)), float(np.clip(along, -1.0, 1.0))

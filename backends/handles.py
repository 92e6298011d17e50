"""Between the contract's values and what the host makes of them: poses and matrices, regions and pieces."""

import math
from dataclasses import dataclass

import numpy as np

from . import geometry
from .api import Box, Part, Plan, Point, Pose, Region, Shape, Support, Vec, failed
from .geometry import Array
from .grasping import Grip, Trouble
from .perception import segmenting
from .perception.feature import Feature
from .perception.measuring import Body
from .perception.segmenting import Piece


@dataclass(frozen=True)
class Grasp:
    """What a Plan carries from compile_grasp to compile_place."""

    grip: Grip
    arm: str


def vec(vector: Array) -> Vec:
    return (float(vector[0]), float(vector[1]), float(vector[2]))


def position(at: Point | Shape | Support | Part) -> Array | None:
    """(3,), None where a number is not finite."""
    place = np.array([at.x, at.y, at.height if isinstance(at, Support) else at.z])
    return place if bool(np.isfinite(place).all()) else None


def to_pose(tool: Array, arm: str) -> Pose:
    """From tool_to_base, 4×4."""
    x, y, z = (float(n) for n in tool[:3, 3])
    return Pose(x=x, y=y, z=z, approach=vec(tool[:3, 2]), closing=vec(tool[:3, 0]), arm=arm)


def proper(pose: Pose) -> bool:
    """Finite, and with a direction to approach along."""
    numbers = (pose.x, pose.y, pose.z, *pose.approach, *pose.closing)
    return all(math.isfinite(n) for n in numbers) and geometry.unit(pose.approach) is not None


def to_matrix(pose: Pose) -> Array:
    """tool_to_base, 4×4, of a proper pose."""
    approach, closing = np.array(pose.approach), np.array(pose.closing)
    return geometry.pose_matrix(np.array([pose.x, pose.y, pose.z]), approach, closing)


def to_region(piece: Piece) -> Region:
    u0, v0, u1, v1 = segmenting.bounds(piece.mask)
    points = piece.sight.points[piece.mask]
    low, high = np.quantile(points[:, :2], (0.02, 0.98), axis=0)
    x, y = (low + high) / 2
    return Region(
        box=Box(u0, v0, u1, v1),
        pixels=int(piece.mask.sum()),
        clipped=segmenting.clipped(piece),
        x=float(x),
        y=float(y),
        top=float(np.quantile(points[:, 2], 0.98)),
        _host=piece,
    )


def to_part(feature: Feature) -> Part:
    x, y, z = (float(n) for n in feature.centre)
    hinge = failed(Point, "not_found")
    if feature.hinge is not None:
        hinge = Point(*vec(feature.hinge), normal=vec(feature.outward))
    return Part(
        kind=feature.kind,
        x=x,
        y=y,
        z=z,
        outward=vec(feature.outward),
        axis=vec(feature.axis),
        length=feature.length,
        width=feature.width,
        depth=feature.depth,
        rise=feature.rise,
        along=feature.along,
        hinge=hinge,
        _host=feature,
    )


def to_shape(body: Body, features: list[Feature]) -> Shape:
    x, y, z = (float(n) for n in body.centre)
    handle = failed(Point, "not_found")
    if body.handle is not None:
        (hx, hy, hz), outward = body.handle
        handle = Point(float(hx), float(hy), float(hz), normal=vec(outward))
    return Shape(
        x=x,
        y=y,
        z=z,
        length=body.rectangle.length,
        width=body.rectangle.width,
        height=body.top - body.bottom,
        top=body.top,
        bottom=body.bottom,
        yaw=body.rectangle.yaw,
        axis=vec(body.axis),
        facing=vec(body.facing),
        radius=body.circle.radius if body.circle else 0.0,
        hollow=body.hollow,
        handle=handle,
        parts=[to_part(feature) for feature in features],
        _host=body,
    )


def to_plan(grip: Grip | Trouble, arm: str) -> Plan:
    if not isinstance(grip, Grip):
        return failed(Plan, grip)
    return Plan(
        start=to_pose(grip.start, arm),
        pose=to_pose(grip.tool, arm),
        width=grip.width,
        opening=grip.opening,
        score=grip.score,
        _host=Grasp(grip, arm),
    )

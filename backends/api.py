"""The public contract: every type and all 18 operations that a program can use, and nothing else.

Units: metres, radians, newtons. Robot base frame: x forward from the base, y to the robot's left, z up.
Pixels: u right, v down, in the picture as shown.
Nothing raises: every result has ok and reason; an operation given a failed result does nothing and passes
the reason on.

This module is the one source of the contract. `STUB` (what programs are type-checked against and what models
read) and `API_HASH` are made from its text by `stub.py`. How to read it:

- A program sees a type's public fields. Fields that begin with an underscore are the host's own: `_host`
  carries pixels, masks or clouds from one operation to the next and never crosses into a program.
- Fields without a default are what a program constructs a value from; a type without such fields is only
  returned.
- The methods of `Operations` are the operations, in the order of `OPERATIONS`.
"""

from collections.abc import Callable
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import Any, Final, Literal, Protocol, TypeVar, get_args

from .stub import documentation, fingerprint, render_stub

Reason = Literal[
    "",
    "bad_argument",
    "not_found",
    "out_of_view",
    "no_depth",
    "too_wide",
    "no_clearance",
    "unreachable",
    "blocked",
    "no_contact",
    "slipped",
    "timeout",
    "stopped",
]
Vec = tuple[float, float, float]


@dataclass(frozen=True)
class Box:
    """Part of a picture: u0 <= u < u1, v0 <= v < v1."""

    u0: int
    v0: int
    u1: int
    v1: int


@dataclass(frozen=True)
class Point:
    """normal: out of the surface it lies on; (0, 0, 1) for a point you made."""

    x: float
    y: float
    z: float
    ok: bool = True
    reason: Reason = ""
    normal: Vec = (0.0, 0.0, 1.0)


@dataclass(frozen=True, kw_only=True)
class Pose:
    """Tool point (between the finger tips), unit vector the fingers point along, unit vector they close
    along, and whose arm."""

    ok: bool = True
    reason: Reason = ""
    x: float = 0.0
    y: float = 0.0
    z: float = 0.0
    approach: Vec = (0.0, 0.0, -1.0)
    closing: Vec = (0.0, 1.0, 0.0)
    arm: str = ""


@dataclass(frozen=True, kw_only=True)
class Robot:
    """State after the operation. done: poses reached. error: distance left to the last. force: largest felt.
    contact: ended by touch. width: opening between the fingers. holding: something is between them."""

    ok: bool = True
    reason: Reason = ""
    pose: Pose = field(default_factory=Pose)
    done: int = 0
    error: float = 0.0
    force: float = 0.0
    contact: bool = False
    width: float = 0.0
    holding: bool = False


@dataclass(frozen=True, kw_only=True)
class Workspace:
    """x, y, z: bounds within which the tool point may move. table: height of the table's surface.
    cameras: names for capture. max_width: largest opening. hand_width: the hand's, along the closing
    direction."""

    ok: bool = True
    reason: Reason = ""
    x: tuple[float, float] = (0.0, 0.0)
    y: tuple[float, float] = (0.0, 0.0)
    z: tuple[float, float] = (0.0, 0.0)
    table: float = 0.0
    cameras: list[str] = field(default_factory=list)
    arms: list[str] = field(default_factory=list)
    max_width: float = 0.0
    hand_width: float = 0.0
    finger_length: float = 0.0


@dataclass(frozen=True, kw_only=True)
class View:
    """A picture with its depth and calibration."""

    ok: bool = True
    reason: Reason = ""
    camera: str = ""
    width: int = 0
    height: int = 0
    _host: Any = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class Region:
    """Pixels of one thing. clipped: it runs out of the picture. x, y, top: middle and highest point of what
    is seen."""

    ok: bool = True
    reason: Reason = ""
    box: Box = Box(0, 0, 0, 0)
    pixels: int = 0
    clipped: bool = False
    x: float = 0.0
    y: float = 0.0
    top: float = 0.0
    _host: Any = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class Look:
    """Colour: median and spread in CIE Lab. hues: shares of pixels that are coloured, in 12 hues from red
    through green and blue; something grey has none."""

    ok: bool = True
    reason: Reason = ""
    lab: Vec = (0.0, 0.0, 0.0)
    spread: Vec = (0.0, 0.0, 0.0)
    hues: list[float] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class Part:
    """bump: stands out of a face (bar, knob) along outward, by depth. hollow: room inside, open towards
    outward; x, y, z: middle of its floor; depth: from opening to floor or back. level: flat top or board;
    depth: free height over it. leaf: panel off the body (door, front of an open drawer), by depth; outward:
    the way it came; hinge: failed where it slides. Else x, y, z: middle. length: along axis, width: across.
    rise: height of its middle, share of the thing's. along: -1 to 1, left to right as seen facing it."""

    ok: bool = True
    reason: Reason = ""
    kind: Literal["bump", "hollow", "level", "leaf"] = "bump"
    x: float = 0.0
    y: float = 0.0
    z: float = 0.0
    outward: Vec = (0.0, 0.0, 1.0)
    axis: Vec = (1.0, 0.0, 0.0)
    length: float = 0.0
    width: float = 0.0
    depth: float = 0.0
    rise: float = 0.0
    along: float = 0.0
    hinge: Point = Point(0.0, 0.0, 0.0, ok=False, reason="not_found")
    _host: Any = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class Shape:
    """x, y: middle (of the round rim if there is one, else of the footprint); z: half way up.
    yaw: direction of the length. axis: direction of the longest extent in space.
    facing: normal of the largest flat face seen. radius: of the round rim, 0 without one.
    hollow: open at the top. handle: part that stands out of the round body.
    parts: as far as the views show them."""

    ok: bool = True
    reason: Reason = ""
    x: float = 0.0
    y: float = 0.0
    z: float = 0.0
    length: float = 0.0
    width: float = 0.0
    height: float = 0.0
    top: float = 0.0
    bottom: float = 0.0
    yaw: float = 0.0
    axis: Vec = (0.0, 0.0, 0.0)
    facing: Vec = (0.0, 0.0, 0.0)
    radius: float = 0.0
    hollow: bool = False
    handle: Point = Point(0.0, 0.0, 0.0, ok=False, reason="not_found")
    parts: list[Part] = field(default_factory=list)
    _host: Any = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class Support:
    """The flat surface filling most of an area. x, y: middle of its largest free circle, of radius free.
    wall: highest point in the area."""

    ok: bool = True
    reason: Reason = ""
    x: float = 0.0
    y: float = 0.0
    height: float = 0.0
    normal: Vec = (0.0, 0.0, 1.0)
    free: float = 0.0
    length: float = 0.0
    width: float = 0.0
    yaw: float = 0.0
    wall: float = 0.0
    _host: Any = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class Plan:
    """pose: where the fingers close or open. start: clear of it, along the approach.
    width: of what is between the fingers. opening: how far they may be open there."""

    ok: bool = True
    reason: Reason = ""
    start: Pose = field(default_factory=Pose)
    pose: Pose = field(default_factory=Pose)
    width: float = 0.0
    opening: float = 0.0
    score: float = 0.0
    _host: Any = field(default=None, repr=False, compare=False)


class Operations(Protocol):
    """What a program calls. Implementations never raise for what a program asks or the world does: they
    return a failed result. An exception is a fault of the host and ends the program."""

    def capture(self, camera: str = "scene", zoom: Box | None = None) -> View:
        """Picture and depth; shown to you when the program ends. zoom: show this part enlarged too."""
        ...

    def read_robot(self, arm: str = "") -> Robot:
        """The arm's state now, without moving."""
        ...

    def describe_workspace(self) -> Workspace:
        """What is fixed about this robot and its table."""
        ...

    def find_regions(self, view: View, within: Box | None = None, above: float = 0.008) -> list[Region]:
        """Separate things that rise above the table by more than `above`, nearest the picture's top first.
        above 0: flat patches on the table that differ from it in colour. Empty: nothing there. A failed view
        gives one failed region."""
        ...

    def segment(self, view: View, where: Box | Point | Region | Shape) -> Region:
        """The thing that fills a box drawn tightly round it; or the thing at a place known from another
        view."""
        ...

    def describe_region(self, region: Region) -> Look:
        """Colour of what is seen of it."""
        ...

    def measure_point(self, view: View, u: int, v: int) -> Point:
        """The point of the surface seen at a pixel."""
        ...

    def measure_region(self, region: Region | list[Region]) -> Shape:
        """Give regions of one thing from several views to measure all the sides they show."""
        ...

    def measure_support(self, view: View, where: Box | Region) -> Support:
        """Where there is room to put something down: on a table, a plate, the floor of something hollow."""
        ...

    def compile_pose(
        self,
        at: Point | Shape | Support | Part,
        approach: Vec = (0.0, 0.0, -1.0),
        closing: Vec | None = None,
        arm: str = "",
    ) -> Pose:
        """closing None: as near as possible to the hand's present one."""
        ...

    def compile_grasp(
        self,
        shape: Shape | Part,
        style: Literal["auto", "centre", "rim", "handle", "bar"] = "auto",
        depth: float = 0.025,
        approach: Vec = (0.0, 0.0, -1.0),
        rank: int = 0,
        arm: str = "",
    ) -> Plan:
        """Checked against all depth seen. depth: how far the tips pass the nearest part.
        bar: across its axis. rank: next best ones."""
        ...

    def compile_place(
        self,
        target: Point | Shape | Support | Part,
        shape: Shape,
        grasp: Plan,
        clearance: float = 0.005,
        yaw: float | None = None,
    ) -> Plan:
        """Held thing's middle over the target, its bottom `clearance` above it.
        yaw: turn its length to this direction."""
        ...

    def compile_view(
        self,
        target: Point | Shape | Support | Region | Part,
        distance: float = 0.3,
        direction: Vec = (0.0, 0.0, -1.0),
        camera: str = "wrist",
    ) -> Pose:
        """Tool pose from which a camera on the hand looks at the target along `direction`."""
        ...

    def offset_pose(
        self,
        pose: Pose,
        dx: float = 0.0,
        dy: float = 0.0,
        dz: float = 0.0,
        frame: Literal["base", "tool"] = "base",
        turn: float = 0.0,
        axis: Vec = (0.0, 0.0, 1.0),
        about: Point | None = None,
    ) -> Pose:
        """Shift, then turn right-handed about an axis through `about` (None: the tool point).
        Tool frame: x closing, z approach."""
        ...

    def move_to(
        self,
        target: Pose | list[Pose],
        speed: float = 0.25,
        force: float = 40.0,
        press: float = 0.0,
        tolerance: float = 0.01,
        also: Pose | None = None,
    ) -> Robot:
        """Straight through the poses. unreachable: found before anything moves.
        blocked: more than `force` met, or not within `tolerance`. press: keep pushing along the approach.
        also: the other arm's pose; both leave and arrive together."""
        ...

    def move_until_contact(
        self, direction: Vec, distance: float, speed: float = 0.05, force: float = 8.0, arm: str = ""
    ) -> Robot:
        """ok: touched something within the distance."""
        ...

    def set_gripper(self, width: float, force: float = 20.0, arm: str = "") -> Robot:
        """Open or close to `width`; closing stops at what is between the fingers."""
        ...

    def go_home(self, arm: str = "") -> Robot:
        """Back to where the arm starts."""
        ...


Result = Point | Pose | Robot | Workspace | View | Region | Look | Part | Shape | Support | Plan
AnyResult = TypeVar("AnyResult", bound=Result)

GROUPS: Final[dict[str, tuple[str, ...]]] = {
    "observe": ("capture", "read_robot", "describe_workspace"),
    "perceive": ("find_regions", "segment", "describe_region"),
    "measure": ("measure_point", "measure_region", "measure_support"),
    "compile": ("compile_pose", "compile_grasp", "compile_place", "compile_view", "offset_pose"),
    "act": ("move_to", "move_until_contact", "set_gripper", "go_home"),
}
OPERATIONS: Final[tuple[str, ...]] = tuple(name for names in GROUPS.values() for name in names)
REASONS: Final[tuple[Reason, ...]] = get_args(Reason)

_SOURCE = Path(__file__).read_text(encoding="utf-8")
STUB: Final[str] = render_stub(_SOURCE, GROUPS)
API_VERSION: Final[str] = "1.1"
API_HASH: Final[str] = fingerprint(STUB)
API_TEXT: Final[str] = documentation(STUB, API_VERSION)


def failed(kind: type[AnyResult], reason: Reason) -> AnyResult:
    """A failed result of this type, its poses failed as well, everything else at its default."""
    if reason == "" or reason not in REASONS:
        raise ValueError(f"{reason!r} is no reason; one of {', '.join(REASONS[1:])}")
    required = {f.name: 0.0 for f in fields(kind) if f.default is MISSING and f.default_factory is MISSING}
    parts = {f.name: failed(Pose, reason) for f in fields(kind) if f.default_factory is Pose}
    make: Callable[..., AnyResult] = kind
    return make(**required, **parts, ok=False, reason=reason)


def public_fields(kind: type[Box] | type[Result]) -> tuple[str, ...]:
    """Names of the fields that a program sees, in the contract's order."""
    return tuple(f.name for f in fields(kind) if not f.name.startswith("_"))

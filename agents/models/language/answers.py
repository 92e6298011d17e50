"""The answers that language models give, as JSON schemas and as typed values."""

import re
from typing import Any, Final, Literal, TypeVar

import msgspec

from ...errors import AgentError

Schema = dict[str, Any]
T = TypeVar("T")


class NotUnderstood(AgentError):
    """An answer that does not fit. The sentence is for the model that gave it."""


class Program(msgspec.Struct, frozen=True):
    """uses: ids of memory entries that it stands on. last: the episode ends when it has run."""

    thought: str
    program: str
    uses: tuple[str, ...] = ()
    last: bool = False


class Skill(msgspec.Struct, frozen=True):
    """A proposed memory entry. tasks: instructions that it should help. evidence: ids of episodes."""

    id: str
    when: str
    advice: str
    reason: str
    program: str = ""
    replaces: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()


class Skills(msgspec.Struct, frozen=True):
    candidates: tuple[Skill, ...]


class Judged(msgspec.Struct, frozen=True):
    """One judgement of a critique; the fields are those of `critique.written`."""

    clause: int
    decision: Literal["which", "target", "part", "grasp", "release", "work", "order", "retry"]
    good: bool
    kind: str = ""
    region: int = -1
    direction: Literal["", "left", "right", "up", "down"] = ""
    amount: Literal["", "near", "hand", "far"] = ""


class Critique(msgspec.Struct, frozen=True):
    text: str
    findings: tuple[Judged, ...] = ()


class Screening(msgspec.Struct, frozen=True, rename={"passed": "pass"}):
    passed: bool
    reason: str


class Colours(msgspec.Struct, frozen=True):
    left: str
    right: str


def _object(**properties: Schema) -> Schema:
    """Every property is required and no other is allowed: what strict modes of vendors ask for."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _list(items: Schema) -> Schema:
    return {"type": "array", "items": items}


_TEXT: Final[Schema] = {"type": "string"}
_FLAG: Final[Schema] = {"type": "boolean"}
_NUMBER: Final[Schema] = {"type": "integer"}


def _one_of(*values: str) -> Schema:
    return {"type": "string", "enum": list(values)}


PROGRAM: Final = _object(thought=_TEXT, program=_TEXT, uses=_list(_TEXT), last=_FLAG)
SKILLS: Final = _object(
    candidates=_list(
        _object(
            id=_TEXT, when=_TEXT, advice=_TEXT, program=_TEXT, reason=_TEXT, replaces=_list(_TEXT),
            tasks=_list(_TEXT), evidence=_list(_TEXT),
        )
    )
)  # fmt: skip
CRITIQUE: Final = _object(
    text=_TEXT,
    findings=_list(
        _object(
            clause=_NUMBER,
            decision=_one_of("which", "target", "part", "grasp", "release", "work", "order", "retry"),
            good=_FLAG, kind=_TEXT, region=_NUMBER,
            direction=_one_of("", "left", "right", "up", "down"), amount=_one_of("", "near", "hand", "far"),
        )
    ),
)  # fmt: skip
COLOURS: Final = _object(left=_TEXT, right=_TEXT)
SCREENING: Final = _object(**{"pass": _FLAG, "reason": _TEXT})

_FENCE: Final = re.compile(r"```[ \t]*(\w*)[ \t]*\n(.*?)(?:```|\Z)", re.DOTALL)


def read_program(text: str) -> Program:
    """A program from an answer; from prose, its last fenced block of Python. Raises NotUnderstood."""
    try:
        answer = _read(text, Program)
    except NotUnderstood:
        blocks = [body for tag, body in _FENCE.findall(text) if tag.lower() in ("", "python", "py")]
        if not blocks or text.lstrip().startswith("{"):
            raise
        answer = Program(thought="", program=blocks[-1])
    if not answer.program.strip():
        raise NotUnderstood("The field program was empty; give the text of a program.")
    return answer


def read_skills(text: str) -> Skills:
    """Raises NotUnderstood."""
    return _read(text, Skills)


def read_critique(text: str) -> Critique:
    """Raises NotUnderstood."""
    answer = _read(text, Critique)
    if not answer.text.strip():
        raise NotUnderstood("The field text was empty; say what went right and wrong.")
    return answer


def read_screening(text: str) -> Screening:
    """Raises NotUnderstood."""
    return _read(text, Screening)


def read_colours(text: str) -> Colours:
    """Raises NotUnderstood."""
    return _read(text, Colours)


def _read(text: str, kind: type[T]) -> T:
    body = text.strip()
    fence = _FENCE.fullmatch(body)
    if fence:
        body = fence.group(2)
    elif not body.startswith("{") and "{" in body and "}" in body:
        body = body[body.index("{") : body.rindex("}") + 1]
    try:
        return msgspec.json.decode(body, type=kind)
    except (msgspec.MsgspecError, UnicodeEncodeError) as error:
        raise NotUnderstood(f"The answer was not JSON of the form that was asked for: {error}.") from None

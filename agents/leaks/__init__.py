"""The leak guard: a critique may not carry ground truth, in any unit, frame, language or spelling.

The world of what may be said is closed. Numbers pass in harmless forms ("region 3", "2 of 5", "the second
try"), or where the Proposer has seen or written them itself; every other number, length, angle and share is
refused, whether or not it is in the record: so rounding, frames and arithmetic hide nothing. Names pass where
the instruction, the interface or the Proposer's programs have them.

A guard of words cannot see what is agreed beforehand: a critique still chooses which of the Proposer's own
regions, lines and numbers it points at, as it must.
"""

from typing import Any

from ..models.base import EpisodeView
from .names import internal_name
from .plain import NotPlain, plain
from .quantities import unseen_number
from .seen import seen

__all__ = ["leak"]


def leak(text: str, record: dict[str, Any], view: EpisodeView | None = None) -> str:
    """Why a critique may not be said, as the end of a sentence that begins with "it"; "" if it may.

    record: the privileged record of its episode. view: what the Proposer saw; without it no number of the
    programs is public, and the instruction is the record's.
    """
    public = seen(view, str(record.get("instruction", "")))
    try:
        said = plain(text)
    except NotPlain as error:
        return str(error)
    return internal_name(said, record, public) or unseen_number(said, public)

"""What servers send, taken as far as it is what it should be."""

import json
from typing import Any

MOST = 10**9  # tokens that one call can have had


def as_dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def as_text(value: Any) -> str:
    """A text, or those of a list of parts."""
    if isinstance(value, list):
        return "".join(as_text(as_dict(part).get("text")) for part in value)
    return value if isinstance(value, str) else ""


def first(value: Any) -> dict[str, Any]:
    """The first of a list of objects, or an empty one."""
    return as_dict(value[0]) if isinstance(value, list) and value else {}


def count(value: Any) -> int:
    """A number of tokens; 0 for what is none."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST else 0


def whole(text: str) -> str:
    """The text as it can be stored: JSON may hold halves of characters, which no file takes."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def own_words(said: str) -> str:
    """What a server says went wrong, out of the JSON that it may have put it in."""
    try:
        error = as_dict(json.loads(said)).get("error", "")
    except (ValueError, RecursionError):
        return said
    return as_text(as_dict(error).get("message")) or as_text(error) or said


def in_words(schema: dict[str, Any]) -> str:
    """What a schema asks for, for a server that knows no schemas."""
    return f"Answer with one JSON object and nothing else. It fits this JSON schema:\n{json.dumps(schema)}"

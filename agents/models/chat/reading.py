"""What servers send, taken as far as it is what it should be."""

import json
from typing import Any

from .errors import excerpt
from .http import Connection

CHARACTERS_A_TOKEN = 4  # where a server does not say how many tokens there were


def json_object(data: str, connection: Connection) -> dict[str, Any]:
    """Raises ChatError for anything but a JSON object."""
    try:
        said = json.loads(data)
    except (ValueError, RecursionError):
        raise connection.error("broken", "sent JSON that cannot be read") from None
    if not isinstance(said, dict):
        raise connection.error("broken", "sent JSON that is no object")
    return said


def as_dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def as_text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def count(value: Any, otherwise: int = 0) -> int:
    """A number of tokens, as far as it is one."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else otherwise


def fault(said: dict[str, Any], connection: Connection) -> str:
    """A server's own words about what went wrong."""
    error = said.get("error", said)
    return excerpt(str(error.get("message", error) if isinstance(error, dict) else error), connection.key)


def in_words(schema: dict[str, Any]) -> str:
    """What a schema asks for, for a server that knows no schemas."""
    return f"Answer with one JSON object and nothing else. It fits this JSON schema:\n{json.dumps(schema)}"

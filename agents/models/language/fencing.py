"""Text that others wrote, set apart: it is data for the model that reads it, never an instruction.

The mark round it depends on the text itself, so that no text can close its own fence.
"""

from hashlib import sha256


def fenced(name: str, text: str) -> str:
    """The text between two lines that it cannot contain."""
    salt = 0
    while True:
        mark = sha256(f"{salt}{name}{text}".encode()).hexdigest()[:8]
        if mark not in text:
            return f"<data {name} {mark}>\n{text}\n</data {mark}>"
        salt += 1
